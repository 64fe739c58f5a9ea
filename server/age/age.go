// Package age says how old things are, and which dates have certainly passed, whatever the machine's clock claims. A
// clock that starts in 1970 and is set later, or is set years ahead and back, must not make anything old too early.
// Idempotency keys, retention, and dropping ended grants from the boards' content depend on it; server/store saves its
// State.
//
// There are two rules. What the server itself wrote ages by running time: time that really passed while the server ran.
// It never goes back and never leaps, and it stands still while the server is down or the machine sleeps. A date that
// others gave (the end of a grant) has passed once the machine's clock says so and is credible: it must agree with
// running time, or have contradicted it without a break for Patience.
package age

import (
	"cmp"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Patience is how long, in running time, the machine's clock must have been ahead before it is believed. Slack is how
// far it may be off without raising doubt.
const (
	Patience = 7 * 24 * time.Hour
	slack    = time.Hour
)

const day = 24 * time.Hour

// State survives restarts; its zero value is the state of new data. Times are in milliseconds, as stored.
type State struct {
	Ran   int64 `json:"ran"`             // running time
	Lead  int64 `json:"lead"`            // by how much the believed date is ahead of it
	Doubt int64 `json:"doubt,omitempty"` // by how much the machine's clock contradicts the believed date, at least; 0 = it doesn't
	Since int64 `json:"since,omitempty"` // running time at which Doubt began
}

// Clock is safe for concurrent use. Virtual time leaps only on request, so on a virtual clock both rules simply follow
// that clock.
type Clock struct {
	clk      clock.Clock
	patience time.Duration
	virtual  *clock.Virtual // nil on a machine's clock
	from     time.Time      // running time at the start
	at       time.Duration  // Mono at from

	mu    sync.Mutex
	lead  time.Duration
	doubt time.Duration
	since time.Time
}

// New continues from a saved state. least is the newest known time stamped with Ran (zero if there is none); patience 0
// means Patience.
func New(clk clock.Clock, saved State, least time.Time, patience time.Duration) *Clock {
	c := &Clock{clk: clk, patience: patience, at: clock.Mono()}
	c.virtual, _ = clk.(*clock.Virtual)
	c.patience = cmp.Or(c.patience, Patience)
	now := clk.Now()
	switch {
	case saved != State{}:
		c.from = time.UnixMilli(saved.Ran).UTC()
		c.lead, c.doubt, c.since = ms(saved.Lead), ms(saved.Doubt), time.UnixMilli(saved.Since).UTC()
		if least.After(c.from) { // since it was saved
			c.from = least
		}
	case !least.IsZero():
		c.from, c.lead = least, now.Sub(least)
	default:
		c.from = now
	}
	return c
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Ran is running time. The server stamps what it writes with it, and compares the stamps with it to tell what is old.
func (c *Clock) Ran() time.Time {
	if c.virtual != nil {
		return c.virtual.Now().Truncate(time.Millisecond)
	}
	return c.from.Add(clock.Mono() - c.at).Truncate(time.Millisecond)
}

// Day numbers the days of running time, so that a stamp fits into two bytes.
func Day(ran time.Time) int64 { return int64(ran.Sub(time.Unix(0, 0)) / day) }

// Come is the latest date that has certainly passed. It is never later than the machine's clock, nor than what is
// believed of that clock. When a clock that was ahead is set right, this takes effect at once.
func (c *Clock) Come() time.Time {
	now := c.clk.Now().Truncate(time.Millisecond)
	if c.virtual != nil {
		return now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if believed := c.believed(); believed.Before(now) {
		return believed
	}
	return now
}

// Passed is the running time at which a date that has come passed, as far as is known. On a virtual clock it is the date
// itself, however far the jump over it went; a machine's clock may only have claimed the date, so it is now.
func (c *Clock) Passed(date time.Time) time.Time {
	if ran := c.Ran(); c.virtual == nil || date.After(ran) {
		return ran
	}
	return date
}

func (c *Clock) believed() time.Time { return c.Ran().Add(c.lead) }

// Tick compares the machine's clock with what is believed and returns the state to save. Call it about once an hour.
func (c *Clock) Tick() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	ran := c.Ran()
	// Not Sub: the monotonic reading in the clock's time would hide a step.
	off := ms(c.clk.Now().UnixMilli() - c.believed().UnixMilli())
	switch {
	case c.virtual != nil:
		c.lead, c.doubt, c.since = 0, 0, time.Time{}
	case off.Abs() <= slack:
		c.lead, c.doubt, c.since = c.lead+off, 0, time.Time{}
	case c.doubt == 0 || (c.doubt < 0) != (off < 0):
		c.doubt, c.since = off, ran
	default:
		if off.Abs() < c.doubt.Abs() {
			c.doubt = off
		}
		if ran.Sub(c.since) >= c.patience { // all of it but what came in between, as the nights of a machine that is switched off
			c.lead, c.doubt, c.since = c.lead+c.doubt, 0, time.Time{}
		}
	}
	s := State{Ran: ran.UnixMilli(), Lead: c.lead.Milliseconds(), Doubt: c.doubt.Milliseconds()}
	if c.doubt != 0 {
		s.Since = c.since.UnixMilli()
	}
	return s
}
