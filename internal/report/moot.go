package report

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/judge"
)

// telling are the occasions of a clause without those of which the steps at that time show nothing, and why if none is left. What
// another step may have shown at the same time stays.
func telling(clause string, occasions []judge.Occasion, steps []*Step) (out []judge.Occasion, why string) {
	all := leaves(steps)
	for _, o := range occasions {
		var moot *Step
		shown := false
		for _, s := range all {
			from := s.Started.UnixNano()
			switch during := o.From >= from && o.To <= from+int64(s.Seconds*1e9); {
			case !during:
			case s.Moot[clause] == "":
				shown = true
			default:
				moot = s
			}
		}
		if shown || moot == nil {
			out = append(out, o)
		} else {
			why = fmt.Sprintf("it claims %s, but %s (line %d), so that isn't evidence for it", clause, moot.Moot[clause], moot.Line)
		}
	}
	if len(out) > 0 {
		why = ""
	}
	return out, why
}

// mute is why none of the steps that claim a clause shows anything of it; "" if one may, or if none claims it.
func (c *claimed) mute(clause string) string {
	why := ""
	for _, s := range leaves(c.at[clause]) {
		if s.Moot[clause] == "" {
			return ""
		}
		why = fmt.Sprintf("line %d claims %s, but %s, so that isn't evidence for it", s.Line, clause, s.Moot[clause])
	}
	return why
}

// leaves are the steps that do something themselves.
func leaves(steps []*Step) (out []*Step) {
	for _, s := range steps {
		if len(s.Children) == 0 {
			out = append(out, s)
		}
		out = slices.Concat(out, leaves(s.Children))
	}
	return out
}
