package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
)

// defaultWithin is how long eventually tries.
const defaultWithin = 30 * time.Second

// tries runs a step until it holds (within, eventually), or makes sure that it
// never does (never).
func (f *fileRun) tries(ctx context.Context, sc *scope, s *Step, res *StepResult, depth int) {
	x := &frame{run: f.run, file: f, scope: sc, ctx: ctx, step: s, res: res, plain: len(s.Expect) == 0}
	within, never := time.Duration(0), time.Duration(0)
	var err error
	if s.Eventually {
		within = defaultWithin
	}
	if s.Within != nil {
		within, err = s.Within.dur(sc)
	}
	if s.Never != nil && err == nil {
		never, err = s.Never.dur(sc)
	}
	if err != nil {
		res.settle(err)
		return
	}
	began, pause := clock.Mono(), 20*time.Millisecond
	for {
		x.quick = clock.Mono()-began < within
		var out fields
		out, err = x.attempt(depth)
		spent := clock.Mono() - began
		var fail *failure
		soft := errors.As(err, &fail)
		switch {
		case never > 0 && err == nil:
			err = failed("came true after %s: %s", spent.Round(time.Millisecond), exprList(s.Expect))
		case never > 0 && soft && spent < never, never == 0 && soft && spent < within:
			if sleep(ctx, pause) == nil {
				pause = min(pause*3/2, time.Second)
				continue
			}
		case never > 0 && soft:
			err = nil
		}
		if err == nil {
			x.capture(out)
		}
		res.settle(err)
		return
	}
}

func exprList(es Exprs) string {
	var out []string
	for _, e := range es {
		out = append(out, e.src)
	}
	return strings.Join(out, " and ")
}

// settle turns an error into a status.
func (s *StepResult) settle(err error) {
	var fail *failure
	var broken *breach
	var inv *invalid
	switch {
	case err == nil:
		s.Status = history.Pass
	case errors.As(err, &broken):
		s.Status, s.Detail = history.Fail, err.Error()
	case errors.As(err, &fail):
		s.Status, s.Detail = history.Fail, err.Error()
	case errors.As(err, &inv):
		s.Status, s.Detail = history.Invalid, err.Error()
	default:
		s.Status, s.Detail = history.Blocked, err.Error()
	}
}

// attempt runs the verb once and looks at the expectations.
func (x *frame) attempt(depth int) (fields, error) {
	var out fields
	var err error
	if v := x.step.verb(); v != nil {
		if nested, ok := v.(nester); ok {
			out, err = nested.nest(x, depth)
		} else {
			out, err = v.run(x)
		}
	}
	if err != nil {
		return out, err
	}
	sc := x.with(out)
	for i := range x.step.Expect {
		if ok, why := x.step.Expect[i].holds(sc); !ok {
			return out, failed("%s", why)
		}
	}
	for i := range x.step.Require {
		if ok, why := x.step.Require[i].holds(sc); !ok {
			return out, &invalid{"the run does not count: " + why}
		}
	}
	return out, nil
}

// with is the scope in which a result's fields are names, the whole is it.
func (x *frame) with(out fields) *scope {
	vars := maps.Clone(out)
	if vars == nil {
		vars = fields{}
	}
	vars["it"] = maps.Clone(out)
	return x.scope.child(vars)
}

// capture gives names to parts of the result.
func (x *frame) capture(out fields) {
	if x.step.Background != "" {
		x.scope.root().set(x.step.Background, out)
	}
	sc := x.with(out)
	for _, name := range keysOf(x.step.Capture) {
		v, err := x.step.Capture[name].eval(sc)
		if err == nil {
			x.scope.root().set(name, v)
		}
	}
}

// each checks an expression of every element of a list; the element's fields are names.
func (x *frame) each(all *Expr, list []any, what string) error {
	if all == nil {
		return nil
	}
	wrong, first := 0, ""
	for _, e := range list {
		m, _ := e.(map[string]any)
		if ok, why := all.holds(x.scope.child(maps.Clone(m))); !ok {
			if wrong++; first == "" {
				first = why + "\nin " + brief(e, 400)
			}
		}
	}
	if wrong > 0 {
		return failed("%d of %d %s: %s", wrong, len(list), what, first)
	}
	return nil
}

// nester is a verb made of steps.
type nester interface {
	nest(x *frame, depth int) (fields, error)
}

// verb is the step's verb, nil when it only expects.
func (s *Step) verb() verb {
	rv := reflect.ValueOf(&s.Verbs).Elem()
	for i := range rv.NumField() {
		if f := rv.Field(i); !f.IsNil() {
			return f.Interface().(verb)
		}
	}
	return nil
}

func (s *Step) verbName() string {
	return strings.Join(s.Verbs.given(), "+")
}

// title is the step's name, or one made of what it does.
func (s *Step) title() string {
	if s.Name != "" {
		return s.Name
	}
	v := s.verb()
	if v == nil {
		return "expect " + exprList(append(slices.Clone(s.Expect), s.Require...))
	}
	if t, ok := v.(interface{ title() string }); ok {
		return strings.TrimSpace(s.verbName() + " " + t.title())
	}
	return fmt.Sprintf("%s (line %d)", s.verbName(), s.pos.Line)
}
