package clock

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

func TestAdvanceWalksInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFlight()
		t0 := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		v := NewVirtual(t0, f)
		v.Freeze()
		var got []string
		note := func(s string) func() {
			return func() { got = append(got, fmt.Sprintf("%s@%s", s, v.Now().Sub(t0))) }
		}
		v.AfterFunc(36*time.Hour, note("limit"))
		v.Every(time.Minute, note("tick"))
		v.AfterFunc(3*time.Hour, func() {
			note("hour3")()
			done := f.Begin() // work that outlasts the callback is waited for
			time.AfterFunc(time.Second, func() {
				v.AfterFunc(time.Hour, note("hour4"))
				done()
			})
		})
		v.AfterFunc(3*time.Hour, note("second"))
		v.AfterFunc(5*time.Hour, note("never")).Stop()
		must.OK(t, v.Advance(t0.Add(36*time.Hour)))
		want := []string{"hour3@3h0m0s", "second@3h0m0s", "hour4@4h0m0s", "limit@36h0m0s", "tick@36h0m0s"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("order of what fell due (-want +got):\n%s", d)
		}
		if v.State() != Frozen || !v.Now().Equal(t0.Add(36*time.Hour)) {
			t.Errorf("after the jump: got %s at %s, want %s and %s", v.State(), v.Now(), Frozen, t0.Add(36*time.Hour))
		}
		if err := v.Advance(t0); err != ErrPast {
			t.Errorf("back in time: got %v, want %v", err, ErrPast)
		}
		v.Run()
		time.Sleep(30 * time.Second) // the bubble's time
		if d := v.Now().Sub(t0); d != 36*time.Hour+30*time.Second {
			t.Errorf("running clock stands at %s, want %s", d, 36*time.Hour+30*time.Second)
		}
	})
}

// What housekeeping stops at the end of a jump, or a listener to jumps, doesn't run any more, although it fell due.
func TestStoppedDuringAJump(t *testing.T) {
	t.Parallel()
	t0 := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	v := NewVirtual(t0, nil)
	v.Freeze()
	var ran []string
	timers := map[string]Timer{}
	for _, name := range []string{"first", "second", "third", "fourth"} {
		timers[name] = v.Every(time.Minute, func() {
			ran = append(ran, name)
			timers["second"].Stop()
		})
	}
	v.AfterFunc(2*time.Minute, func() { timers["third"].Stop() })
	v.OnJump(func(_, _ time.Time) { timers["fourth"].Stop() })
	must.OK(t, v.Advance(t0.Add(time.Hour)))
	if d := cmp.Diff([]string{"first"}, ran); d != "" {
		t.Errorf("ran (-want +got):\n%s", d)
	}
}

func TestFlightCountsBothEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFlight()
		f.Sent("a")
		f.Sent("b")
		settled := false
		go func() { f.Settle(); settled = true }()
		synctest.Wait()
		if settled {
			t.Fatal("settled with two messages under way")
		}
		f.Got("a")
		f.Reset("b") // its line was cut
		synctest.Wait()
		if !settled {
			t.Fatal("not settled with nothing under way")
		}
	})
}

func TestEnterWaitsForTheEndOfAJump(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFlight()
		v := NewVirtual(time.Unix(0, 0), f)
		f.Enter(t.Context(), time.Hour) // no jump: returns at once
		done := f.Begin()
		go func() { _ = v.Advance(v.Now().Add(time.Hour)) }()
		synctest.Wait()
		var waited, short time.Duration
		begun := time.Now()
		go func() { f.Enter(t.Context(), time.Minute); waited = time.Since(begun) }()
		go func() { f.Enter(t.Context(), time.Millisecond); short = time.Since(begun) }()
		time.Sleep(time.Second)
		done()
		synctest.Wait()
		if waited != time.Second || short != time.Millisecond {
			t.Errorf("waited %s and %s, want %s and %s", waited, short, time.Second, time.Millisecond)
		}
		f.Enter(t.Context(), time.Hour) // the jump is over
		if time.Since(begun) != time.Second {
			t.Error("held after the jump")
		}
	})
}

// A message that is lost without notice delays one jump, not every one after it.
func TestLostMessagesAreGivenUpOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFlight()
		f.Sent("brd_1")
		start := Mono()
		f.Settle()
		first := Mono() - start
		f.Settle()
		if rest := Mono() - start - first; first != 5*time.Second || rest != 0 {
			t.Errorf("the first wait took %v, the next %v, want 5s and 0s", first, rest)
		}
		if n := f.abandoned(); n != 1 {
			t.Errorf("%d messages were given up, want 1", n)
		}
		f.Got("brd_1") // arrives late: the count doesn't go below zero
		f.Sent("brd_1")
		if _, messages := f.Pending(); messages != 1 {
			t.Errorf("got %d messages under way, want 1", messages)
		}
	})
}

// TestWorkIsNeverGivenUp: a jump waits for work however long nothing happens; messages are given up only after that.
func TestWorkIsNeverGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFlight()
		t0 := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		v := NewVirtual(t0, f)
		v.Freeze()
		var acted time.Duration
		done := f.Begin() // a board that needs 40 s to act
		f.Sent("brd_1")   // ... and a message that nobody receives
		time.AfterFunc(40*time.Second, func() { acted = v.Now().Sub(t0); done() })
		start := Mono()
		must.OK(t, v.Advance(t0.Add(36*time.Hour)))
		if took := Mono() - start; acted != 0 || took != 45*time.Second || f.abandoned() != 1 {
			t.Errorf("acted at %s of domain time, the jump took %s and gave up %d messages; want 0s, 45s and 1", acted, took, f.abandoned())
		}
	})
}

// TestJumpWaitsForWhatIsBeingRun: what fell due before a jump and is still being run when it begins is done at its own time.
func TestJumpWaitsForWhatIsBeingRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), NewFlight())
		due := v.Now().Add(time.Second)
		goOn := make(chan struct{}) // as long as the processor has other things to do
		var acted time.Time
		v.at(due, func() { <-goOn; acted = v.Now() })
		time.Sleep(2 * time.Second)
		go func() { _ = v.Advance(due.Add(36 * time.Hour)) }()
		synctest.Wait()
		close(goOn)
		synctest.Wait()
		if late := acted.Sub(due); late != time.Second || v.State() != Ready {
			t.Errorf("acted %s after it fell due, and the clock is %s; want 1s and %s", late, v.State(), Ready)
		}
	})
}

func TestAtIsExactWhileTimeRuns(t *testing.T) {
	t.Parallel()
	v := NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), nil)
	due := v.Now().Add(time.Hour).Truncate(time.Millisecond)
	var at []time.Time
	for range 100 { // each is set at a different point within a millisecond
		At(v, due, func() { at = append(at, v.Now()) })
	}
	v.Freeze()
	At(v, due.Add(-2*time.Hour), func() { at = append(at, due) }) // in the past: runs at once
	if err := v.Advance(due); err != nil || len(at) != 101 {
		t.Fatalf("got %v, %d of 101 ran by %s, want no error and 101", err, len(at), due)
	}
	for _, a := range at {
		if !a.Equal(due) {
			t.Fatalf("ran at %s, want %s", a, due)
		}
	}
}

// TestFreezeAtAMillisecond: a frozen clock stands at a whole millisecond, so that a jump by a minute is one. While a jump
// walks, it stays where it is.
func TestFreezeAtAMillisecond(t *testing.T) {
	t.Parallel()
	v := NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 123_456_789, time.UTC), nil)
	before := v.Now()
	v.Freeze()
	if now := v.Now(); !now.Equal(now.Truncate(time.Millisecond)) || before.Sub(now) >= time.Millisecond {
		t.Errorf("frozen at %s after %s, want the millisecond that had begun", now, before)
	}
	due := v.Now().Add(time.Hour + 500*time.Microsecond)
	var at time.Time
	v.at(due, func() { v.Freeze(); at = v.Now() })
	if err := v.Advance(due.Add(time.Second)); err != nil || !at.Equal(due) {
		t.Errorf("frozen within a jump at %s, %v; want %s", at, err, due)
	}
}

// For each board in another process, the last connection it ended is kept until it is taken.
func TestTakeEnded(t *testing.T) {
	t.Parallel()
	f := NewFlight()
	f.Join("here", "1")
	for _, end := range [][2]string{{"here", "1"}, {"away", "2"}, {"away", "3"}} {
		f.Ends(end[0], end[1])
	}
	if diff := cmp.Diff(map[string]string{"away": "3"}, f.TakeEnded()); diff != "" {
		t.Error(diff)
	}
	if again := f.TakeEnded(); len(again) != 0 {
		t.Errorf("again: got %v, want nothing", again)
	}
}
