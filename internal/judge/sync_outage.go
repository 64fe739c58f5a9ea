package judge

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// frozenSlackMs is how far a board's own clock may be off at the start of an outage, plus a thousandth of the outage's
// age (drift).
const frozenSlackMs = 1000

// sync3 judges SYNC-3: what a board does on site in an outage reflects no revision committed after the outage began,
// and its revision stays the same throughout.
func sync3(v *View) Verdict {
	t, tried, waiting := &tally{}, 0, 0
	for _, b := range v.sortedBoards() {
		var last *history.Event
		line := lineState{}
		for _, e := range b.onsite {
			line.see(e)
			var pending *history.Event
			switch {
			case e.Kind == history.Online || e.Kind == history.Applied || e.Kind == history.Wiped || e.Kind == history.Attached:
				last = nil
			case onsite(e) && e.OutageAgeMs > 0:
				t.checked++
				pending = v.frozen(t, b, last, e)
				last = e
			case e.Kind == history.Presented && line.downAt != 0: // time stands still at the cut
				if pending = v.waits(b, e); pending != nil {
					t.checked++
				}
			}
			if pending != nil {
				tried++
				if e.At-pending.At >= reachesMs || v.lookedAfter(b, e) {
					waiting++
				}
			}
		}
	}
	return t.verdict(v, "SYNC-3", fmt.Sprintf("%s decisions during outages, each based on what the board knew before", amount.Number(t.checked))).
		triedIf(v.told, tried, "during an outage, nobody tried a door where a pending change would have made a difference to them").
		triedIf(v.told && tried > 0, waiting, "during the outage, doors were tried only in the instant of the change, when no board would have it, and nobody looked after recovery")
}

// reachesMs is how long a change takes to reach a connected board, with time to spare. Sooner nobody has it, outage or not.
const reachesMs = 2000

// lookedAfter reports whether the board came back after a decision, and somebody looked then.
func (v *View) lookedAfter(b *board, e *history.Event) bool {
	back := firstOf(b.conn, func(c *history.Event) bool { return c.Kind == history.Online && sooner(e, c) })
	return back != nil && v.lookedSince(b, back)
}

// onsite reports whether an event is a decision or movement that the board made by itself.
func onsite(e *history.Event) bool {
	return e.Kind == history.Presented || byItself(e)
}

// frozen judges a decision in an outage, and returns the waiting change that would have changed it, nil if none would.
func (v *View) frozen(t *tally, b *board, last, e *history.Event) (waiting *history.Event) {
	if last != nil && last.Revision != e.Revision { // [SYNC-3]
		t.bad(e, "%s went from revision %d to %d in an outage", b.id, last.Revision, e.Revision)
		return nil
	}
	p := v.places[b.place]
	if p == nil {
		return nil
	}
	began := e.At - e.OutageAgeMs + frozenSlackMs + e.OutageAgeMs/1000
	for i := len(p.commits) - 1; i >= 0 && p.commits[i].At > began; i-- {
		if p.commits[i].Revision <= e.Revision { // [SYNC-3]
			t.bad(e, "%s decided by revision %d, which was committed after its outage began", b.id, p.commits[i].Revision)
			return nil
		}
	}
	if e.Kind != history.Presented {
		return nil
	}
	return v.waits(b, e)
}

// waits is the first change that the board can't have and that would have made the decision another one, nil if there is
// none.
func (v *View) waits(b *board, e *history.Event) *history.Event {
	p := v.places[b.place]
	if p == nil {
		return nil
	}
	was, now := p.content.rule(e), *e
	return firstOf(p.commits, func(c *history.Event) bool {
		now.Revision = c.Revision
		return c.Revision > e.Revision && !sooner(e, c) && p.content.rule(&now).allow != was.allow
	})
}
