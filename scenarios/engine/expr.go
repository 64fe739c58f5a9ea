package engine

import (
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// Expr is an expression over the names of a file and the fields of the verb's result.
type Expr struct {
	expression.Expr
	clauses ClauseIDs // what this expectation alone is evidence for
	still   bool      // an expectation that refers to no answer
	copies  bool      // it compares values with copies of themselves
	ref     bool      // a reference: it names something of the file, not a part of an answer
}

func (e *Expr) BindText(b *strictyaml.Binder, src string, pos Pos) {
	if e.Bind(b, src, pos) {
		e.arguments(b)
		notes(b).expr(e)
	}
}

// eval evaluates the expression with the names that a scope has.
func (e *Expr) eval(s *scope) (any, error) { return e.Eval(s.env()) }

// unmet is nil if an expectation holds. Otherwise it is a failure that shows what was found instead; a failure to
// evaluate is not definite, and an expectation that compares nothing with nothing, or is neither true nor false, is
// *vain.
func (e *Expr) unmet(s *scope) error {
	v, err := e.eval(s)
	if _, pointless := errors.AsType[*expression.Pointless](err); pointless {
		return &vain{err.Error() + e.found(s)}
	}
	if err != nil {
		return failed("%s", err.Error()+e.found(s))
	}
	b, isBool := v.(bool)
	switch {
	case !isBool:
		return &vain{fmt.Sprintf("%s is %s, not true or false", e.Src, brief(v, 80))}
	case !b:
		return &failure{text: "expected " + e.Src + e.found(s), definite: true}
	}
	if p := e.Lacks(s.env()); p != "" {
		return &vain{fmt.Sprintf("%s is true although %s isn't there; write ?. before a field that may be absent", e.Src, p)}
	}
	return nil
}

// found shows the values of the expression's paths.
func (e *Expr) found(s *scope) string {
	var out []string
	env := s.env()
	for _, p := range e.Paths {
		path, err := expression.Compile(p)
		if err != nil {
			continue
		}
		v, err := path.Run(env)
		if missing := expression.Missing(p, env); missing != "" {
			out = append(out, "nothing at "+p+": "+missing)
		} else if err == nil && reflect.ValueOf(v).Kind() != reflect.Func {
			out = append(out, p+" = "+brief(v, 160))
		}
	}
	if len(out) == 0 {
		return e.hidden(s)
	}
	sort.Strings(out)
	return "\nfound " + strings.Join(out, "\n      ") + e.hidden(s)
}

// hidden says which names of the file the step's result hides.
func (e *Expr) hidden(s *scope) (out string) {
	if s.parent == nil { // the file's own, to which steps add names meanwhile
		return ""
	}
	if _, result := s.vars["it"]; !result {
		return ""
	}
	for _, n := range keysOf(e.Names) {
		_, own := s.vars[n]
		if _, too := s.parent.get(n); own && too && n != "it" {
			out += fmt.Sprintf("\nhere %s is part of the step's result and hides the file's own %s: give that one another name", n, n)
		}
	}
	return out
}

// value is eval for a result that must exist.
func (e *Expr) value(s *scope) (any, error) {
	v, err := e.eval(s)
	if err == nil && v == nil {
		if p := e.Absent(s.env()); p != "" {
			err = fmt.Errorf("%s: %s not found", e.Src, p)
		}
	}
	return v, err
}

// decides evaluates a condition of the file, which says nothing about the target: what can't be evaluated, or names
// something that doesn't exist, is an error.
func (e *Expr) decides(s *scope) (bool, error) {
	v, err := e.eval(s)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%s is %s, not true or false", e.Src, brief(v, 80))
	}
	if p := e.Absent(s.env()); p != "" {
		return false, fmt.Errorf("%s: %s not found", e.Src, p)
	}
	return b, nil
}
