package history

import "fmt"

// Ent1 judges ENT-1 on site: what a connected board decides equals the
// reference [ENT-1].
func Ent1(v *View) Verdict {
	n := v.decisions()
	t := n.connected
	return t.verdict(v, "ENT-1", fmt.Sprintf("%s on-site decisions as the reference%s", count(t.checked), n.rest()))
}

// Off1 judges OFF-1: what a board decides in an outage up to 36 h equals the
// reference [OFF-1].
func Off1(v *View) Verdict {
	n := v.decisions()
	t := n.outage
	return t.verdict(v, "OFF-1", fmt.Sprintf("%s decisions in outages as the reference, %s opened, oldest %s%s",
		count(t.checked), count(n.opened), age(n.oldestMs), n.rest()))
}

// Off2 judges OFF-2: over 36 h, or with a lost clock, nothing is decided on
// site; up to exactly 36 h nothing is denied for the limit [OFF-2].
func Off2(v *View) Verdict {
	n := v.decisions()
	t := n.limit
	return t.verdict(v, "OFF-2", fmt.Sprintf("%s denied over 36 h, oldest opening %s; at 36 h-1 s %s, 36 h %s, 36 h+1 s %s",
		count(n.stopped), age(n.oldestMs), count(n.minus), count(n.exact), count(n.plus)))
}

// decisions adds up all presentations.
type decisions struct {
	connected, outage, limit *tally
	opened, stopped, unknown int
	oldestMs                 int64
	minus, exact, plus       int // boundary values of OFF-2 that were hit
}

func (n *decisions) rest() string {
	if n.unknown == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s more it cannot tell)", count(n.unknown))
}

func (v *View) decisions() *decisions {
	n := &decisions{connected: &tally{}, outage: &tally{}, limit: &tally{}}
	for _, b := range v.sortedBoards() {
		p := v.places[b.place]
		if p == nil {
			p = &place{}
		}
		resuming := false // came back from over 36 h and has not acknowledged yet
		for _, e := range b.onsite {
			switch {
			case e.Kind == Online:
				resuming = over(e.OutageAgeMs)
			case e.Kind == Applied:
				resuming = false
			case e.Kind == Presented:
				if resuming && !over(e.OutageAgeMs) && e.Reason == "outage_limit" {
					continue
				}
				n.presented(p, e)
			case e.Kind == Actuation && onsite(e) && over(e.OutageAgeMs) && moved(e):
				n.limit.checked++
				n.limit.bad(e, "%s opened on site at outage age %s", b.id, age(e.OutageAgeMs))
			}
		}
	}
	return n
}

func (n *decisions) presented(p *place, e *Event) {
	n.boundary(e)
	if over(e.OutageAgeMs) {
		n.limit.checked++
		n.stopped++
		if e.Result == "opened" || e.Reason != "outage_limit" {
			n.limit.bad(e, "%s %s at outage age %s, must be denied outage_limit", e.BoardID, said(e), age(e.OutageAgeMs))
		}
		return
	}
	if e.OutageAgeMs > 0 {
		n.limit.checked++
		if e.Reason == "outage_limit" {
			n.limit.bad(e, "%s denied outage_limit at outage age %s", e.BoardID, age(e.OutageAgeMs))
		}
	}
	r := p.content.rule(e)
	if r.unknown {
		n.unknown++
		return
	}
	t := n.connected
	if e.OutageAgeMs > 0 {
		t = n.outage
		if e.Result == "opened" {
			n.opened++
			n.oldestMs = max(n.oldestMs, e.OutageAgeMs)
		}
	}
	t.checked++
	if differs := r.agrees(e); differs != "" {
		t.bad(e, "%s at %s, revision %d, outage age %s: %s", e.DoorID, e.BoardID, e.Revision, age(e.OutageAgeMs), differs)
	}
}

func said(e *Event) string {
	if e.Result == "opened" {
		return "opened"
	}
	return "denied for " + e.Reason
}

func (n *decisions) boundary(e *Event) {
	switch e.OutageAgeMs {
	case LimitMs - 1000:
		n.minus++
	case LimitMs:
		n.exact++
	case LimitMs + 1000:
		n.plus++
	}
}
