package command

import "github.com/doorlab/doorlab/internal/vocab"

// The results of an execution for its callers, its reports and the flight.

func (c *execution) render(r Result) (int, []byte) {
	if c.req.Render == nil {
		return 0, nil
	}
	return c.req.Render(r)
}

// result is the outcome as callers see it. Called with mu held or before run.
func (c *execution) result(outcome vocab.Outcome) Result {
	in := &c.trail.Intent
	r := Result{CommandID: in.CommandID, DoorID: in.DoorID, Command: in.Command, Outcome: outcome, RequestedAt: in.RequestedAt}
	switch outcome {
	case vocab.NoResponse:
		r.TimeoutMs = c.s.cfg.Wait.Milliseconds()
	case vocab.Reported, vocab.Refused:
		r.ReportedAt = c.at
		if c.report != nil {
			r.DeviceCode, r.Standing = c.report.Code, c.report.Standing
		}
	}
	return r
}

// idle ends the flight's work while there is nothing to do but wait: a silent board must not hold up a jump of the
// clock. If a report is there already, it does nothing.
func (c *execution) idle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report == nil {
		c.work()
	}
}

// begin begins the flight's work again. Called with mu held.
func (c *execution) begin() {
	end := c.work
	c.work = c.s.cfg.Flight.Begin()
	end()
}

// release runs what was waiting for the commit.
func (c *execution) release() {
	c.mu.Lock()
	after := c.after
	c.after, c.over = nil, true
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}
