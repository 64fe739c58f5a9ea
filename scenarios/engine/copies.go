package engine

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// A value compared with a copy of itself is equal whatever the target does. So names that steps define are traced back
// to where their values came from.

// copies are the sources of names, as expressions over names that no step defined.
type copies struct {
	of      map[string]string
	varying map[string]bool // by row of a table
	n       int             // values with no other source, so far
	answers map[*Step]int   // numbers: a wait has the answer of the step that it waits for
}

// source is an expression over what its names stand for, "" if it involves a table's row.
func (k *copies) source(src string) string {
	tree, err := parser.Parse(src)
	if err != nil {
		return ""
	}
	varies := false
	ast.Walk(&tree.Node, collect(func(n ast.Node) {
		if id, ok := n.(*ast.IdentifierNode); ok {
			varies = varies || k.varying[id.Value]
			if from := k.of[id.Value]; from != "" {
				id.Value = from
			}
		}
	}))
	if varies {
		return ""
	}
	return tree.Node.String()
}

// give remembers what a name stands for from a step on: a new value, or a copy.
func (k *copies) give(name, source string) {
	if source == "" {
		k.n++
		source = fmt.Sprintf("%s %d", name, k.n)
	}
	k.of[name] = source
}

// before processes what a step does before its expectations are checked.
func (k *copies) before(s *Step) {
	if s.Cases != nil {
		k.varying["row"] = true
		rows, _ := s.Cases.v.([]Any)
		for _, r := range rows {
			cols, _ := r.v.(map[string]Any)
			for n := range cols {
				k.varying[n] = true
			}
		}
	}
	for _, in := range []*Steps{s.Verbs.Group, s.Verbs.Parallel} {
		if in != nil { // it may be repeated, with the values left at its end
			k.forget(*in)
		}
	}
	for _, n := range s.Verbs.persons() {
		k.give(n, "")
	}
	if s.Verbs.Set == nil {
		return
	}
	given := map[string]string{}
	for n, v := range *s.Verbs.Set {
		if t, ok := v.v.(Text); ok && len(t.parts) == 1 && t.parts[0].expr != nil {
			given[n] = k.source(t.parts[0].expr.src)
		} else {
			given[n] = ""
		}
	}
	for n, source := range given {
		k.give(n, source)
	}
}

// after processes a step's captures.
func (k *copies) after(s *Step) {
	given := map[string]string{}
	k.n++
	answer := k.n
	if s.waits != nil {
		answer = k.answers[s.waits]
	}
	k.answers[s] = answer
	for n, e := range s.Capture {
		given[n] = e.ofAnswer(k.source(e.src), answer)
	}
	for n, source := range given {
		k.give(n, source)
	}
}

// ofAnswer says in the source of an expression which answer it names parts of.
func (e *Expr) ofAnswer(source string, answer int) string {
	for name := range e.names {
		if (name == "it" || resultFields[name]) && source != "" {
			return ofAnswer(source, answer)
		}
	}
	return source
}

func ofAnswer(source string, answer int) string {
	return fmt.Sprintf("%s of answer %d", source, answer)
}

// forget drops what is known of names that steps define.
func (k *copies) forget(steps []Step) {
	for i := range steps {
		s := &steps[i]
		for n := range s.Capture {
			k.give(n, "")
		}
		if s.Verbs.Set != nil {
			for n := range *s.Verbs.Set {
				k.give(n, "")
			}
		}
		for _, n := range s.Verbs.persons() {
			k.give(n, "")
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

// itself reports whether an expression of a step only compares values with copies of themselves.
func (k *copies) itself(e *Expr, s *Step) bool {
	tree, err := parser.Parse(e.src)
	return err == nil && k.same(tree.Node, k.answers[s.waits])
}

// same compares the sides of what a wait, or with answer 0 any other step, expects.
func (k *copies) same(n ast.Node, answer int) bool {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return false
	}
	switch b.Operator {
	case "and", "&&":
		return k.same(b.Left, answer) && k.same(b.Right, answer)
	case "or", "||":
		return k.same(b.Left, answer) || k.same(b.Right, answer)
	case "==", "<=", ">=":
		left := k.side(b.Left, answer)
		return left != "" && left == k.side(b.Right, answer)
	}
	return false
}

func (k *copies) side(n ast.Node, answer int) string {
	source := k.source(n.String())
	part := false
	ast.Walk(&n, collect(func(n ast.Node) {
		id, ok := n.(*ast.IdentifierNode)
		part = part || ok && (id.Value == "it" || resultFields[id.Value])
	}))
	if answer > 0 && part && source != "" {
		return ofAnswer(source, answer)
	}
	return source
}

// ownParts reports whether the expression uses only those parts of a value that the file itself provided.
func (e *Expr) ownParts(name string, fixed map[string]bool) bool {
	parts := 0
	for _, path := range e.paths {
		if root, _, _ := strings.Cut(path, "."); root != name {
			continue
		}
		if !fixed[path] {
			return false
		}
		parts++
	}
	return parts > 0
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
