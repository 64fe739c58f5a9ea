package engine

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Name is an identifier that a step defines.
type Name struct{ Text }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (n *Name) BindText(b *strictyaml.Binder, raw string, pos Pos) {
	n.Text.BindText(b, raw, pos)
	if err := checkName(raw); err != nil && !strings.Contains(raw, "${") {
		b.Problem(pos, "%s", err)
	}
}

// checkName checks a name that expressions shall use.
func checkName(name string) error {
	switch {
	case reserved.MatchString(name):
		return fmt.Errorf("%q is not a valid name: it is a word of the expression language", name)
	case !identifier.MatchString(name):
		return fmt.Errorf("%q is not a valid name: use only letters, digits and _", name)
	}
	return nil
}

var reserved = regexp.MustCompile(`^(and|contains|else|endsWith|false|if|in|let|matches|nil|not|or|startsWith|true)$`)

// Refs is a reference or a list of them.
type Refs []Ref

func (r *Refs) BindNode(b *strictyaml.Binder, n ast.Node) { *r = bindList[Ref](b, n) }

// ClauseIDs are guarantees, checked where they are named.
type ClauseIDs []string

func (c *ClauseIDs) BindNode(b *strictyaml.Binder, n ast.Node) {
	for _, t := range bindList[Text](b, n) {
		if judge.Promise(t.raw) == "" {
			b.Problem(t.pos, "no guarantee %q%s", t.raw, near.Hints(t.raw, judge.Clauses()))
			continue
		}
		*c = append(*c, t.raw)
	}
}

// Exprs is an expression or a list of them; one may be written as
// {that: expression, clauses: [...]}, which makes it evidence for those clauses.
type Exprs []Expr

// Expectation is the long form of an expression in a list.
type Expectation struct {
	That    *Expr     `json:"that" jsonschema:"required"`
	Clauses ClauseIDs `json:"clauses" jsonschema:"required"`
}

// BindNode implements strictyaml.NodeBinder.
func (e *Exprs) BindNode(b *strictyaml.Binder, n ast.Node) {
	n = b.Resolve(n)
	nodes := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		if nodes = seq.Values; len(nodes) == 0 {
			b.Problem(strictyaml.PosOf(n), "the list is empty: nothing would be checked")
		}
	}
	for _, n := range nodes {
		if _, long := b.Resolve(n).(ast.MapNode); !long {
			*e = append(*e, bindList[Expr](b, n)...)
			continue
		}
		var x Expectation
		if b.Bind(n, reflect.ValueOf(&x).Elem()); x.That != nil {
			x.That.clauses = x.Clauses
			*e = append(*e, *x.That)
		}
	}
}

// listOf is a value as a list: a range of numbers is one, too, and so are the doors of a permit.
func listOf(v any) (list []any, ok bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []int:
		return each.Of(v, func(n int) any { return n }), true
	case []string:
		return each.Of(v, func(s string) any { return s }), true
	}
	return nil, false
}

// Statuses is an HTTP status or a list of them.
type Statuses []Num

func (s *Statuses) BindNode(b *strictyaml.Binder, n ast.Node) { *s = bindList[Num](b, n) }

// bindList accepts one value for a list of one.
func bindList[T any, P interface {
	*T
	strictyaml.TextBinder
}](b *strictyaml.Binder, n ast.Node) []T {
	n = b.Resolve(n)
	nodes := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		nodes = seq.Values
	}
	out := make([]T, len(nodes))
	for i, e := range nodes {
		e = b.Resolve(e)
		text, ok := b.Scalar(e)
		if !ok {
			b.Problem(strictyaml.PosOf(e), "expected text, found %s", strictyaml.KindOf(e))
			continue
		}
		P(&out[i]).BindText(b, text, strictyaml.PosOf(e))
	}
	return out
}
