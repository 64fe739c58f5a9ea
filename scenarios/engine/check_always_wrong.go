package engine

import "time"

// What can be known from a file to go wrong in every run is reported before it, not as BLOCKED or INVALID afterwards.

// values reports expectations that are no conditions and tables that are no lists.
func (c *checker) values(s *Step) {
	for _, list := range []Exprs{s.Expect, s.Require} {
		for _, e := range list {
			if e.Literal() {
				c.b.Problem(e.Pos, "%s is the same whatever happens: write a condition, such as status == 200", e.Src)
			}
		}
	}
	if s.Cases == nil || s.Cases.templated() {
		return
	}
	if _, list := s.Cases.v.([]Any); !list {
		c.b.Problem(s.Cases.pos, "cases must be a list, or a template that yields one such as ${1..5}")
	}
}

// waits reports a wait that comes before what it waits for, or a second one for the same. Steps that may be skipped, or
// run at the same time as others, aren't looked at.
func (c *checker) waits(steps []Step) {
	started, over := map[string]bool{}, map[string]bool{}
	for i := range steps {
		s := &steps[i]
		if s.Background != "" {
			started[s.Background] = true
		}
		eachStep(func(inner *Step) { started[inner.Background] = true }, s.nested())
		if s.Verbs.Wait == nil || s.If != nil || s.Background != "" {
			continue
		}
		switch name := s.Verbs.Wait.For; {
		case c.backgrounds[name] && !started[name]:
			c.b.Problem(s.pos, "%s hasn't started here: wait comes after the background step", name)
		case over[name]:
			c.b.Problem(s.pos, "%s was waited for already", name)
		default:
			over[name] = true
		}
	}
}

// nested are the steps in a step.
func (v *Verbs) nested() []Step {
	if in, ok := v.verb().(*Steps); ok {
		return *in
	}
	return nil
}

// forTime is how long a fault is armed, if that is written down.
func (f *Fault) forTime() (time.Duration, bool) {
	if _, literal := f.For.Literal(); !literal || !f.For.set() {
		return 0, false
	}
	d, err := f.For.dur(nil)
	return d, err == nil
}
