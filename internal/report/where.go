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

// elsewhere is why none of the steps that claim a clause can have shown it, although what it is about came up: that was at
// another door, or a step about somebody else; "" if one can.
func (c *claimed) elsewhere(clause string, occasions []judge.Occasion) string {
	steps := c.at[clause]
	if len(occasions) == 0 || len(steps) == 0 {
		return ""
	}
	for _, s := range steps {
		if s.Where == nil || slices.ContainsFunc(occasions, s.sees) {
			return ""
		}
	}
	return fmt.Sprintf("line %d claims %s, but what it is about happened elsewhere, in another step or at another door: claim it there", steps[0].Line, clause)
}
