package history

import "fmt"

// Sync1 judges SYNC-1: each registration is on every board of its place within
// 300 s of its commit, or of the board's hello; content as the server's,
// revisions never going back [SYNC-1].
func Sync1(v *View) Verdict { return v.fresh("SYNC-1", "register") }

// Sync2 judges SYNC-2: the same for revocations [SYNC-2].
func Sync2(v *View) Verdict { return v.fresh("SYNC-2", "revoke") }

// freshness adds up over boards.
type freshness struct {
	tally
	maxMs   int64
	waiting int // not due yet when the history ends
}

func (v *View) fresh(clause, op string) Verdict {
	f := &freshness{}
	for _, b := range v.sortedBoards() {
		p := v.places[b.place]
		if p == nil {
			continue
		}
		steps, wrong, right := b.steps(p)
		f.board(v, b, p, op, steps)
		if wrong != nil {
			f.differs(b, p, op, wrong, right)
		}
		if op == "register" {
			f.monotone(b)
		}
	}
	number := fmt.Sprintf("max %s of %s", secs(f.maxMs), count(f.checked))
	if f.waiting > 0 {
		number += fmt.Sprintf(", %s not due yet", count(f.waiting))
	}
	return f.verdict(v, clause, number)
}

// board holds each commit of an operation against one board.
func (f *freshness) board(v *View, b *board, p *place, op string, steps []step) {
	spans := b.spans()
	k, s := 0, 0
	for _, c := range p.commits {
		if c.Op != op {
			continue
		}
		for k < len(steps) && steps[k].rev < c.Revision {
			k++
		}
		applied := int64(never)
		if k < len(steps) {
			applied = steps[k].at
		}
		for s < len(spans) && spans[s].to <= c.At {
			s++
		}
		f.commit(v, b, c, spans[s:], applied)
	}
}

// commit finds the connection in which a commit reached a board, or was due.
func (f *freshness) commit(v *View, b *board, c *Event, spans []span, applied int64) {
	for _, sp := range spans {
		start := max(c.At, sp.from)
		if applied <= sp.to && applied != never {
			f.checked++
			ms := max(0, applied-start)
			f.maxMs = max(f.maxMs, ms)
			if ms > FreshMs {
				f.bad(c, "revision %d (%s) was on %s only after %s", c.Revision, c.Op, b.id, secs(ms))
			}
			return
		}
		if due := min(sp.to, v.end) - start; due > FreshMs {
			f.checked++
			f.bad(c, "revision %d (%s) was not on %s although it was connected for %s", c.Revision, c.Op, b.id, secs(due))
			return
		}
		if sp.to == never {
			f.waiting++
		}
	}
}

// differs: the board's last word is not the server's content. The operations
// since it last was are to blame.
func (f *freshness) differs(b *board, p *place, op string, wrong *Event, right int64) {
	var suspect *Event
	other := false
	for _, c := range p.commits {
		if c.Revision <= right || c.Revision > wrong.Revision {
			continue
		}
		if c.Op == op {
			suspect = c
		} else if c.Op == "revoke" || c.Op == "register" {
			other = true
		}
	}
	switch {
	case suspect != nil:
		f.checked++
		f.bad(wrong, "%s acknowledged revision %d with other content than the server's, which has revision %d (%s) in it",
			b.id, wrong.Revision, suspect.Revision, op)
	case !other && op == "register":
		f.checked++
		f.bad(wrong, "%s acknowledged revision %d with other content than the server's", b.id, wrong.Revision)
	}
}

// monotone: a board's acknowledged revision never falls while it keeps its flash.
func (f *freshness) monotone(b *board) {
	last := int64(0)
	for _, e := range b.applied {
		switch e.Kind {
		case Wiped, Attached:
			last = 0
		case Online:
			if b.truth && e.Revision < last {
				f.bad(e, "%s came back with revision %d, it had acknowledged %d", b.id, e.Revision, last)
			}
			last = min(last, e.Revision) // a real board may be another one, or have lost its flash
		case Applied:
			if e.Revision < last {
				f.bad(e, "%s went back from revision %d to %d", b.id, last, e.Revision)
			}
			last = e.Revision
		}
	}
}

// FrozenSlackMs is what a board's own clock may be off at the start of an
// outage; to it comes a thousandth of the outage's age (drift).
const FrozenSlackMs = 1000

// Sync3 judges SYNC-3: what a board does on site in an outage reflects no
// revision that was committed after the outage began, and the revision stays
// the same throughout [SYNC-3].
func Sync3(v *View) Verdict {
	t := &tally{}
	for _, b := range v.sortedBoards() {
		var last *Event
		for _, e := range b.onsite {
			switch {
			case e.Kind == Online || e.Kind == Applied || e.Kind == Wiped || e.Kind == Attached:
				last = nil
			case onsite(e) && e.OutageAgeMs > 0:
				t.checked++
				v.frozen(t, b, last, e)
				last = e
			}
		}
	}
	return t.verdict(v, "SYNC-3", fmt.Sprintf("%s decisions in outages on the revision from before", count(t.checked)))
}

// onsite: a decision or a movement that the board made by itself.
func onsite(e *Event) bool {
	return e.Kind == Presented || e.Kind == Actuation && (e.Cause == "onsite" || e.Cause == "free")
}

func (v *View) frozen(t *tally, b *board, last, e *Event) {
	if last != nil && last.Revision != e.Revision {
		t.bad(e, "%s went from revision %d to %d in an outage", b.id, last.Revision, e.Revision)
		return
	}
	p := v.places[b.place]
	if p == nil {
		return
	}
	began := e.At - e.OutageAgeMs + FrozenSlackMs + e.OutageAgeMs/1000
	for i := len(p.commits) - 1; i >= 0 && p.commits[i].At > began; i-- {
		if p.commits[i].Revision <= e.Revision {
			t.bad(e, "%s decided by revision %d, committed after its outage began", b.id, p.commits[i].Revision)
			return
		}
	}
}
