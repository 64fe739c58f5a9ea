package judge

import (
	"cmp"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// recordedCalls is how many refused calls of a number are recorded within a minute.
const recordedCalls = 6

// denial is an attempt to enter by link or phone that was refused, and that must be in the records.
type denial struct {
	*call
	door, reason string
	record       *history.Event
}

// refusals are all of them, in the order of their answers.
func (v *View) refusals() (out []*denial) {
	links := v.linksGiven()
	for _, c := range v.calls() {
		d := &denial{call: c}
		place := c.PlaceID
		switch b := v.doors[c.in("doorId")]; {
		case c.Route == linkRoute && c.Method == "POST" && c.Code == "entry_denied" && b != nil:
			d.door, d.reason, place = c.in("doorId"), c.out("rule"), b.place
		case c.Route == linkRoute && c.Method == "POST" && c.Code == "link_invalid" && v.wasRevoked(c, links[c.in("t")]):
			if d.reason, place = string(vocab.LinkInvalid), links[c.in("t")][0].place; b != nil && b.place == place {
				d.door = c.in("doorId") // another place's door is none in the record of a dead link
			}
		case c.rings() && c.ok() && c.out("result") == string(vocab.Denied):
			if d.door, d.reason = c.out("doorId"), c.out("reason"); !v.oneClock() {
				continue
			}
		default:
			continue
		}
		if c.SentNs != 0 && v.knows(v.places[place], c) && !v.dying(c.started(), c.Event) {
			out = append(out, d)
		}
	}
	return out
}

// wasRevoked reports whether a link that was given is dead for certain.
func (v *View) wasRevoked(c *call, given []*claim) bool {
	if len(given) == 0 {
		return false
	}
	dead, _, sure := v.deadLink(c, given)
	return dead && sure
}

// manyCalls reports whether so many refused calls were recorded in the minute before one that its number may have had its
// share. Which of a number's calls came first isn't known, nor all that it made; links are answered 429 instead.
func (v *View) manyCalls(d *denial) bool {
	return len(each.If(v.records, func(e *history.Event) bool {
		return e.Result == vocab.Denied && e.BoardID == "" && e.Method == methodOf[phoneRoute] && e.At >= d.SentAt-60_000-clockMs && e.At <= d.At+clockMs
	})) >= recordedCalls
}

// refused judges the records of refused attempts: each has one, made between request and answer. It returns how many do.
func (v *View) refused(t *tally) (n int) {
	records, all := v.denials(), tellingFirst(v.refusals())
	fits := func(d *denial, e *history.Event) bool { return !v.before(e, d.started()) && !v.before(d.Event, e) }
	taken := map[*history.Event]bool{}
	for _, d := range all {
		i := slices.IndexFunc(records.of(d), func(e *history.Event) bool { return !taken[e] && fits(d, e) })
		if i < 0 && d.rings() && v.manyCalls(d) {
			continue
		}
		t.checked++
		if i < 0 { // [ENT-4]
			t.bad(d.Event, "%s %s was denied for %s, but has no record", d.Method, d.Route, cmp.Or(d.reason, "a reason that nobody was told"))
			continue
		}
		n++
		d.record = records.of(d)[i]
		taken[d.record] = true
	}
	if !v.oneClock() { // others may have tried at the same time
		return n
	}
	for _, d := range all {
		again := func(e *history.Event) bool {
			return d.record != nil && !taken[e] && fits(d, e) && e.Actor == d.record.Actor && e.RecordID != d.record.RecordID
		}
		if i := slices.IndexFunc(records.of(d), again); i >= 0 { // [ENT-4]
			t.bad(records.of(d)[i], "%s %s was denied once, but has a second record", d.Method, d.Route)
		}
	}
	return n
}

// invented judges the records of a board's uploads that nobody made at its reader.
func (v *View) invented(t *tally, b *board) {
	if !b.truth || v.begun != nil || len(v.hands[b.id]) > 0 || v.seats[b.id] != nil {
		return
	}
	made := each.Set(b.presented, func(e *history.Event) int64 { return e.RecordSeq })
	for _, e := range b.records {
		if !made[e.RecordSeq] {
			t.breaks(e, "record %d of %s says %s, but nobody was at its reader then", e.RecordSeq, b.id, said(e)) // [ENT-4]
		}
	}
}
