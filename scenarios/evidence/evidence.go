// Package evidence decides what in a scenario says anything about the target. It has the rules, and asks nobody; the
// engine applies them to the steps of a file.
//
// Could an expectation have come out differently? One that holds whatever the target answers ("status > 0", "len(x) >=
// 0", "a or not a", a pattern that fits everything) shows nothing. So wherever one is met, the parts of the answer that
// it speaks of are replaced by others that the target could have given; unless one of them breaks the expectation, or a
// real answer has, the file is INVALID. The engine tells a Watch of every expectation that it meets, and a Past where
// the file's names come from; at the end, the Watch has what was no evidence.
//
// Would the opposite have done as well? Opposites and OppositeDecisions are what the target might have answered or
// decided instead.
//
// Which guarantees can it be evidence for? OfVerb, OfRequest and OfReason say what a verb, a request and a decision
// have to do with a clause.
//
// Can it fail at all? Truism, RefersOnlyTo, Copies and FitsMost find what can't, before anything runs.
package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// Watch records which expectations of a file could have come out differently, and which steps had evidence. The zero
// Watch is empty. Steps may use it at the same time.
type Watch struct {
	mu     sync.Mutex
	seen   map[*expression.Expr]*watched
	hollow map[any]*hollow // nil for steps that once had evidence
	values map[any]*valued // what steps with evidence say of the values that they found
}

type watched struct {
	differs bool           // it once came out differently, or would have with another answer
	at      []*report.Step // where it came out as expected
	hint    string         // why it may not say what the file means
}

// hollow is a step that passed without evidence for what it claims.
type hollow struct {
	res    *report.Step
	line   int
	claims []string
	why    string
}

// Met notes an expectation that was evaluated in a step, and whether it came out as the file wants. view is asked
// only if it isn't known yet that the expectation could have come out differently. In a table, it may be idle in some
// of the rows.
func (w *Watch) Met(e *expression.Expr, asWanted bool, res *report.Step, view func() View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[*expression.Expr]*watched{}
	}
	one := each.Made(w.seen, e, func() *watched { return &watched{} })
	if one.differs = one.differs || !asWanted; !one.differs {
		v := view()
		v.expr = e
		one.differs, one.hint = !v.decided() && v.couldDiffer(), v.Hint
	}
	if !one.differs {
		one.at = append(one.at, res)
	}
}

// Passed notes a step that passed and claims clauses; why says what it lacked to be evidence for them, "" if it had
// some. step identifies the step in the file, which begins at line; the rows of its table share it, and one with
// evidence is enough.
func (w *Watch) Passed(step any, line int, res *report.Step, claims []string, why string) {
	if len(claims) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hollow == nil {
		w.hollow = map[any]*hollow{}
	}
	if was, there := w.hollow[step]; why == "" || there && was == nil {
		w.hollow[step] = nil
	} else {
		w.hollow[step] = &hollow{res, line, claims, why}
	}
}

// Before remembers which of these steps had evidence, so that what they find in a try that doesn't count can be taken
// back.
func (w *Watch) Before(steps []any) (takeBack func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := map[any]*hollow{}
	for _, s := range steps {
		if h, there := w.hollow[s]; there {
			was[s] = h
		}
	}
	values := maps.Clone(w.values)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, s := range steps {
			delete(w.hollow, s)
			if h, there := was[s]; there {
				w.hollow[s] = h
			}
			delete(w.values, s)
			if v, there := values[s]; there {
				w.values[s] = v
			}
		}
	}
}

// Idle are the expectations that nothing the target did could have changed, and the steps that claimed clauses without
// evidence: INVALID, in the order of the file. Steps with such an expectation no longer assert anything.
func (w *Watch) Idle() (out []*report.Step) {
	for e, one := range w.seen {
		if one.differs || len(one.at) == 0 {
			continue
		}
		for _, s := range one.at {
			s.Asserts = false
		}
		out = append(out, &report.Step{Name: "expect " + e.Src, Line: e.Pos.Line, Status: judge.Invalid,
			Detail: "this gives the same result whatever the target answers" + one.hint})
	}
	for _, h := range w.hollow {
		if h != nil {
			out = append(out, &report.Step{Name: h.res.Name, Line: h.line, Status: judge.Invalid,
				Detail: h.why + ", so it isn't evidence for " + strings.Join(h.claims, ", ")})
		}
	}
	out = append(out, w.indifferent()...)
	slices.SortFunc(out, func(a, b *report.Step) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Name, b.Name)) })
	return out
}
