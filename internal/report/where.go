package report

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/judge"
)

// Where is what a step was about, if it shows a promise only by what happens there.
type Where struct {
	Doors, Boards, Places []string // none: any
	Decides               bool     // it shows what happens while it lasts, not what had happened before
}

// sees reports whether a step can have shown an occasion: it was about the same door, or board, or place, at that time.
func (s *Step) sees(o judge.Occasion) bool {
	from := s.Started.UnixNano()
	to := from + int64(s.Seconds*1e9)
	if o.From > to || s.Where.Decides && (o.Looks || o.To < from) {
		return false
	}
	for _, same := range []struct {
		id  string
		all []string
	}{{o.Door, s.Where.Doors}, {o.Board, s.Where.Boards}, {o.Place, s.Where.Places}} {
		if same.id != "" && len(same.all) > 0 {
			return slices.Contains(same.all, same.id)
		}
	}
	return true
}

// answered are the guarantees that an answer shows and little else afterwards: what they are about has to come up outside the
// set-up, unless a step looks at boards, a journal or records since then. Of a use or a registration more remains to be read.
var answered = []string{"AUTH-1", "AUTH-2", "AUTH-3", "AUTH-4", "AUTH-5", "CMD-8", "ENT-1", "ENT-2", "ENT-3", "HRS-2", "PERM-4", "PERM-5"}

// fits reports whether a step can have shown one of the occasions; of a group, whether one of its steps that assert something
// can. late: they didn't all come before the set-up was over, which is all that a step needs of which nobody knows what it was about.
func (s *Step) fits(occasions []judge.Occasion, late bool) bool {
	asserting := slices.DeleteFunc(slices.Clone(s.Children), func(c *Step) bool { return !c.Asserts })
	if len(asserting) > 0 {
		return slices.ContainsFunc(asserting, func(c *Step) bool { return c.fits(occasions, late) })
	}
	return s.Where == nil && late || s.Where != nil && slices.ContainsFunc(occasions, s.sees)
}

// elsewhere is why none of the steps that claim a clause can have shown it, although what it is about came up: that was at
// another door, in a step about somebody else, or only before the set-up was over; "" if one can.
func (c *claimed) elsewhere(clause string, occasions []judge.Occasion, prepared int64) string {
	steps := slices.DeleteFunc(slices.Clone(c.at[clause]), func(s *Step) bool { return s.Started.UnixNano() < prepared }) // the set-up's
	late := !slices.Contains(answered, clause) || slices.ContainsFunc(occasions, func(o judge.Occasion) bool { return o.To >= prepared })
	if len(occasions) == 0 || len(steps) == 0 && late || slices.ContainsFunc(steps, func(s *Step) bool { return s.fits(occasions, late) }) {
		return ""
	}
	if !late {
		return "it claims " + clause + ", but what it is about happened only in the set-up, which is evidence for nothing: let it happen in a step that claims it"
	}
	return fmt.Sprintf("line %d claims %s, but what it is about happened elsewhere, in another step or at another door: claim it there", steps[0].Line, clause)
}
