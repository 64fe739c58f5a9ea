package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// unread are the steps that have an unknown key or aren't mappings: a name that one of them would have defined isn't missing
// as well.
type unread []stretch

// stretch is a step's part of the file, from line first to the one before end.
type stretch struct {
	first, end int
	text       string
}

// unreadOf finds such steps among the problems so far. A step ends where the next one begins.
func unreadOf(problems []strictyaml.Problem, d *Doc, source string) (out unread) {
	lines := strings.Split(source, "\n")
	starts := []int{len(lines) + 1}
	eachStep(func(s *Step) { starts = append(starts, s.pos.Line) }, d.Setup, d.Steps)
	slices.Sort(starts)
	for _, p := range problems {
		next, _ := slices.BinarySearch(starts, p.Line+1)
		if next > 0 && next < len(starts) && (strings.HasPrefix(p.Message, "unknown key") || strings.HasPrefix(p.Message, "expected a mapping")) {
			first, end := starts[next-1], starts[next]
			out = append(out, stretch{first, end, strings.Join(lines[first-1:end-1], "\n")})
		}
	}
	return out
}

func (s stretch) has(pos Pos) bool { return s.first <= pos.Line && pos.Line < s.end }

// at reports whether the step at a position is such a step.
func (u unread) at(pos Pos) bool {
	return slices.ContainsFunc(u, func(s stretch) bool { return s.has(pos) })
}

// names reports whether such a step, other than the one at the position, has a word in it.
func (u unread) names(word string, pos Pos) bool {
	return slices.ContainsFunc(u, func(s stretch) bool { return !s.has(pos) && expression.WordsIn(s.text, word) > 0 })
}

// undefined reports names that nothing in the file defines, each once.
func (c *checker) undefined() {
	told := map[string]bool{}
	for _, u := range notes(c.b).uses {
		defined := map[string]map[string]bool{"label": c.labels, "background": c.backgrounds}[u.kind]
		if defined[u.name] || told[u.kind+u.name] || c.unread.names(u.name, u.pos) {
			continue
		}
		told[u.kind+u.name] = true
		hint := near.Hints(u.name, keysOf(defined))
		if hint == "" && u.kind == "label" {
			hint = "; a moment is now, a mark, +48h or an RFC 3339 time"
		}
		c.b.Problem(u.pos, "%s%s", nowhere(u), hint)
	}
	own := slices.DeleteFunc(keysOf(c.names), func(n string) bool { return builtins[n] }) // all that a reference can name
	maps.Copy(c.names, resultFields)
	maps.Copy(c.names, evidence.ElementFields)
	all := keysOf(c.names)
	for _, e := range notes(c.b).exprs {
		valid := own
		if !e.ref {
			valid = all
		}
		for n, pos := range e.Names {
			if c.names[n] || expression.Builtin(n) || told[n] || c.unread.names(n, pos) {
				continue
			}
			told[n] = true
			hint := near.Hints(n, valid)
			if w := elsewhere[n]; w != "" && !e.ref {
				hint = ", write " + w
			} else if e.ref && near.Name(n, valid) == "" {
				hint = howToDefine(own)
			}
			c.b.Problem(pos, "unknown name %q%s", n, hint)
		}
	}
}

// howToDefine says how to define a name, and which names a file has if they are few: they may be only people where a door is
// missing.
func howToDefine(own []string) string {
	says := "; define it in a cohort, permit or set step, or write an id"
	if len(own) > 0 && len(own) <= 6 {
		says += " (this file defines " + strings.Join(slices.Sorted(slices.Values(own)), ", ") + ")"
	}
	return says
}

// elsewhere are words of other languages, and what an expression calls them.
var elsewhere = map[string]string{"null": "nil", "NULL": "nil", "None": "nil", "undefined": "nil", "True": "true", "False": "false"}

// nowhere says that nothing in the file has this name.
func nowhere(u use) string {
	if u.kind == "label" {
		return `no mark "` + u.name + `" in this file`
	}
	says := `no background step named "` + u.name + `" in this file`
	if _, err := duration(u.name); err == nil {
		says += "; to let time pass, use clock: {advance: " + u.name + "}"
	}
	return says
}
