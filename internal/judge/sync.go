package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// sync1 judges SYNC-1: each registration reaches every board of its place within 300 s of connection, counted from its
// commit or from the board's hello; the content is the server's, revisions never go back, and in the end the board
// equals the server.
func sync1(v *View) Verdict { return v.fresh("SYNC-1", "register") } // [SYNC-1]

// sync2 judges SYNC-2: the same for revocations.
func sync2(v *View) Verdict { return v.fresh("SYNC-2", "revoke") } // [SYNC-2]

// means is what a commit is to boards, register or revoke, whatever kind of grant it is about; "" for hours and the like.
func means(commit *history.Event) string {
	switch commit.Op {
	case "register", "membership", "reservation":
		return "register"
	case "revoke", "cancel":
		return "revoke"
	}
	return ""
}

// gapMs: time on a connection that was away for no longer than this keeps counting towards the 300 s.
const gapMs = 60 * 1000

// freshness is summed over boards.
type freshness struct {
	tally
	maxMs   int64
	looks   map[string][]*history.Event
	came    int64 // up to which revision a board had what it was asked for at its reader
	seen    int   // of the operation that was asked for, at boards, and looked at there
	shown   []Occasion
	waiting int // not due yet when the history ends
}

func (v *View) fresh(clause, op string) Verdict {
	f := &freshness{looks: v.looked()}
	for _, b := range v.sortedBoards() {
		p := v.places[b.place]
		if p == nil || b.told {
			continue
		}
		steps, wrong := b.steps(p)
		f.board(v, b, p, op, steps)
		f.refilled(v, b, p, op)
		if e, right := b.differed(p); e != nil {
			f.differs(b, p, op, e, right)
		}
		if op == "register" {
			f.monotone(b)
			if !b.recovered() && wrong == nil && p.silentSince(steps) { // see OFF-4 for those that were away
				v.converged(&f.tally, b)
			}
		}
	}
	f.tally = *f.plus(v.second().of(clause))
	return f.verdict(v, clause, fmt.Sprintf("slowest of %s updates: %s (limit 300 s), %s not due yet", amount.Number(f.checked), secs(f.maxMs), amount.Number(f.waiting))).
		triedIf(v.told, f.seen, "no "+map[string]string{"register": "registration", "revoke": "revocation"}[op]+" reached a board that anybody looked at").
		at(v, f.shown)
}

// board checks each commit of an operation against one board.
func (f *freshness) board(v *View, b *board, p *place, op string, steps []step) {
	spans := b.spans()
	f.came = 0
	for _, e := range b.presented {
		if p.content.concerns(e, op) {
			f.came, f.shown = max(f.came, e.Revision), append(f.shown, v.since(e, e.WallNs))
		}
	}
	k, s := 0, 0
	for _, c := range p.commits {
		if means(c) != op {
			continue
		}
		for k < len(steps) && steps[k].rev < c.Revision {
			k++
		}
		applied := step{at: never}
		if k < len(steps) {
			applied = steps[k]
		}
		for s < len(spans) && spans[s].to <= c.At {
			s++
		}
		f.commit(v, b, c, spans[s:], applied)
	}
}

// refilled checks that a board without its content, because its flash was lost or another board has its place, gets it back
// within 300 s of connection: whatever had been committed when it said hello.
func (f *freshness) refilled(v *View, b *board, p *place, op string) {
	seen, waiting, shown := f.seen, f.waiting, f.shown
	for i, e := range b.applied {
		if !loses(e) {
			continue
		}
		life := b.applied[i+1:]
		if n := slices.IndexFunc(life, loses); n >= 0 {
			life = life[:n]
		}
		hello := firstOf(life, func(e *history.Event) bool { return e.Kind == history.Online })
		if hello == nil || v.begun != nil && sooner(hello, v.begun) {
			continue
		}
		last := life[len(life)-1]
		var c *history.Event
		for _, x := range p.commits {
			if means(x) == op && v.before(x, hello) {
				c = x
			}
		}
		if c == nil {
			continue
		}
		got := step{at: never}
		if e := firstOf(life, func(e *history.Event) bool {
			return e.Revision >= c.Revision && (e.Kind == history.Online || p.good(b, e))
		}); e != nil {
			got = step{e.Revision, e.At, e}
		}
		f.commit(v, b, c, slices.DeleteFunc(slices.Clone(b.spans()), func(sp span) bool {
			return sooner(sp.online, hello) || sooner(last, sp.online)
		}), got)
	}
	f.seen, f.waiting, f.shown = seen, waiting, shown // it shows nothing new about the operation
}

// loses reports whether an event takes a board's content away.
func loses(e *history.Event) bool { return e.Kind == history.Wiped || e.Kind == history.Attached }

// concerns reports whether a presentation has to do with a registration or a revocation: a stranger, or somebody at a
// door with a free or closed window, gets the same answer with and without it.
func (c *content) concerns(e *history.Event, op string) bool {
	r := c.rule(e)
	if r.unknown {
		return true
	}
	if r.byWindow() || over(e.OutageAgeMs) {
		return false
	}
	return slices.ContainsFunc(append(slices.Clone(c.phones[e.PhoneHash]), c.tokens[e.TokenHash]...), func(id string) bool {
		g, there := c.at(id, e.Revision)
		if op == "revoke" {
			gone := !there && c.grants[id][0].rev <= e.Revision // it is gone by now
			return (g.Revoked || gone) && !c.ended(id, e)       // and not because it had ended
		}
		return there
	})
}

// ended reports whether a grant was over at a presentation, as the board had it, whatever else had become of it.
func (c *content) ended(id string, e *history.Event) bool {
	for _, was := range slices.Backward(c.grants[id]) {
		if was.is.there && was.rev <= e.Revision {
			return was.is.EndsAt != 0 && e.At >= was.is.EndsAt
		}
	}
	return false
}

// commit sums up the time for which a board was connected from a commit until it had it. Only a real outage starts
// over: a line that drops every few minutes buys no time.
func (f *freshness) commit(v *View, b *board, c *history.Event, spans []span, got step) {
	connected, left, applied := int64(0), int64(0), got.at
	for _, sp := range spans {
		start := max(c.At, sp.from)
		if start-left >= gapMs {
			connected = 0
		}
		if applied <= sp.to && applied != never {
			f.checked++
			if c.Revision <= f.came || f.lookedAt(v, b.place, c, got.told) {
				f.seen++
				reached := v.since(got.told, forever)
				reached.Looks = true
				f.shown = append(f.shown, reached)
			}
			ms := connected + max(0, applied-start)
			f.maxMs = max(f.maxMs, ms)
			if ms > FreshMs { // [SYNC-1] [SYNC-2]
				f.bad(c, "revision %d (%s) reached %s only after %s", c.Revision, c.Op, b.id, secs(ms))
			}
			return
		}
		connected += max(0, min(sp.to, v.end)-start)
		if connected > FreshMs { // [SYNC-1] [SYNC-2]
			f.breaks(c, "revision %d (%s) never reached %s, although it was connected for %s", c.Revision, c.Op, b.id, secs(connected))
			return
		}
		if sp.to == never {
			f.waiting++
		}
		left = sp.to
	}
}

// lookedAt reports whether somebody looked at the place's boards, or at all of them, after the last of the events.
func (f *freshness) lookedAt(v *View, place string, events ...*history.Event) bool {
	for _, at := range []string{place, ""} {
		for _, look := range f.looks[at] {
			if !slices.ContainsFunc(events, func(e *history.Event) bool { return v.before(look, e) }) {
				return true
			}
		}
	}
	return false
}

// silentSince reports whether what a board is missing at the end, if anything, is neither a registration nor a
// revocation; those are judged one by one.
func (p *place) silentSince(steps []step) bool {
	for _, c := range slices.Backward(p.commits) {
		switch {
		case len(steps) > 0 && c.Revision <= steps[len(steps)-1].rev:
			return true
		case means(c) != "":
			return false
		}
	}
	return true
}

// differs handles a board that reported other content than the server's. The operations since they last agreed are to
// blame.
func (f *freshness) differs(b *board, p *place, op string, wrong *history.Event, right int64) {
	var suspect *history.Event
	other := false
	for _, c := range p.commits {
		if c.Revision <= right || c.Revision > wrong.Revision {
			continue
		}
		if kind := means(c); kind == op {
			suspect = c
		} else if kind != "" {
			other = true
		}
	}
	switch {
	case suspect != nil:
		f.breaks(wrong, "%s acknowledged revision %d with content that differs from the server's, which has revision %d (%s) in it",
			b.id, wrong.Revision, suspect.Revision, op)
	case !other && op == "register":
		f.breaks(wrong, "%s acknowledged revision %d with content that differs from the server's", b.id, wrong.Revision)
	}
}

// monotone checks that a board's acknowledged revision never falls while it keeps its flash.
func (f *freshness) monotone(b *board) {
	last, wiped := int64(0), false
	for _, e := range b.applied {
		switch e.Kind {
		case history.Wiped, history.Attached:
			last, wiped = 0, true
		case history.Online:
			wiped = false
			if b.truth && e.Revision < last {
				f.bad(e, "%s came back with revision %d, although it had acknowledged %d", b.id, e.Revision, last)
			}
			last = min(last, e.Revision) // a real board may be another one, or have lost its flash
		case history.Applied:
			if wiped { // it was on its way
				continue
			}
			if e.Revision < last {
				f.bad(e, "%s went back from revision %d to %d", b.id, last, e.Revision)
			}
			last = e.Revision
		}
	}
}
