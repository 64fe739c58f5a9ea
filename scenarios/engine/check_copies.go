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
		k.Vary("row")
		rows, _ := s.Cases.v.([]Any)
		for _, r := range rows {
			cols, _ := r.v.(map[string]Any)
			for n := range cols {
				k.Vary(n)
			}
		}
	}
	for _, in := range []*Steps{s.Verbs.Group, s.Verbs.Parallel} {
		if in != nil { // it may be repeated, with the values left at its end
			k.forget(*in)
		}
	}
	for _, n := range s.Verbs.persons() {
		k.Give(n, "")
	}
	if s.Verbs.Set == nil {
		return
	}
	given := map[string]string{}
	for n, v := range *s.Verbs.Set {
		if t, ok := v.v.(Text); ok && len(t.parts) == 1 && t.parts[0].expr != nil {
			given[n] = k.Source(&t.parts[0].expr.Expr)
		} else {
			given[n] = ""
		}
	}
	for n, source := range given {
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
	for n, source := range given {
		k.Give(n, source)
	}
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
		for _, n := range s.Verbs.persons() {
			k.Give(n, "")
		}
		for _, in := range []*Steps{s.Verbs.Group, s.Verbs.Parallel} {
			if in != nil {
				k.forget(*in)
			}
		}
	}
}

// persons are the names of people and keys that a verb gives or changes.
func (v *Verbs) persons() []string {
	switch {
	case v.Permit != nil:
		return []string{v.Permit.Person.raw}
	case v.Membership != nil:
		return []string{v.Membership.Person.raw}
	case v.Reservation != nil:
		return []string{v.Reservation.Person.raw}
	case v.Bulk != nil:
		return []string{v.Bulk.Name.raw}
	case v.Key != nil:
		return []string{v.Key.Name.raw}
	}
	return nil
}

// own adds the names, and parts of people, that no answer influences.
func (v *Verbs) own(fixed map[string]bool) {
	person := ""
	switch {
	case v.Cohort != nil:
		fixed[v.Cohort.Name.raw] = true
	case v.Permit != nil:
		person = v.Permit.Person.raw
	case v.Membership != nil:
		person = v.Membership.Person.raw
	case v.Reservation != nil:
		person = v.Reservation.Person.raw
	}
	if v.Key != nil {
		person = v.Key.Name.raw
	}
	if v.Bulk != nil {
		for _, part := range []string{"people", "kept", "revoked", "count"} {
			fixed[v.Bulk.Name.raw+"."+part] = true
		}
	}
	for _, part := range []string{"name", "phone", "tail", "place", "ref", "scopes", "doors"} {
		fixed[person+"."+part] = person != ""
	}
}
