package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/vocab"
)

// attempted parses a call at which the server decided about somebody; nil if it didn't, or if nobody knows about whom. skew is
// by how much the client's clock may be off.
func (v *View) attempted(c *call, links map[string][]*claim, skew int64) (d *deciding) {
	switch {
	case c.Route == linkRoute && c.Method == "POST":
		d = v.linkDecided(c, links[c.in("t")], skew)
	case c.rings():
		d = v.phoneDecided(c, skew)
	}
	if d != nil {
		d.wrong = v.endedOtherwise(d)
	}
	return d
}

// nearly counts what can't be judged, because it happened so close to the beginning or end of a grant that the client's
// clock may be wrong about it, if it came out as that clock says: whoever comes in as soon as a permit begins has shown it.
func (s *served) nearly(d *deciding) {
	if d == nil || d.ambig {
		return
	}
	if r, ok := d.agreed(); ok && r.allow == d.opened() && !r.byWindow() {
		s.take(r)
		s.count(d, r)
	}
}

// agreed is what the rulings come to; ok is false if they disagree.
func (d *deciding) agreed() (r ruling, ok bool) {
	for i, o := range d.rulings {
		if i == 0 {
			r = o
		}
		if o.unknown || o.allow != r.allow || !slices.Equal(o.clausesOf(), r.clausesOf()) {
			return r, false
		}
		r.moot = r.moot || o.moot
	}
	return r, len(d.rulings) > 0
}

// count notes which cases of the promises about links and calls a decision shows.
func (s *served) count(d *deciding, r ruling) {
	s.taken = append(s.taken, d.call)
	byLink, dead := d.Route == linkRoute, r.reasons[0] == vocab.LinkInvalid
	switch {
	case !byLink:
		s.calls++
	case !dead: // what is decided about a dead link concerns no caller
		s.links++
	}
	if r.byWindow() && !r.moot {
		s.windowedAt = append(s.windowedAt, d.call)
	}
	if d.fresh && dead {
		s.dead, s.deadAt = s.dead+1, append(s.deadAt, d.call)
	}
	if d.fresh && d.outcome == vocab.Reported && d.wrong == "" && r.allow && r.kind == "permit" && d.credit == "" {
		s.permitted, s.permittedAt = s.permitted+1, append(s.permittedAt, d.call)
		if byLink {
			s.linked++
		}
	}
}

// ent3 judges ENT-3: answers to links and calls match the reference (as on boards), with the same outcomes as commands.
func ent3(v *View) Verdict {
	s := v.served()
	t := s.of("ENT-3")
	return t.verdict(v, "ENT-3", fmt.Sprintf("%s decisions on links and calls, equal to the reference", amount.Number(t.checked))).
		triedIf(v.told, s.alike+min(s.links, s.calls)+min(s.let, s.kept), "only one of link and phone call was tried, with the same answer each time (a dead link doesn't count), and none failed at the board as a command for its door does").
		showsIf(v.told, sight{s.links, "a link"}, sight{s.calls, "a phone call"}, sight{s.alike, "an opening that ends as a command for the door does"}).
		at(v, times(s.taken), times(s.untold))
}

// hrs1 judges HRS-1: changed hours are in the server's content, which windows follow, when the change is answered.
func hrs1(v *View) Verdict {
	s := v.second()
	t := s.of("HRS-1")
	return t.verdict(v, "HRS-1", fmt.Sprintf("%s changes of hours, each in force by the time it was answered", amount.Number(t.checked))).
		triedIf(v.told, len(s.rescheduled), "hours were only set to what they already were").
		triedIf(v.told, v.followed(s.rescheduled), "after opening hours had changed, nobody looked at anything that the change affects")
}
