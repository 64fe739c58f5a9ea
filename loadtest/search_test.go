package loadtest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestStepsHaveTheirOwnKeys: steps at nearly the same rate send new commands, which a server can't answer from memory.
// The rate found is one that was kept.
func TestStepsHaveTheirOwnKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var last time.Time
		f.work = func(int) (int, string) { // keeps up with one command per second, but no more
			f.mu.Lock()
			fast := time.Since(last) < 990*time.Millisecond
			last = time.Now()
			f.mu.Unlock()
			if fast {
				time.Sleep(600 * time.Millisecond)
			}
			return 200, ""
		}
		target, o := bubble(f)
		res, err := Run(t.Context(), target, mustParse(t, "pacer: search\nrate: 1\nto: 2\nduration: 30s\nthresholds: {p99_reported: 500ms}"), o)
		if err != nil || res.Verdict != Pass || res.Highest != 1 || len(res.Search) < 5 {
			t.Errorf("got %v, %s, highest %g of %v; want PASS at 1/s after at least 5 steps", err, res.Verdict, res.Highest, res.Search)
		}
		slices.Sort(f.order)
		if n := len(slices.Compact(f.order)); n != f.requests {
			t.Errorf("%d keys in %d requests, want one each", n, f.requests)
		}
	})
}

// TestSearchEnds: a precision finer than numbers are doesn't keep a search going, wherever the limit lies.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{1, 1.3, 1.999} {
		lo, hi, steps := 1.0, 2.0, 0
		for next := nextRate(lo, hi, hi, 1e-18); next != 0; next = nextRate(lo, hi, 2, 1e-18) {
			if next > limit {
				hi = next
			} else {
				lo = next
			}
			if steps++; steps > 100 {
				t.Errorf("limit %g: still trying rates between %v and %v after 100 steps, want an end", limit, lo, hi)
				break
			}
		}
	}
}

// TestSearchKeepsBreaches: like a guarantee, the contract is kept or broken by the whole search. A lower rate at which it
// is kept, or an interruption, excuses nothing.
func TestSearchKeepsBreaches(t *testing.T) {
	t.Parallel()
	for name, within := range map[string]time.Duration{"to its end": time.Hour, "interrupted": 3500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.docs = someDocs
			f.work = func(n int) (int, string) {
				if n == 15 { // in the second step
					return 504, "noResponse"
				}
				return 200, ""
			}
			target, o := bubble(f)
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			res, err := Run(ctx, target, mustParse(t, "pacer: search\nrate: 10\nto: 20\nduration: 1s\nthresholds: {errors: 0}"), o)
			if !errors.Is(err, ctx.Err()) || res.Highest < 10 || res.Verdict != Fail || res.ExitCode() != 4 || res.Breaches != 1 || res.Validated <= 30 {
				t.Errorf("%s: got %v, %s %q, exit %d, highest %g, %d breaches of %d; want FAIL, 4, at least 10/s and 1 of more than 30", name, err, res.Verdict, res.Reasons, res.ExitCode(), res.Highest, res.Breaches, res.Validated)
			}
		})
	}
}
