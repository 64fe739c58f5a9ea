package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// defaultWithin is how long eventually tries.
const defaultWithin = 30 * time.Second

// tries runs a step until it holds (within, eventually), or makes sure that it
// never does (never).
func (f *fileRun) tries(ctx context.Context, sc *scope, s *Step, res *StepResult, depth int) {
	t := &trace{}
	act, end := f.run.display.step(f.file.Base(), f.run.mask.text(res.Name))
	defer end()
	x := &frame{run: f.run, file: f, scope: sc, ctx: t.on(ctx), step: s, res: res, act: act}
	within, never := time.Duration(0), time.Duration(0)
	var err error
	if s.Eventually {
		within = defaultWithin
	}
	if s.Within != nil {
		within, err = s.Within.dur(sc)
	}
	if s.Never != nil && err == nil {
		if never, err = s.Never.dur(sc); err == nil && never <= 0 {
			err = fmt.Errorf("never: %s must be longer than 0", never)
		}
	}
	if err != nil {
		setStatus(res, err)
		return
	}
	f.run.display.may(act, max(within, never))
	began, pause, tries := clock.Mono(), 20*time.Millisecond, 0
	for {
		t.again()
		tries++
		var out fields
		out, err = x.attempt(depth)
		spent := clock.Mono() - began
		again := (soft(err) || unready(err)) && spent < within
		switch {
		case never > 0 && (nobody(err) || unready(err)): // proves nothing; the last try has to
			again = spent < never
		case never > 0:
			err = x.stillFalse(err, spent)
			again = err == nil && spent < never
		}
		if again {
			if client.Pause(ctx, pause) == nil {
				pause = min(pause*3/2, time.Second)
				continue
			}
			err = cutShort(res, err, spent, max(within, never))
		}
		if never > 0 {
			chargeNever(res, err)
		} else if err == nil {
			err = x.capture(out)
		}
		if err == nil && s.asserts && !f.setup.Load() {
			x.looked()
		}
		if err == nil {
			res.Where, res.Plain = x.where(), s.plain()
			x.evidence(out)
		}
		setStatus(res, err)
		if res.Status == judge.Fail && within > 0 && tries > 1 {
			res.Detail += fmt.Sprintf("\nstill so after %.1f s (%d tries)", spent.Seconds(), tries)
		}
		if res.Status == judge.Fail && ctx.Err() == nil && depth < tried {
			f.broken.Store(true)
		}
		if bad(res.Status) && len(res.Children) == 0 {
			res.Tries = tries
			res.Exchanges, res.Evidence = t.shown(&f.run.mask), f.run.mask.evidence(out)
		}
		return
	}
}

// soft reports whether another try may succeed.
func soft(err error) bool { return is[*failure](err) || is[*vain](err) || nobody(err) }

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// unready reports whether all that is wrong is that something the run needs isn't there yet.
func unready(err error) bool {
	inv, ok := errors.AsType[*invalid](err)
	return ok && inv.again
}

// nobody reports whether the server was down, as during a restart.
func nobody(err error) bool {
	return errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrUnavailable)
}

// stillFalse is nil as long as what must never hold was evaluated and was false. A verb that fails, or an expression
// that can't be evaluated, proves nothing.
func (x *frame) stillFalse(err error, spent time.Duration) error {
	var fail *failure
	switch {
	case err == nil:
		return failed("came true after %s: %s", spent.Round(time.Millisecond), exprList(x.step.Expect))
	case errors.As(err, &fail) && fail.ofAll:
		return err
	case errors.As(err, &fail) && fail.definite:
		for i := range x.step.Expect {
			if p := x.step.Expect[i].Lacks(x.scope.child(x.last).env()); p != "" {
				return fmt.Errorf("never: %s isn't there; write ?. before a field that may be absent", p)
			}
		}
		return nil
	case soft(err):
		return fmt.Errorf("never: the expectation could not be evaluated: %s", err.Error())
	}
	return err
}

func exprList(es Exprs) string {
	return strings.Join(each.Of(es, func(e Expr) string { return e.Src }), " and ")
}

// setStatus turns an error into a status.
func setStatus(s *StepResult, err error) {
	switch {
	case err == nil:
		s.Status = judge.Pass
		return
	case is[*skipped](err):
		s.Status = judge.Skipped
	case is[*breach](err), is[*failure](err):
		s.Status = judge.Fail
	case is[*invalid](err):
		s.Status = judge.Invalid
	default:
		s.Status = judge.Blocked
	}
	s.Detail = cutWords(err.Error())
}

// attempt runs the verb once and checks the expectations.
func (x *frame) attempt(depth int) (fields, error) {
	x.res.Charges, x.res.Rest, x.res.Expects = nil, report.Charge{}, false // an earlier try's
	x.owed, x.unsure = nil, nil
	var out fields
	var err error
	if v := x.step.verb(); v != nil {
		if nested, ok := v.(*Steps); ok {
			out, err = guarded(func() (fields, error) { return nil, nested.nest(x, depth) })
		} else {
			out, err = guarded(func() (fields, error) { return x.do(v) })
		}
	}
	if err != nil {
		return out, x.insteadOf(err, out)
	}
	sc := x.with(out)
	x.last = sc.vars
	checks := []func(*scope) error{x.expectations, x.required}
	if x.step.Never != nil { // a good try ends at an expectation, and must count
		slices.Reverse(checks)
	}
	for _, check := range checks {
		if err := check(sc); err != nil {
			return out, err
		}
	}
	return out, nil
}

// required is what the run needs in order to count and doesn't have.
func (x *frame) required(sc *scope) error {
	for i := range x.step.Require {
		if err := x.step.Require[i].unmet(sc); err != nil {
			return &invalid{"require: " + err.Error(), soft(err)}
		}
	}
	return nil
}

// insteadOf is the error of a verb that had nothing to look at, or the expectation that is wrong already: a list that
// should have had two elements and has none is a failure of the target.
func (x *frame) insteadOf(err error, out fields) error {
	if _, nothing := errors.AsType[*vain](err); !nothing || out == nil || x.step.Never != nil {
		return err
	}
	sc := x.with(out)
	for i := range x.step.Expect {
		if wrong, ok := errors.AsType[*failure](x.step.Expect[i].unmet(sc)); ok && wrong.definite {
			return x.expectations(sc)
		}
	}
	return err
}

// with is the scope in which a result's fields are names, and the whole result is it.
func (x *frame) with(out fields) *scope {
	vars := maps.Clone(out)
	if vars == nil {
		vars = fields{}
	}
	vars["it"] = maps.Clone(out)
	return x.scope.child(vars)
}

// expectations returns the first that doesn't hold. Those with their own clauses are all checked, so that each is
// evidence only for its own clauses, and the others up to the first that doesn't hold. A load's broken thresholds with
// clauses of their own come first.
func (x *frame) expectations(sc *scope) (first error) {
	x.res.Expects = len(x.step.Expect) > 0
	first, general := x.owed, x.unsure
	for i := range x.step.Expect {
		e := &x.step.Expect[i]
		if general != nil && len(e.clauses) == 0 {
			continue
		}
		err := e.unmet(sc)
		x.met(e, sc, sc.vars, x.step.Never == nil, err)
		first = cmp.Or(first, err)
		if len(e.clauses) == 0 {
			general = err
			continue
		}
		own := StepResult{}
		setStatus(&own, err)
		x.res.Charges = append(x.res.Charges, report.Charge{Clauses: e.clauses, Name: e.Src, Status: own.Status, Detail: own.Detail})
	}
	if first != nil && len(x.res.Charges) > 0 {
		rest := StepResult{}
		setStatus(&rest, general)
		x.res.Rest = report.Charge{Status: rest.Status, Detail: rest.Detail}
	}
	return first
}

// capture names parts of the result. A missing part is an error: later steps would compare nothing with nothing.
func (x *frame) capture(out fields) error {
	sc := x.with(out)
	x.captured(sc)
	if x.step.Background != "" {
		x.scope.root().assign(x.step.Background, out)
		x.file.mu.Lock()
		x.file.found[x.step.Background] = true
		x.file.mu.Unlock()
	}
	for _, name := range keysOf(x.step.Capture) {
		v, err := x.step.Capture[name].value(sc)
		if err != nil {
			return fmt.Errorf("capture %s: %w", name, err)
		}
		x.scope.root().assign(name, v)
	}
	return nil
}

// each checks an expression for every element of a list, whose fields are names. A list with fewer than least elements
// (by default 1, or 0 without an expression) proves nothing.
func (x *frame) each(all *Expr, least *Num, list []any, what string) error {
	def := 1
	if all == nil {
		def = 0
	}
	if n := x.count(least, def); len(list) < n {
		return &vain{fmt.Sprintf("%s, but at least %d needed (atLeast)", amount.Many(len(list), strings.TrimSuffix(what, "s")), n)}
	}
	if all == nil {
		return nil
	}
	x.hollow = len(list) == 0
	wrong, first, definite := 0, error(nil), false
	for _, e := range list {
		m, _ := e.(map[string]any)
		sc := x.scope.child(maps.Clone(m))
		err := all.unmet(sc)
		x.met(all, sc, m, true, err)
		if err != nil {
			fail, ok := errors.AsType[*failure](err)
			definite = definite || ok && fail.definite
			if _, ok := errors.AsType[*vain](err); ok {
				return err
			}
			if wrong++; first == nil {
				first = fmt.Errorf("%w\nin %s", err, brief(e, 400))
			}
		}
	}
	if wrong > 0 {
		return &failure{text: fmt.Sprintf("%d of %s: %s", wrong, amount.Many(len(list), strings.TrimSuffix(what, "s")), first), ofAll: definite}
	}
	return nil
}

// verb is the step's verb, nil if it only has expectations.
func (v *Verbs) verb() verb {
	for _, f := range reflect.ValueOf(v).Elem().Fields() {
		if !f.IsNil() {
			return f.Interface().(verb)
		}
	}
	return nil
}

func (s *Step) verbName() string {
	return strings.Join(s.Verbs.given(), "+")
}

// title is the step's name, or one derived from what it does.
func (s *Step) title() string {
	if s.Name != "" {
		return s.Name
	}
	switch v := s.verb().(type) {
	case nil:
		return "expect " + exprList(append(slices.Clone(s.Expect), s.Require...))
	case *Steps, *VarSet, *Log:
		return fmt.Sprintf("%s (line %d)", s.verbName(), s.pos.Line)
	case interface{ title() string }:
		return strings.TrimSpace(s.verbName() + " " + v.title())
	default:
		return strings.TrimSpace(s.verbName() + " " + firstKey(reflect.ValueOf(v).Elem()))
	}
}
