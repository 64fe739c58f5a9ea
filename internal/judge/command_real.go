package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Of a real board there is no journal. What it did is counted, and it is held to
// what shows without one: its reports, and what the server says of it.

// TwiceMs is how close two reports of one command on one connection lie when the
// second one is not sent again for want of an acknowledgement.
const TwiceMs = 1000

// byGuest: the command went to a real board in the place of a simulated one.
func (c *command) byGuest() bool { return c.to != nil && c.to.guest }

// unwitnessed: no journal tells what came of a command with this outcome. Those of
// real boards are counted, and the outcome must be what the board had said.
func (v *View) unwitnessed(t *tally, c *command, outcome vocab.Outcome, result vocab.Result) bool {
	if v.truth(c) {
		return false
	}
	if !c.byGuest() {
		return true
	}
	t.real++
	if told, report := c.told(outcome), c.soundReport(); v.hasReports && (report == nil || v.before(told, report) || report.Result != result) {
		t.bad(told, "%s ended %s, but its board, a real one, had not said so", c.id, outcome) // [CMD-1] [CMD-3]
	}
	return true
}

// guestSays judges the reports of a real board: one for a command, unless the
// connection was lost before it was acknowledged, and never another one.
func (v *View) guestSays(t *tally, c *command) {
	first := c.soundReport()
	if first == nil || !c.byGuest() {
		return
	}
	for _, e := range c.reports {
		switch {
		case e == first || e.BoardID != first.BoardID:
		case e.Result != first.Result || e.Reason != first.Reason:
			t.bad(e, "%s was reported %s by a real board that had reported it %s", c.id, outcomeOf(e), outcomeOf(first)) // [CMD-1]
		case e.Epoch == first.Epoch && e.WallNs-first.WallNs < TwiceMs*1e6:
			t.bad(e, "%s was reported %s twice on one connection by a real board: it may have acted twice", c.id, outcomeOf(e)) // [CMD-1]
		}
	}
}

func outcomeOf(report *history.Event) string {
	if report.Reason != "" {
		return fmt.Sprintf("%s (%s)", report.Result, report.Reason)
	}
	return string(report.Result)
}

// heardAfter: a real board has answered something that was sent to it after the
// command, on the same connection. It had the command then, too.
func (v *View) heardAfter(c *command) bool {
	if !c.byGuest() {
		return false
	}
	sent, p := c.publishes[0], v.places[c.to.place]
	for _, e := range c.to.applied {
		switch {
		case sooner(e, sent):
		case e.Kind == history.Online:
			return false
		case p != nil && p.committedAfter(e.Revision, sent):
			return true
		}
	}
	for _, o := range v.order {
		if o.to == c.to && sooner(sent, o.publishes[0]) && o.publishes[0].Epoch == sent.Epoch && o.soundReport() != nil && o.soundReport().Epoch == sent.Epoch {
			return true
		}
	}
	return false
}

// committedAfter reports whether a revision was committed after an event.
func (p *place) committedAfter(revision int64, e *history.Event) bool {
	return slices.ContainsFunc(p.commits, func(c *history.Event) bool { return c.Revision == revision && sooner(e, c) })
}

// onsiteOfGuests is how many on-site attempts real boards have uploaded.
func (v *View) onsiteOfGuests() (n int) {
	for _, s := range v.seats {
		for _, b := range s.guests {
			n += len(b.records)
		}
	}
	return n
}
