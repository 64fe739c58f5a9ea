package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
)

// TestMergeKeepsDoubts: what made a part's figures worth nothing counts in the merge even where a broken limit, which
// the other parts make up for, had turned the part into a FAIL.
func TestMergeKeepsDoubts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parts := func(work func(n int) (int, string), within time.Duration, plan string) (out []Result) {
			for i, within := range []time.Duration{time.Hour, within} {
				f := newFake()
				if i == 1 {
					f.work = work
				}
				target, o := bubble(f)
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				res, err := Run(ctx, target, mustParse(t, plan), o)
				if err != nil && ctx.Err() == nil {
					t.Fatal(err)
				}
				if i > 0 {
					res.Started = out[0].Started // as if they had run at the same time
				}
				out = append(out, res)
			}
			return out
		}
		some := func(n int) (int, string) {
			if n%50 == 7 {
				return 429, "too_many_in_flight"
			}
			return 200, ""
		}
		none := func(int) (int, string) { time.Sleep(time.Minute); return 200, "" }
		for name, c := range map[string]struct {
			parts []Result
			want  string
		}{
			"interrupted": {parts(some, 3*time.Second, "rate: 100\nduration: 5s\nthresholds: {errors: 1.5%}"), "part 2: interrupted after 30"},
			"silent":      {parts(none, time.Hour, "rate: 10\nduration: 2s\ntimeout: 1s\nthresholds: {errors: 60%}"), "part 2: none of the 20 requests was answered"},
		} {
			if p := c.parts[1]; c.parts[0].Verdict != Pass || p.Verdict != Fail {
				t.Fatalf("%s: the parts are %s and %s %q, want PASS and FAIL", name, c.parts[0].Verdict, p.Verdict, p.Reasons)
			}
			if m := merge(c.parts, nil); m.Verdict != Invalid || m.ExitCode() != 6 || !strings.Contains(strings.Join(m.Reasons, "\n"), c.want) {
				t.Errorf("%s: merged %s, exit %d, %q; want INVALID, 6, %q", name, m.Verdict, m.ExitCode(), m.Reasons, c.want)
			}
		}
	})
}

// TestInterruptedIsNotFailed: the requests that an interruption cancels are no errors of the system, in the whole, in
// its stage, and in a merge; those that failed before are.
func TestInterruptedIsNotFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan, want string
		work       func(n int) (int, string)
	}{
		"a slow system": {"rate: 10\nduration: 1h\nthresholds: {errors: 0, error_max: 0}", Invalid, func(int) (int, string) { time.Sleep(10 * time.Second); return 200, "" }},
		"in a stage": {"pacer: stages\nstages: [{rate: 10, duration: 1s}, {name: long, rate: 10, duration: 1h, thresholds: {errors: 0}}]", Invalid,
			func(int) (int, string) { time.Sleep(10 * time.Second); return 200, "" }},
		"a broken one": {"rate: 10\nduration: 1h\nthresholds: {errors: 0}", Fail, func(n int) (int, string) {
			if n > 0 {
				time.Sleep(10 * time.Second)
			}
			return 429, "too_many_in_flight"
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.work = c.work
			target, o := bubble(f)
			o.OutDir = t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
			defer cancel()
			res, err := Run(ctx, target, mustParse(t, c.plan), o)
			if !errors.Is(err, context.DeadlineExceeded) || res.Verdict != c.want || res.Errors["interrupted"] < 50 {
				t.Errorf("%s: got %v, %s %q, errors %v; want %v, %s and 50 or more interrupted", name, err, res.Verdict, res.Reasons, res.Errors, context.DeadlineExceeded, c.want)
			}
			read := must.Get(ReadResult(o.OutDir))(t)
			if m := merge([]Result{read}, nil); m.Verdict != c.want {
				t.Errorf("%s: merged %s %q, want %s", name, m.Verdict, m.Reasons, c.want)
			}
		})
	}
}

// TestInterruptedForItsToken: a hit that an interruption cancels while it waits for a token counts as interrupted; one that is
// cancelled otherwise is an error.
func TestInterruptedForItsToken(t *testing.T) {
	t.Parallel()
	for want, stop := range map[string]func(run, hit context.CancelFunc){
		interrupted: func(run, _ context.CancelFunc) { run() },
		"no token":  func(_, hit context.CancelFunc) { hit() },
	} {
		s := testSource(mustParse(t, "rate: 1\nduration: 1s"), 1)
		h := s.make()
		s.flying.Store(h.n, h)
		run, endRun := context.WithCancel(t.Context())
		defer endRun()
		hit, endHit := context.WithCancel(t.Context())
		defer endHit()
		h.door.place.token = &client.Token{Now: time.Now, Ask: func(ctx context.Context) (client.Exchanged, error) {
			stop(endRun, endHit)
			<-ctx.Done()
			return client.Exchanged{}, fmt.Errorf("token of plc_1: %w", ctx.Err())
		}}
		req := must.Get(http.NewRequestWithContext(hit, h.method, h.text, nil))(t)
		req.Header.Set(hitHeader, "0")
		_, err := (&wire{source: s, ctx: run}).RoundTrip(req)
		if err == nil {
			t.Fatal("a hit without a token was sent")
		}
		if got, _ := cause(err.Error()); got != want {
			t.Errorf("%v counts as %q, want %q", err, got, want)
		}
	}
}
