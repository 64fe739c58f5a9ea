package judge

import (
	"slices"

	"github.com/doorlab/doorlab/internal/history"
)

// journals judges what the lines of ground truth say about themselves: they are numbered without a gap, a reboot raises
// the boot, what moved is the door's channel, the revision is one that the board has, and the outage age is that of its
// line, as is a hello's. A line without a command belongs to the clause of its cause.
func (v *View) journals(b book) {
	for _, x := range v.sortedBoards() {
		if x.truth {
			found := slices.ContainsFunc(x.onsite, func(e *history.Event) bool { return e.Kind == history.Begun }) // else the run met it later
			j := journal{v: v, b: b, of: x, doors: map[string]int{}, found: found, gap: found}
			for _, e := range x.onsite {
				j.see(e)
			}
		}
	}
}

// journal follows one board's lines.
type journal struct {
	v     *View
	b     book
	of    *board
	line  lineState
	last  *history.Event // the line before
	acked *history.Event // the last acknowledgement; nil = nothing is known to be stored
	doors map[string]int // their channels
	gap   bool           // the history lacks lines before the next: a scenario told the board what to do, or the run begins here
	found bool           // the run hasn't begun: of what came before, only the lines of holds that go on are told
}

func (j *journal) see(e *history.Event) {
	if e.Kind == history.Online {
		j.hello(e)
	}
	j.line.see(e)
	switch e.Kind {
	case history.Applied:
		j.acked = e
	case history.Door: // a process that kept nothing begins here, too
		j.acked, j.line = nil, lineState{}
		j.doors[e.DoorID] = e.Channel
	case history.Attached:
		j.acked, j.gap = nil, len(j.v.hands[j.of.id]) > 0
	case history.Wiped, history.Detached:
		j.acked = nil
	case history.Begun:
		j.gap, j.found = true, false
	case history.Actuation:
		if e.JournalSeq != 0 {
			j.entry(e)
			j.last, j.gap = e, j.found
		}
	}
}

// hello judges the outage age that a board states when its line is back: it may be neither younger than its outage nor
// older. Where the server notes a hello by a clock of its own, a jump may lie between the line's return and the hello.
func (j *journal) hello(e *history.Event) {
	if e.OutageAgeMs < 0 && !j.of.maySayLost(j.v, e) {
		j.b.of("OFF-4").bad(e, "%s says in its hello that its clock is lost, but nothing has happened to it since it spoke to the server", j.of.id) // [OFF-4]
	}
	if j.line.downAt == 0 || j.line.cause == nil || j.line.cause.Src != e.Src {
		return
	}
	low, high, ok := j.line.age(e.At)
	if ok && j.line.cause.Kind == history.Line && e.OutageAgeMs >= 0 && (e.OutageAgeMs < low-ageServerSlackMs || e.OutageAgeMs > high+ageServerSlackMs) {
		j.b.of("OFF-4").bad(e, "%s says outage age %s in its hello, but its line has been down for %s", j.of.id, history.Age(e.OutageAgeMs), history.Age(e.At-j.line.downAt)) // [OFF-4]
	}
}

func (j *journal) entry(e *history.Event) {
	t, x := j.b.of(lineClause(e)), j.of
	if last := j.last; last != nil {
		if e.JournalSeq != last.JournalSeq+1 && !(j.gap && e.JournalSeq > last.JournalSeq) {
			t.bad(e, "%s has line %d of its journal after line %d", x.id, e.JournalSeq, last.JournalSeq) // [CMD-1]
		}
		if e.Boot < last.Boot || e.Boot == last.Boot && x.diedBetween(last, e) {
			t.bad(e, "%s says boot %d after boot %d and a reboot", x.id, e.Boot, last.Boot) // [CMD-1]
		}
	}
	if a := j.acked; a != nil && e.Revision < a.Revision && j.v.before(a, e) {
		t.bad(e, "%s says revision %d in its journal, but had acknowledged %d", x.id, e.Revision, a.Revision) // [CMD-1]
	}
	if channel, known := j.doors[e.DoorID]; known && e.Channel != channel && moved(e) {
		t.bad(e, "%s moved channel %d for %s, which is on channel %d", x.id, e.Channel, e.DoorID, channel) // [CMD-1] [ENT-1] [OFF-3] [CMD-7]
	}
	if e.OutageAgeMs < 0 && !x.maySayLost(j.v, e) {
		t.bad(e, "%s says in its journal that its clock is lost, but nothing has happened to it since it spoke to the server", x.id) // [ENT-1] [OFF-3] [CMD-7]
	}
	if e.Cause != "hold_end" { // people at a reader and resting behaviours have their ages judged with what they did
		return
	}
	if since, wrong := j.line.wrong(e); wrong {
		t.bad(e, "%s says outage age %s in its journal, but its line has been down for %s", x.id, history.Age(e.OutageAgeMs), history.Age(since)) // [CMD-7]
	}
}

// diedBetween reports whether the board was rebooted between two of its events.
func (b *board) diedBetween(from, to *history.Event) bool {
	return slices.ContainsFunc(b.deaths, func(d *history.Event) bool { return sooner(from, d) && sooner(d, to) })
}

// lineClause is the promise that a line of the journal belongs to.
func lineClause(e *history.Event) string {
	switch e.Cause {
	case "command":
		return "CMD-1"
	case "outage":
		return "OFF-3"
	case "hold_end":
		return "CMD-7"
	}
	return "ENT-1"
}
