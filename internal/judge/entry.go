package judge

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// ent1 judges ENT-1: a connected board decides like the reference, the relay moves exactly when the reference allows
// it, and memberships and reservations are in the server's content as they were given.
func ent1(v *View) Verdict {
	n, s := v.decided(), v.served()
	t := n.connected.plus(v.second().of("ENT-1")).plus(s.of("ENT-1")).plus(v.driven().of("ENT-1")) // [ENT-1]
	t.real += v.onsiteOfGuests()
	compared := t.checked - n.connected.checked
	t.checked += len(s.untold) // only their steps can tell whether they were right
	return t.verdict(v, "ENT-1", fmt.Sprintf("%s on-site decisions of connected boards%s and %s checks of links, calls and content%s, all equal to the reference",
		amount.Number(n.connected.checked), cantTell(n.unknown), amount.Number(compared), cantTell(len(s.untold)))).
		triedIf(v.told, n.let+s.let, "nobody with a valid grant tried a door").triedIf(v.told, differ(&n.weighed, &s.weighed), "nobody tried a door without a valid grant, with another kind of grant, or with a grant that doesn't open it").
		at(v, times(s.taken), times(s.untold), instants(n.taken))
}

// ent2 judges ENT-2 on site, connected or not, and for links and phones: a free window opens to everyone, a closed one
// to no guest.
func ent2(v *View) Verdict {
	n := v.decided()
	s := v.served()
	t := n.windows.plus(v.second().of("ENT-2")).plus(s.of("ENT-2")) // [ENT-2]
	onsite, afar := n.windows.checked, s.of("ENT-2").checked
	return t.verdict(v, "ENT-2", fmt.Sprintf("%s decisions on site and %s about links and phones in a free or closed window", amount.Number(onsite), amount.Number(afar))).
		about(onsite+afar).
		triedIf(v.told, n.windowed+s.windowed, "nobody tried a door where a free or closed window made a difference").
		showsIf(v.told, sight{n.freed + s.freed, "a free window"}, sight{n.windowed + s.windowed - n.freed - s.freed, "a closed window"}).
		at(v, v.moments(n.windowedAt), presses(s.windowedAt))
}

// decisions summarizes all presentations and everything the relays did on the boards' own initiative.
type decisions struct {
	connected, outage, limit, windows *tally
	weighed
	opened, unknown    int
	stopped, timeless  int   // denied after 36 h; timeless of them because a board had lost its clock
	granted            int   // in an outage, to be let in by a grant
	missed, soon       int   // came after 36 h, and within 36 h after that
	nearly, last       int   // let in by a grant in the last minute before, and in the last second
	oldestMs           int64 // of the outage in which somebody was let in
	agedMs             int64 // of the outage in which anything was decided
	minus, exact, plus int   // boundary values of OFF-2 that were hit

	windowedAt, grantedAt, limitAt []*history.Event // the presentations that were windowed, granted, or missed or nearly
	taken                          []*history.Event // all that the reference could tell
}

// soonAfterMs is how old an outage may be for a denial to say how long the limit is. Somebody who comes weeks later sees that
// there is one, not that it is 36 h.
const soonAfterMs = 2 * limitMs

// cantTell are those that the reference doesn't judge.
func cantTell(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s more that it can't tell)", amount.Number(n))
}

// decisions judges each presentation. Four clauses are based on it.
func (v *View) decisions() *decisions {
	n := &decisions{connected: &tally{}, outage: &tally{}, limit: &tally{}, windows: &tally{}}
	for _, b := range v.sortedBoards() {
		v.boardDecides(n, b)
	}
	return n
}

func (v *View) boardDecides(n *decisions, b *board) {
	p := v.places[b.place]
	if p == nil {
		p = &place{}
	}
	paired := b.pair()
	orphan := map[*history.Event]bool{}
	for _, e := range paired.orphan {
		orphan[e] = b.truth
	}
	line, resuming := lineState{}, false // resuming: back after more than 36 h, but no acknowledgement yet
	var joined *history.Event            // set while the run has just begun: its first presentation may have moved the relay earlier
	for _, e := range b.onsite {
		was := line
		line.see(e)
		switch {
		case e.Kind == history.Online:
			resuming = b.mayResume(v, &was, e) || resuming && over(e.OutageAgeMs)
		case e.Kind == history.Applied:
			resuming = false
		case e.Kind == history.Begun:
			joined = e
		case e.Kind == history.Presented && joined != nil && paired.lines[e] == nil && !v.longer(joined, e, pairMs):
			joined = nil
		case e.Kind == history.Presented:
			joined = nil
			if e.OutageAgeMs < 0 && !b.maySayLost(v, e) {
				n.limit.breaks(e, "%s says that its clock is lost, but nothing has happened to it since it spoke to the server", b.id) // [OFF-2]
			}
			n.presented(b, p, presentation{e, paired.lines[e], line, resuming})
		case orphan[e]:
			n.byNobody(b, e, &line)
		case e.Kind == history.Actuation && moved(e) && !causes[e.Cause]:
			n.connected.breaks(e, "%s did %s for %q, which is not a reason to move a relay", b.id, e.Action, e.Cause) // [ENT-1]
		}
	}
}

// causes are all reasons that a relay can have to move. (A "policy" would be one, but so far no board acts for it.)
var causes = map[string]bool{"command": true, "onsite": true, "free": true, "hold_end": true, "outage": true}

// byNobody judges a relay movement on site without a presentation at the reader.
func (n *decisions) byNobody(b *board, e *history.Event, line *lineState) {
	t, age := n.connected, e.OutageAgeMs
	if low, _, ok := line.age(e.At); ok && low > age {
		age = low
	}
	switch {
	case over(age):
		t = n.limit
	case age > 0:
		t = n.outage
	}
	t.breaks(e, "%s did %s on site (%s) at outage age %s, but nobody had presented a phone or link", b.id, e.Action, e.Cause, history.Age(age)) // [ENT-1] [OFF-1] [OFF-2]
}

// presentation is a person at a reader: what the board said, what its relay did, and the state of its line.
type presentation struct {
	*history.Event
	line     *history.Event // of the journal, nil = none
	net      lineState
	resuming bool
}

// away: the board's line was down. At the very moment of the cut its outage has no age yet.
func (p presentation) away() bool { return p.OutageAgeMs > 0 || p.net.downAt != 0 }

// pulsed: the relay moved for it.
func (p presentation) pulsed() bool { return p.line != nil && p.line.Action == "pulse" }

func (n *decisions) presented(b *board, p *place, e presentation) {
	n.boundary(e.Event)
	said := *e.Event
	if e.line != nil { // on a busy machine the event comes later than the movement
		said.At, said.WallNs = e.line.At, e.line.WallNs
	}
	if since, wrong := e.net.wrong(&said); wrong {
		n.limit.breaks(e.Event, "%s says outage age %s, but its line has been down for %s", b.id, history.Age(e.OutageAgeMs), history.Age(since)) // [OFF-2]
	}
	if over(e.OutageAgeMs) {
		n.overLimit(b, p, e)
		return
	}
	if e.resuming && e.Reason == vocab.OutageLimit && !e.pulsed() {
		return
	}
	if e.OutageAgeMs > 0 {
		n.limit.checked++
		if e.Reason == vocab.OutageLimit {
			n.limit.bad(e.Event, "%s denied outage_limit at outage age %s", b.id, history.Age(e.OutageAgeMs)) // [OFF-2]
		}
	}
	n.decided(b, p.content.rule(e.Event), e)
}

// overLimit judges a presentation when nothing may be decided any more.
func (n *decisions) overLimit(b *board, p *place, e presentation) {
	n.limit.checked++
	if n.stopped++; e.OutageAgeMs < 0 {
		n.timeless++
	}
	before := *e.Event
	before.OutageAgeMs = 0
	stranger := e.OutageAgeMs > 0 && e.TokenHash == "" && len(p.content.phones[e.PhoneHash]) == 0 // not at a wiped board, which knows nobody
	if stranger || p.content.rule(&before).allow {                                                // without the limit, the answer would have been another
		n.missed++
		n.limitAt = append(n.limitAt, e.Event)
		if e.OutageAgeMs <= soonAfterMs {
			n.soon++
		}
	}
	switch {
	case e.Result == vocab.Opened || e.Reason != vocab.OutageLimit:
		n.limit.bad(e.Event, "%s %s at outage age %s, but must be denied with outage_limit", b.id, said(e.Event), history.Age(e.OutageAgeMs)) // [OFF-2]
	case e.pulsed():
		n.limit.bad(e.line, "%s moved the relay at outage age %s, although it denied", b.id, history.Age(e.OutageAgeMs)) // [OFF-2]
	}
}

// decided compares statement and relay with the reference.
func (n *decisions) decided(b *board, r ruling, e presentation) {
	t := n.connected
	if e.away() {
		t, n.agedMs = n.outage, max(n.agedMs, e.OutageAgeMs)
		if e.Result == vocab.Opened {
			n.opened++
			n.oldestMs = max(n.oldestMs, e.OutageAgeMs)
		}
	}
	where := fmt.Sprintf("%s at %s, revision %d, outage age %s", e.DoorID, b.id, e.Revision, history.Age(e.OutageAgeMs))
	if b.truth && e.line == nil {
		t.breaks(e.Event, "%s: %s, but the relay's journal has no line of it", where, said(e.Event)) // [ENT-1] [OFF-1]
		return
	}
	if r.unknown {
		n.unknown++
		if b.truth && e.pulsed() != (e.Result == vocab.Opened) {
			t.breaks(e.line, "%s: %s, but the relay did %s", where, said(e.Event), e.line.Action) // [ENT-1] [OFF-1]
		}
		return
	}
	n.taken = append(n.taken, e.Event)
	if n.take(r); r.byWindow() && !r.moot {
		n.windowedAt = append(n.windowedAt, e.Event)
	}
	if e.away() && r.allow && !r.byWindow() {
		n.grantedAt = append(n.grantedAt, e.Event)
		n.granted++
		if e.OutageAgeMs >= limitMs-60*1000 {
			n.nearly, n.limitAt = n.nearly+1, append(n.limitAt, e.Event)
		}
		if e.OutageAgeMs >= limitMs-1000 {
			n.last++
		}
	}
	differs := r.agrees(e.Event)
	if differs == "" && b.truth {
		differs = r.relay(e)
	}
	tallies := []*tally{t}
	if r.byWindow() || e.line != nil && e.line.Cause == "free" {
		tallies = append(tallies, n.windows)
	}
	for _, t := range tallies {
		t.checked++
		if differs != "" {
			t.bad(e.Event, "%s: %s", where, differs) // [ENT-1] [ENT-2] [OFF-1]
		}
	}
}

// byWindow reports whether the door's window decided, not the person's grants.
func (r ruling) byWindow() bool {
	return r.reasons[0] == vocab.FreeWindow || r.reasons[0] == vocab.ClosedWindow
}

// relay compares the relay's action with a ruling; "" or how they differ.
func (r ruling) relay(e presentation) string {
	cause := "onsite"
	if r.allow && r.reasons[0] == vocab.FreeWindow {
		cause = "free"
	}
	switch {
	case e.pulsed() && !r.allow:
		return said(e.Event) + ", but the relay pulsed; the reference denies: " + string(r.reasons[0])
	case !e.pulsed() && r.allow:
		return said(e.Event) + ", but the relay did " + e.line.Action + "; the reference opens: " + string(r.reasons[0])
	case e.line.Cause != cause:
		return "the journal's cause is " + e.line.Cause + ", but the reference says " + cause
	}
	return ""
}

func said(e *history.Event) string {
	if e.Result == vocab.Opened {
		return string(vocab.Opened)
	}
	return "denied for " + string(e.Reason)
}

func (n *decisions) boundary(e *history.Event) {
	switch e.OutageAgeMs {
	case limitMs - 1000:
		n.minus++
	case limitMs:
		n.exact++
	case limitMs + 1000:
		n.plus++
	}
}
