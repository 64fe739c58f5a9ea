package evidence

import (
	"strings"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// That a server or its control listener answers at all is evidence for nothing, under whatever name.

// says is what a given value tells of the answer that it came from.
type says int

const (
	nothing  says = iota // it came from no answer, or only by way of other names
	listens              // that somebody listens
	anything             // more
)

func saysOf(speaks, onlyListens bool) says {
	switch {
	case !speaks:
		return nothing
	case onlyListens:
		return listens
	}
	return anything
}

// most is the most that a value tells, the names that it was made of included.
func (g *given) most(seen map[*given]bool) says {
	if seen[g] {
		return nothing
	}
	seen[g] = true
	out := g.says
	for _, d := range g.deps {
		out = max(out, d.most(seen))
	}
	return out
}

// OnlyListens reports whether all that an expression tells of earlier answers is that somebody listens. fixed reports
// names that no answer influences.
func (h *Past) OnlyListens(e *expression.Expr, fixed func(name string) bool) bool {
	deps, most := h.before(e, nil), nothing
	for n := range e.Names {
		if h.onlyReached(n) && onlyParts(e, n, refusal) {
			most = max(most, listens)
		} else if g := deps[n]; g != nil {
			most = max(most, g.most(map[*given]bool{}))
		} else if !expression.Builtin(n) && !fixed(n) {
			return false
		}
	}
	return most == listens
}

func (h *Past) onlyReached(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reached[name]
}

// refusal are results that show only whether a request was refused, and why.
var refusal = SetOf(`status error message ms headers replayed`)

// SpeaksOnlyOfRefusal reports whether an expression looks at nothing else of an answer.
func SpeaksOnlyOfRefusal(e *expression.Expr, fixed func(name string) bool) bool {
	speaks := false
	for n := range e.Names {
		switch {
		case refusal[n], n == "it" && onlyParts(e, "it", refusal):
			speaks = true
		case !expression.Builtin(n) && !fixed(n):
			return false
		}
	}
	return speaks
}

// onlyParts reports whether an expression looks only at such parts of a result.
func onlyParts(e *expression.Expr, result string, parts map[string]bool) bool {
	some := false
	for _, path := range e.Paths {
		root, part, _ := strings.Cut(path, ".")
		if strings.TrimSuffix(root, "?") != result {
			continue
		}
		if part, _, _ = strings.Cut(part, "."); !parts[part] {
			return false
		}
		some = true
	}
	return some
}
