package explore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// TestProgress: a line now and then says how far it is, what was found and how long it takes yet.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		n := 0
		sum, err := Run(t.Context(), Config{Seed: 1, For: 40 * time.Second, Length: 2, Parallel: 1, Most: 2, Screen: live.Screen{W: &b},
			Play: func(ctx context.Context, _ *engine.File, _ bool) (engine.Result, error) {
				select {
				case <-time.After(2100 * time.Millisecond):
				case <-ctx.Done():
					return engine.Result{}, ctx.Err()
				}
				if n++; n == 4 { // once, and not again
					return engine.Result{Files: []engine.FileResult{{Status: judge.Fail, Reason: "too slow"}}}, nil
				}
				return engine.Result{}, nil
			}})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for _, want := range []string{
			"  15.0 s  6 sequences, 24 per minute, ", "1 flaky, 25 s left\n", "  30.0 s  13 sequences, 26 per minute, ", ", 10 s left\n",
			"sequence 3: FAIL: too slow\n", "sequence 3 passes with the usual limits: not counted\n",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("progress is\n%swant a line with %q", b.String(), want)
			}
		}
		if sum.Flaky != 1 {
			t.Errorf("%d flaky, want 1", sum.Flaky)
		}
	})
}
