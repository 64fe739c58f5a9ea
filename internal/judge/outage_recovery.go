package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// off4 judges OFF-4: a board that came back ends up equal to the server, and each record it made in an outage arrived
// once. A Presented and a RecordIn with the same (BoardID, RecordSeq) belong together.
func off4(v *View) Verdict {
	t := &tally{}
	boards, records, missed := 0, 0, 0
	var back []Occasion // of those, at which somebody looked afterwards
	for _, b := range v.sortedBoards() {
		if !b.recovered() || b.told {
			continue
		}
		if v.converged(t, b) {
			boards++
		}
		came, lacked := v.uploaded(t, b, true), v.missed(b)
		records, missed = records+came, missed+lacked
		if came+lacked > 0 {
			back = append(back, v.returns(b)...)
		}
	}
	return t.plus(v.driven().of("OFF-4")).verdict(v, "OFF-4", fmt.Sprintf("%s boards in sync with the server, %s buffered records arrived exactly once", amount.Number(boards), amount.Number(records))).
		triedIf(v.told, records+missed, "no board had missed or recorded anything during an outage").
		triedIf(v.told && records+missed > 0, len(back), "nobody looked at a board once it was back").
		showsIf(v.told, sight{missed, "a change that a board missed"}, sight{records, "records from an outage"}).
		at(v, back)
}

// returns are the occasions on which a board came back and somebody looked at it afterwards.
func (v *View) returns(b *board) (out []Occasion) {
	connected := false
	for _, e := range b.conn {
		if e.Kind != history.Online {
			continue
		}
		if again := connected || e.OutageAgeMs != 0 && e.Revision > 0; again && v.lookedSince(b, e) { // see recovered
			out = append(out, v.since(e, forever))
		}
		connected = true
	}
	return out
}

// missed is how often a board came back to a server that had changed something meanwhile.
func (v *View) missed(b *board) int {
	p := v.places[b.place]
	return len(each.If(b.conn, func(e *history.Event) bool {
		return e.Kind == history.Online && e.Revision > 0 && p != nil &&
			slices.ContainsFunc(p.commits, func(c *history.Event) bool { return c.Revision > e.Revision && sooner(c, e) })
	}))
}

// recovered reports whether the board was away and came back.
func (b *board) recovered() bool {
	hellos := each.If(b.conn, func(e *history.Event) bool { return e.Kind == history.Online })
	return len(hellos) > 1 || len(hellos) == 1 && hellos[0].OutageAgeMs != 0 && hellos[0].Revision > 0 // a first hello isn't a return
}

// converged judges a board that is connected at the end of the history, and reports whether it equals the server. It
// doesn't judge a board whose time isn't up.
func (v *View) converged(t *tally, b *board) bool {
	p, spans := v.places[b.place], b.spans()
	if p == nil || len(p.commits) == 0 || len(spans) == 0 || spans[len(spans)-1].to != never {
		return false
	}
	final, last := p.commits[len(p.commits)-1], spans[len(spans)-1]
	steps, wrong := b.steps(p)
	if wrong != nil {
		t.breaks(wrong, "%s ends at revision %d with digest %s, but the server has %s", b.id, wrong.Revision, wrong.Digest, p.digests[wrong.Revision]) // [OFF-4]
		return false
	}
	if len(steps) > 0 && b.has(p) >= final.Revision {
		t.checked++
		return true
	}
	if connected := v.end - max(last.from, final.At); connected > FreshMs {
		t.breaks(last.online, "%s never got to revision %d, although it was connected for %s", b.id, final.Revision, secs(connected)) // [OFF-4]
	}
	return false
}

// uploaded judges the records that a board made, in an outage or while connected. A missing record is lost if a later
// one has arrived (they arrive in order) or the board has been connected for 300 s.
func (v *View) uploaded(t *tally, b *board, inOutage bool) int {
	arrived := map[int64][]*history.Event{}
	top := int64(0)
	for _, e := range b.records {
		arrived[e.RecordSeq] = distinct(append(arrived[e.RecordSeq], e))
		top = max(top, e.RecordSeq)
	}
	n, due, away := 0, b.due(), b.away()
	for _, e := range b.presented {
		if e.RecordSeq == 0 || (e.OutageAgeMs != 0 || away[e]) != inOutage {
			continue
		}
		got := arrived[e.RecordSeq]
		switch {
		case len(got) > 1:
			t.breaks(got[1], "record %d of %s arrived %d times", e.RecordSeq, b.id, len(got)) // [OFF-4]
		case len(got) == 1:
			t.checked++
			n++
			r := got[0]
			if r.Result != "" && (r.Result != e.Result || r.Reason != e.Reason && e.Result == vocab.Denied) {
				t.bad(r, "record %d of %s says %s, the board %s", e.RecordSeq, b.id, said(r), said(e))
			}
			if r.Text != "" && e.Text != "" && r.Text != e.Text || r.DoorID != "" && r.DoorID != e.DoorID {
				t.bad(r, "record %d of %s shows %s at %s, but it was %s at %s", e.RecordSeq, b.id, r.Text, r.DoorID, e.Text, e.DoorID) // [ENT-4] [OFF-4]
			}
		case b.dropped[e.RecordSeq] || v.lost(b, e, due) || strange(e):
		case e.RecordSeq < top || due(e, v.end):
			t.breaks(e, "record %d of %s never arrived", e.RecordSeq, b.id) // [OFF-4]
		}
	}
	return n
}

// away are the presentations while the board's line was down: at the very moment of the cut the
// outage has no age yet.
func (b *board) away() map[*history.Event]bool {
	out, line := map[*history.Event]bool{}, lineState{}
	for _, e := range b.onsite {
		line.see(e)
		if e.Kind == history.Presented && line.downAt != 0 {
			out[e] = true
		}
	}
	return out
}

// lost reports whether the flash was wiped with the record of a presentation in it: the record was neither due by then nor
// overtaken by a later one.
func (v *View) lost(b *board, e *history.Event, due func(*history.Event, int64) bool) bool {
	wiped := firstOf(b.wiped, func(w *history.Event) bool { return sooner(e, w) })
	if wiped == nil {
		return false
	}
	lossy := false // on such a line the record may not have got through, connected or not
	for _, l := range b.conn {
		switch {
		case l.Kind != history.Line || !sooner(l, wiped):
		case l.Op == "lossy":
			lossy = true
		case l.Op == "up" && sooner(l, e):
			lossy = false
		}
	}
	return (lossy || !due(e, wiped.At)) && !slices.ContainsFunc(b.records, func(r *history.Event) bool { return r.RecordSeq > e.RecordSeq && v.before(r, wiped) })
}

// A server drops records from more than an hour ahead, or from 30 days before the board's last contact.
const (
	aheadMs  = 3600 * 1000
	behindMs = 30 * 24 * 3600 * 1000
)

// strange reports whether a presentation has a time, by the board's own clock, with which the server may drop its record.
func strange(e *history.Event) bool {
	return e.BoardAt != 0 && (e.BoardAt-e.At > aheadMs || e.At-e.BoardAt > behindMs)
}

// due reports whether, from a presentation until some time, the board was connected long enough to have uploaded it.
func (b *board) due() func(e *history.Event, by int64) bool {
	spans := b.spans()
	return func(e *history.Event, by int64) bool {
		for i := len(spans) - 1; i >= 0 && spans[i].to > e.At; i-- {
			if min(spans[i].to, by)-max(spans[i].from, e.At) > FreshMs {
				return true
			}
		}
		return false
	}
}

// distinct drops records that were uploaded again under their own id.
func distinct(events []*history.Event) []*history.Event {
	last := events[len(events)-1]
	for _, e := range events[:len(events)-1] {
		if last.RecordID != "" && e.RecordID == last.RecordID {
			return events[:len(events)-1]
		}
	}
	return events
}
