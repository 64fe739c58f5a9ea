package clock

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestJumpWaitsForChores: a chore that falls due during a jump is done before the jump ends, however slow the disk
// is. Otherwise it would stay undone on a clock that then stands still.
func TestJumpWaitsForChores(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		f := NewFlight()
		clk := NewVirtual(start, f)
		clk.Freeze()
		var done []time.Duration
		chore := NewChore(clk, f, time.Hour, func(func() bool) {
			time.Sleep(5 * time.Second) // wall time
			done = append(done, clk.Now().Sub(start))
		})
		want := []time.Duration{time.Hour, 2 * time.Hour, 72 * time.Hour}
		for i, to := range want {
			must.OK(t, clk.Advance(start.Add(to)))
			if !slices.Equal(done, want[:i+1]) {
				t.Errorf("a jump to %s is over, done at %v, want %v", to, done, want[:i+1])
			}
		}
		chore.Stop()
		must.OK(t, clk.Advance(start.Add(100*time.Hour)))
		if len(done) != len(want) {
			t.Errorf("stopped, and done at %v, want %v", done, want)
		}
	})
}

// TestChoreStops: a chore in progress is told to stop and is waited for.
func TestChoreStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pieces, over := 0, false
		chore := NewChore(Real{}, nil, time.Minute, func(stopped func() bool) {
			for !stopped() {
				pieces++
				time.Sleep(time.Hour) // many of its periods: still only one at a time
			}
			over = true
		})
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		chore.Stop()
		if pieces != 2 || !over {
			t.Errorf("%d pieces, over %t; want 2 of one piece of work, and its end", pieces, over)
		}
	})
}
