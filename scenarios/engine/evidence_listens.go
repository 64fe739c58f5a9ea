package engine

import (
	"slices"

	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// That the server or the control listener answers is no evidence, however it is written: by a path from a template, a
// captured status, a wait, or an expectation.

// alive reports whether the step's answer only shows that the server listens.
func (x *frame) alive() bool {
	w := x.step.Verbs.Wait
	if w == nil {
		return x.lives
	}
	result := &expression.Expr{Names: map[string]Pos{w.For: {}}}
	return x.file.past.OnlyListens(result, x.fixed)
}

// onlyReached reports whether an expression about a request to the control API shows no more than that the listener
// works: that it succeeded, or led nowhere.
func (x *frame) onlyReached(e *expression.Expr, out fields) bool {
	c := x.step.asked().Verbs.Control
	if c == nil || !evidence.SpeaksOnlyOfRefusal(e, x.fixed) {
		return false
	}
	status, err := expression.Number(out["status"])
	return err == nil && (status < 400 || status == 404 || status == 405)
}

// listens reports whether all that the step found is that somebody listens.
func (x *frame) listens(out fields) bool {
	s := x.step
	if x.alive() {
		return true
	}
	if c := s.asked().Verbs.Control; len(s.Expect) == 0 || s.verb() != nil && s.Verbs.Wait == nil && c == nil || c != nil && (c.refused() || !c.succeeds()) {
		return false // what else the step does may show more
	}
	return !slices.ContainsFunc(s.Expect, func(e Expr) bool {
		return !x.onlyReached(&e.Expr, out) && !x.file.past.OnlyListens(&e.Expr, x.fixed)
	})
}
