// Package clock is the only place that reads the machine's clock. Domain time (tokens, permits, windows, holds, pulses,
// grace, 36 h, resend, digests) comes from a Clock that is passed down, Real or Virtual; transport deadlines
// (keep-alive, notAfter, the server's wait, back-off) come from Mono and WallAfter.
package clock

import (
	"sync"
	"time"
)

// Clock is domain time. Callbacks run on a goroutine of the clock and must not block for long.
type Clock interface {
	Now() time.Time
	// AfterFunc runs f once, d from now.
	AfterFunc(d time.Duration, f func()) Timer
	// Every runs f once per d. It is for housekeeping, so a jump coalesces the runs into one at its end.
	Every(d time.Duration, f func()) Timer
}

// Timer can be stopped; Stop reports whether it prevented the next run.
type Timer interface{ Stop() bool }

// At runs f once at t. On a virtual clock that is exact: reading Now and waiting for the rest would be late by the time
// in between, and a jump to exactly t would miss it.
func At(c Clock, t time.Time, f func()) Timer {
	if v, ok := c.(*Virtual); ok {
		return v.at(t, f)
	}
	return c.AfterFunc(t.Sub(c.Now()), f)
}

// start has a monotonic reading, which it would lose in most calculations.
var start = time.Now()

// century makes Mono positive in a synctest bubble, too, where it is the year 2000.
const century = 100 * 365 * 24 * time.Hour

// Mono is monotonic wall time. Only differences are meaningful. For transport only.
func Mono() time.Duration { return century + time.Since(start) }

// WallAfter runs f after d of wall time. For transport only.
func WallAfter(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// WallNow is the machine's wall clock as it was at the process's start, plus the monotonic time since: if the machine's clock
// is set meanwhile, two events of a process keep their order and distance. For stamps, socket deadlines and run names.
func WallNow() time.Time { return start.Add(time.Since(start)) }

// Real is domain time that follows the machine's clock.
type Real struct{}

// Now is the machine's time in UTC.
func (Real) Now() time.Time { return time.Now().UTC() }

// AfterFunc implements Clock.
func (Real) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Every implements Clock.
func (Real) Every(d time.Duration, f func()) Timer {
	e := &every{}
	var run func()
	run = func() {
		f()
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.stopped {
			e.t = time.AfterFunc(d, run)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.t = time.AfterFunc(d, run)
	return e
}

type every struct {
	mu      sync.Mutex
	t       *time.Timer
	stopped bool
}

func (e *every) Stop() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := !e.stopped
	e.stopped = true
	e.t.Stop()
	return was
}
