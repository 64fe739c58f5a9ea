package engine

import (
	"github.com/doorlab/doorlab/scenarios/evidence"
)

// copies are what the file's steps tell evidence.Copies.
type copies struct {
	*evidence.Copies
	answers map[*Step]int // numbers: a wait has the answer of the step that it waits for
}

func newCopies() copies {
	return copies{evidence.NewCopies(func(name string) bool { return name == "it" || resultFields[name] }), map[*Step]int{}}
}

// before processes what a step does before its expectations are checked.
func (k *copies) before(s *Step) {
	if s.Cases != nil {
		for n := range s.Cases.columns() {
			k.Vary(n)
		}
	}
	k.forget(s.nested()) // it may be repeated, with the values left at its end
	if s.Verbs.Cohort == nil {
		k.Give(s.Verbs.naming().raw, "")
	}
	if s.Verbs.Set == nil {
		return
	}
	given := map[string]string{}
	for n, v := range *s.Verbs.Set {
		given[n] = ""
		if t, ok := v.v.(Text); ok && len(t.parts) == 1 && t.parts[0].expr != nil {
			given[n] = k.Source(&t.parts[0].expr.Expr)
		}
	}
	k.give(given)
}

// give is Give for names that a step gives at once.
func (k *copies) give(sources map[string]string) {
	for n, source := range sources {
		k.Give(n, source)
	}
}

// after processes a step's captures.
func (k *copies) after(s *Step) {
	given := map[string]string{}
	answer := k.Answer()
	if s.waits != nil {
		answer = k.answers[s.waits]
	}
	k.answers[s] = answer
	for n, e := range s.Capture {
		given[n] = k.SourceIn(&e.Expr, answer)
	}
	k.give(given)
}

// forget drops what is known of names that steps define.
func (k *copies) forget(steps []Step) {
	for i := range steps {
		s := &steps[i]
		for n := range s.Capture {
			k.Give(n, "")
		}
		if s.Verbs.Set != nil {
			for n := range *s.Verbs.Set {
				k.Give(n, "")
			}
		}
		if s.Verbs.Cohort == nil {
			k.Give(s.Verbs.naming().raw, "")
		}
		k.forget(s.nested())
	}
}

// naming is the name of the person, people, key or boards that a verb gives or changes.
func (v *Verbs) naming() (n Name) {
	switch v := v.verb().(type) {
	case *Permit:
		return v.Person
	case *Membership:
		return v.Person
	case *Reservation:
		return v.Person
	case *Bulk:
		return v.Name
	case *Cohort:
		return v.Name
	case *Key:
		return v.Name
	}
	return n
}

// own adds the names, and parts of people, that no answer influences.
func (v *Verbs) own(fixed map[string]bool) {
	name, parts := v.naming().raw, []string{".name", ".phone", ".tail", ".place", ".ref", ".scopes", ".doors"}
	switch {
	case v.Cohort != nil:
		parts = []string{""}
	case v.Bulk != nil:
		parts = []string{".people", ".kept", ".revoked", ".count"}
	}
	for _, part := range parts {
		fixed[name+part] = name != ""
	}
}
