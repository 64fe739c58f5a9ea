package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// A real board has no journal in the history. Its actions are counted, and it is judged by what shows without a
// journal: its reports, and what the server says about it.

// twiceMs is how close together two reports of one command on one connection are if the second isn't a resend for want
// of an acknowledgement.
const twiceMs = 1000

// byGuest reports whether the command went to a real board in place of a simulated one.
func (c *command) byGuest() bool { return c.to != nil && c.to.guest }

// unwitnessed reports whether no journal shows what became of a command with this outcome. Commands of real boards are
// counted, and the outcome must be what the board reported.
func (v *View) unwitnessed(t *tally, c *command, outcome vocab.Outcome, result vocab.Result) bool {
	if v.truth(c) {
		return false
	}
	if !c.byGuest() {
		return true
	}
	v.countReal(t, c)
	report := c.soundReport()
	if v.byHand(c) {
		report = c.reported(result)
	}
	if told := c.told(outcome); v.hasReports && (report == nil || v.before(told, report) || report.Result != result) {
		t.bad(told, "%s ended %s, but its real board had not said so", c.id, outcome) // [CMD-1] [CMD-3]
	}
	return true
}

// guestSays judges a real board's reports: one per command, unless the connection was lost before its acknowledgement,
// and never a different one.
func (v *View) guestSays(t *tally, c *command) {
	first := c.soundReport()
	if first == nil || !c.byGuest() || v.byHand(c) {
		return
	}
	for _, e := range c.reports {
		switch {
		case e == first || e.BoardID != first.BoardID:
		case e.Result != first.Result || e.Reason != first.Reason:
			t.bad(e, "%s was reported %s by a real board that had already reported it %s", c.id, outcomeOf(e), outcomeOf(first)) // [CMD-1]
		case e.Epoch == first.Epoch && e.WallNs-first.WallNs < twiceMs*1e6:
			t.bad(e, "%s was reported %s twice on one connection by a real board: it may have acted twice", c.id, outcomeOf(e)) // [CMD-1]
		}
	}
}

// byHand reports whether a scenario spoke for the command's board: it may say anything, so only what the server makes of
// it is judged.
func (v *View) byHand(c *command) bool { return c.byGuest() && v.handAt(c.to.id, c.publishes[0]) }

// countReal counts a command that a real board decides about. One that a scenario speaks for proves nothing.
func (v *View) countReal(t *tally, c *command) {
	if c.byGuest() && !v.byHand(c) {
		t.real++
	}
}

// handAt reports whether a scenario spoke in a board's place at the time of an event.
func (v *View) handAt(id string, at *history.Event) (hand bool) {
	for _, e := range v.hands[id] {
		if v.before(at, e) {
			break
		}
		hand = e.Kind == history.Hand
	}
	return hand
}

// reported is the first report with a result from the board that the command went to.
func (c *command) reported(result vocab.Result) *history.Event {
	return firstOf(c.reports, func(e *history.Event) bool { return e.Result == result && e.BoardID == c.to.id })
}

func outcomeOf(report *history.Event) string {
	if report.Reason != "" {
		return fmt.Sprintf("%s (%s)", report.Result, report.Reason)
	}
	return string(report.Result)
}

// heardAfter reports whether a real board has answered something sent after the command on the same connection: then it
// received the command, too.
func (v *View) heardAfter(c *command) bool {
	if !c.byGuest() || v.byHand(c) {
		return false
	}
	sent, p := c.publishes[0], v.places[c.to.place]
	for _, e := range c.to.applied {
		switch {
		case sooner(e, sent):
		case e.Kind == history.Online:
			return false
		case p != nil && p.committedAfter(v, e.Revision, sent):
			return true
		}
	}
	return slices.ContainsFunc(v.order, func(o *command) bool {
		return o.to == c.to && sooner(sent, o.publishes[0]) && o.publishes[0].Epoch == sent.Epoch && o.soundReport() != nil && o.soundReport().Epoch == sent.Epoch
	})
}

// onsiteOfGuests is the number of on-site attempts that real boards have uploaded.
func (v *View) onsiteOfGuests() (n int) {
	for _, s := range v.seats {
		for _, b := range s.guests {
			n += len(each.If(b.records, func(e *history.Event) bool { return !v.handAt(b.id, e) }))
		}
	}
	return n
}
