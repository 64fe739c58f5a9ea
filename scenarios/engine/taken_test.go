package engine

import (
	"context"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/loadtest"
)

// TestTaken: load spares the doors of a board that the file has taken over, and the file may still connect as it.
func TestTaken(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.broker = echo(t)
	var spared []string
	load := func(_ context.Context, _ loadtest.Target, _ loadtest.Plan, opt loadtest.Options) (loadtest.Result, error) {
		spared = opt.Spare
		return loadtest.Result{Verdict: loadtest.Pass, SentRate: 1, Sent: 1}, nil
	}
	res, out := play(t, f, `
steps:
  - mqtt: {board: brd_1}
  - load: {rate: 1/s, duration: 1s}
  - mqtt: {board: brd_1}
  - mqtt: {send: x, payload: {n: 1}, await: ack}
    expect: payload.n == 1
`, Options{Loader: load})
	if got := res.Files[0]; got.Status != judge.Pass || !slices.Equal(spared, []string{"dor_1", "dor_2"}) {
		t.Errorf("got %s %q, spared %v; want PASS and the doors of brd_1 spared\n%s", got.Status, got.Reason, spared, out)
	}
}
