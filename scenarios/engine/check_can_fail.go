package engine

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// What may count as evidence: a step asserts something if its outcome depends on what the target did. Log lines,
// pauses, jumps, reads without an expectation and expectations that refer to no answer prove nothing, whatever they
// claim.

// vacuous reports steps that could never fail, as far as the file alone shows it.
func (c *checker) vacuous(d *Doc) {
	if len(d.Steps) == 0 && !c.b.Failed() {
		c.b.Problem(d.pos, "steps is empty: nothing would be checked")
	}
	fixed := maps.Clone(builtins)
	fixed["it"] = false
	for n := range d.Vars {
		fixed[n] = true
	}
	c.copies, c.did = newCopies(), deeds(d)
	for _, list := range [][]Step{d.Setup, d.Steps} {
		c.empty(list, fixed)
	}
	c.claimsWithoutStep(d)
}

// empty walks steps; fixed are names whose values the target doesn't influence.
func (c *checker) empty(steps []Step, fixed map[string]bool) {
	for i := range steps {
		s := &steps[i]
		s.fixed = maps.Clone(s.columns(fixed))
		c.copies.before(s)
		if w := s.Verbs.Wait; w != nil {
			s.waits = c.running[w.For]
		}
		if in, ok := s.verb().(*Steps); ok {
			if len(*in) == 0 {
				c.b.Problem(s.pos, "%s has no steps: nothing would be checked", s.verbName())
			}
			for j := range *in {
				(*in)[j].outer = slices.Concat(s.outer, s.ownClaims())
			}
			c.inside(*in, s, fixed)
		}
		c.atLeastOnce(&s.Verbs)
		if s.If != nil && evidence.RefersOnlyTo(&s.If.Expr, nil) {
			c.b.Problem(s.If.Pos, "if: %s is the same in every run: leave it out, or name what decides whether the step runs", s.If.Src)
		}
		s.Verbs.own(fixed)
		if s.Verbs.Set != nil {
			for n, v := range *s.Verbs.Set {
				fixed[n] = v.constant(fixed)
			}
		}
		for i := range s.Expect {
			s.Expect[i].copies = c.copies.Itself(&s.Expect[i].Expr, c.copies.answers[s.waits])
		}
		c.copies.after(s)
		known := s.columns(fixed)
		seen := s.unhidden(known)
		s.asserts = s.assertive(seen)
		for n, e := range s.Capture {
			fixed[n] = evidence.RefersOnlyTo(&e.Expr, s.decided(seen))
		}
		if s.Background != "" {
			c.running[s.Background] = s
		}
		c.fitsAll(s)
		c.nothingUnexpected(s)
		c.claimsNothing(s)
		for i := range s.Expect {
			s.Expect[i].still = s.Expect[i].copies || evidence.RefersOnlyTo(&s.Expect[i].Expr, known)
		}
		if all := s.Verbs.all(); all != nil {
			all.still = evidence.RefersOnlyTo(&all.Expr, known)
		}
		if d := s.Never; d != nil && shorter(d, shortestNever) {
			c.b.Problem(d.pos, "never must last at least %s: nothing can happen in less time", shortestNever)
		}
	}
}

// inside walks the steps in a group, which see the columns of its table.
func (c *checker) inside(steps []Step, s *Step, fixed map[string]bool) {
	known := s.columns(fixed)
	if s.Cases == nil {
		c.empty(steps, known)
		return
	}
	known = maps.Clone(known)
	columns := s.columns(map[string]bool{})
	c.empty(steps, known)
	for n, v := range known {
		if !columns[n] {
			fixed[n] = v
		}
	}
}

// atLeastOnce reports a step that is to be done zero times, or more often than any machine can.
func (c *checker) atLeastOnce(v *Verbs) {
	counts, most := map[string]*Num{}, map[string]int{"times": mostTimes, "together": mostTogether}
	if of, ok := v.verb().(interface{ often() Repeat }); ok {
		counts["times"], counts["together"] = of.often().Times, of.often().Together
	}
	if v.PresentEach != nil {
		counts["most"] = v.PresentEach.Most
	}
	for _, name := range keysOf(counts) {
		f, ok := counts[name].literal()
		switch bound := most[name]; {
		case ok && (f < 1 || f != math.Trunc(f)):
			c.b.Problem(counts[name].pos, "%s must be at least 1, and whole", name)
		case ok && bound > 0 && f > float64(bound):
			c.b.Problem(counts[name].pos, "%s must be at most %s", name, amount.Number(int64(bound)))
		}
	}
}

// assertive reports whether the step can fail because of what the target does.
func (s *Step) assertive(fixed map[string]bool) bool {
	v := &s.asked().Verbs
	fixed = s.decided(fixed)
	if v.alive() {
		return false
	}
	for _, e := range s.Expect {
		if !e.idle(fixed) {
			return true
		}
	}
	switch v = &s.Verbs; {
	case v.Wait != nil:
		return s.waits != nil && s.waits.asserts
	case s.eitherWay():
		return false
	case v.Call != nil, v.Command != nil, v.Permit != nil, v.Revoke != nil, v.Link != nil, v.Netloss != nil, v.Policy != nil, v.Hours != nil,
		v.Synced != nil, v.Bulk != nil, v.Membership != nil, v.Reservation != nil:
		return true // without an expectation of its own the status must be right
	case v.Present != nil:
		return v.Present.Result.set() || v.Present.Reason.set()
	case v.PresentEach != nil:
		return v.PresentEach.expects()
	case v.Phone != nil:
		return v.Phone.Result.set() || v.Phone.Reason.set() || v.Phone.Answered != nil || len(v.Phone.Status) > 0 || v.Phone.Quiet
	case v.Boards != nil, v.Journal != nil, v.Records != nil, v.Events != nil:
		all := v.all()
		return all != nil && !evidence.Truism(&all.Expr)
	case v.Control != nil:
		return v.Control.refused() || v.Control.finds()
	case v.MQTT != nil:
		return v.MQTT.asserts()
	case v.Load != nil:
		return v.Load.Plan.Limits()
	}
	return slices.ContainsFunc(v.nested(), func(s Step) bool { return s.asserts })
}

// unhidden are the fixed names that the parts of the step's result may not hide. Which of them they do hide is found out
// when its expectations are met.
func (s *Step) unhidden(fixed map[string]bool) map[string]bool {
	if s.verb() == nil || s.nested() != nil {
		return fixed
	}
	out := maps.Clone(fixed)
	maps.DeleteFunc(out, func(n string, _ bool) bool { return resultFields[n] })
	return out
}

// decided adds to the fixed names the parts of the step's result that the lab or a load's generator decides.
func (s *Step) decided(fixed map[string]bool) map[string]bool {
	own := map[string]bool(nil)
	switch v := &s.asked().Verbs; {
	case v.lab(), v.Crash != nil, v.Control != nil && v.Control.ofTheLab():
		own = resultFields
	case v.Load != nil:
		own = generated
	case v.Tell != nil && v.Tell.Send == "":
		own = evidence.SetOf("said journal dropped sessionMs") // nothing was said
	default:
		return fixed
	}
	fixed = maps.Clone(fixed)
	maps.Copy(fixed, own)
	return fixed
}

// generated are the results of a load that its generator decides, or derives from the thresholds, whatever the target
// answers.
var generated = evidence.SetOf(`sent sentRate repeats lag verdict thresholds`)

// idle reports whether an expectation holds whatever the target does: it refers only to fixed values, or only says that
// a count isn't negative.
func (e *Expr) idle(fixed map[string]bool) bool {
	return e.copies || evidence.RefersOnlyTo(&e.Expr, fixed) || evidence.Truism(&e.Expr)
}

// constant reports whether a value is the same whatever the target does.
func (a Any) constant(fixed map[string]bool) bool {
	return !slices.ContainsFunc(a.exprs(), func(e *expression.Expr) bool { return !evidence.RefersOnlyTo(e, fixed) })
}

// columns are the fixed names within a table: also its columns, if the table is in the file.
func (s *Step) columns(fixed map[string]bool) map[string]bool {
	if s.Cases == nil || !s.Cases.constant(fixed) {
		return fixed
	}
	out := maps.Clone(fixed)
	for n := range s.Cases.columns() {
		out[n] = out[n] || !resultFields[n] || s.verbName() == "" // the result's own field counts, if there is a result
	}
	return out
}

// all is the condition for each element that the verb reads.
func (v *Verbs) all() *Expr {
	switch {
	case v.Boards != nil:
		return v.Boards.All
	case v.Journal != nil:
		return v.Journal.All
	case v.Records != nil:
		return v.Records.All
	case v.Events != nil:
		return v.Events.All
	}
	return nil
}

// shortestNever is how long something must fail to happen to be worth saying.
const shortestNever = 10 * time.Millisecond

// shorter reports whether a duration is known before the run, and shorter than least.
func shorter(d *Dur, least time.Duration) bool {
	text, literal := d.Literal()
	t, err := duration(text)
	return literal && err == nil && t < least
}
