package engine

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm/runtime"
)

// An expression that compares two values that don't exist proves nothing: a field mistyped on both sides would hold.
// Such a comparison is an error unless nil is written explicitly.

// comparison replaces a == b by (missing(a, b) ? false : same(a, b)), and a != b likewise.
type comparison struct{}

// Visit implements ast.Visitor.
func (comparison) Visit(n *ast.Node) {
	b, ok := (*n).(*ast.BinaryNode)
	if !ok || b.Operator != "==" && b.Operator != "!=" || constant(b.Left) || constant(b.Right) {
		return
	}
	compared := ast.Node(&ast.CallNode{Callee: &ast.IdentifierNode{Value: "$same"}, Arguments: []ast.Node{b.Left, b.Right}})
	if b.Operator == "!=" {
		compared = &ast.UnaryNode{Operator: "not", Node: compared}
	}
	ast.Patch(n, &ast.ConditionalNode{
		Cond: &ast.CallNode{Callee: &ast.IdentifierNode{Value: "$missing"}, Arguments: []ast.Node{
			b.Left, b.Right, &ast.StringNode{Value: b.String()}}},
		Exp1: &ast.BoolNode{Value: false}, Exp2: compared,
	})
}

func constant(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.ConstantNode:
		return true
	}
	return false
}

// errMissing: both sides of a comparison are nil.
var errMissing = errors.New("both sides are missing")

// errNothing: all(...) looked at an empty list.
var errNothing = errors.New("all of an empty list always holds")

// quantifier replaces all(list, p) by ($some(list) ? all(list, p) : false).
type quantifier struct{}

// Visit implements ast.Visitor.
func (quantifier) Visit(n *ast.Node) {
	b, ok := (*n).(*ast.BuiltinNode)
	if !ok || b.Name != "all" {
		return
	}
	ast.Patch(n, &ast.ConditionalNode{
		Cond: &ast.CallNode{Callee: &ast.IdentifierNode{Value: "$some"}, Arguments: []ast.Node{b.Arguments[0]}},
		Exp1: &ast.BuiltinNode{Name: b.Name, Arguments: b.Arguments, Throws: b.Throws, Map: b.Map, Threshold: b.Threshold}, Exp2: &ast.BoolNode{Value: false},
	})
}

// momentOf has the function at(...) under another name, so that the field at of a journal's lines doesn't hide it.
type momentOf struct{}

const momentName = "$at"

// Visit implements ast.Visitor.
func (momentOf) Visit(n *ast.Node) {
	if c, ok := (*n).(*ast.CallNode); ok {
		if id, ok := c.Callee.(*ast.IdentifierNode); ok && id.Value == "at" {
			id.Value = momentName
		}
	}
}

// same compares values as JSON does: the number 1 equals 1.0, in lists and objects, too.
func same(a, b any) bool {
	x, y := reflect.ValueOf(asObject(a)), reflect.ValueOf(asObject(b))
	if x.Kind() != y.Kind() {
		return runtime.Equal(a, b)
	}
	switch x.Kind() {
	case reflect.Slice:
		if x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if !same(x.Index(i).Interface(), y.Index(i).Interface()) {
				return false
			}
		}
		return true
	case reflect.Map:
		if x.Len() != y.Len() || x.Type().Key() != y.Type().Key() {
			return false
		}
		for _, k := range x.MapKeys() {
			if other := y.MapIndex(k); !other.IsValid() || !same(x.MapIndex(k).Interface(), other.Interface()) {
				return false
			}
		}
		return true
	}
	return runtime.Equal(a, b)
}

func some(args ...any) (any, error) {
	if v := reflect.ValueOf(args[0]); v.Kind() == reflect.Slice && v.Len() == 0 {
		return nil, errNothing
	}
	return true, nil
}

func strictly() []expr.Option {
	equal := func(args ...any) (any, error) { return same(args[0], args[1]), nil }
	return []expr.Option{expr.Patch(comparison{}), expr.Patch(quantifier{}), expr.Patch(momentOf{}),
		expr.Function("$some", some, new(func(any) bool)),
		expr.Function("$same", equal, new(func(any, any) bool)),
		expr.Function("$missing", missing, new(func(any, any, string) bool))}
}

// missing is an error if neither side of a comparison has a value.
func missing(args ...any) (any, error) {
	if args[0] == nil && args[1] == nil {
		return nil, fmt.Errorf("%w in %s; if you mean a missing value, write nil", errMissing, args[2])
	}
	return false, nil
}

// certain are the paths of an expression that are read in any case: not those that
// only stand after "or", "??" or "?:", and not what ?. asks for.
func certain(n ast.Node) (out []string) {
	all := func(ns ...ast.Node) {
		for _, n := range ns {
			out = append(out, certain(n)...)
		}
	}
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}
	case *ast.MemberNode:
		if _, plain := baseOf(n); plain && !optional(n) {
			return []string{n.String()}
		}
		all(n.Node)
	case *ast.UnaryNode:
		all(n.Node)
	case *ast.BinaryNode:
		switch n.Operator {
		case "or", "||", "??", "and", "&&": // the right side may depend on the left
			all(n.Left)
			if n.Operator == "and" || n.Operator == "&&" {
				all(n.Right)
			}
		default:
			all(n.Left, n.Right)
		}
	case *ast.BuiltinNode:
		for _, a := range n.Arguments {
			if _, inner := a.(*ast.PredicateNode); !inner {
				all(a)
			}
		}
	case *ast.CallNode:
		all(n.Arguments...)
	case *ast.ConditionalNode:
		all(n.Cond)
	case *ast.SliceNode:
		all(n.Node)
	}
	return out
}

func optional(n ast.Node) bool {
	m, ok := n.(*ast.MemberNode)
	return ok && (m.Optional || optional(m.Node))
}

// lacks is a path that the expression has read although it doesn't exist, "" for none.
func (e *Expr) lacks(s *scope) string { return unreachable(e.must, s) }

// absent is the first path of an expression whose last name is missing in the value before it, "" if none is. A path
// with ?. asks whether it exists.
func (e *Expr) absent(s *scope) string { return unreachable(e.paths, s) }

func unreachable(paths []string, s *scope) string {
	env := s.env()
	for _, p := range paths {
		tree, err := parser.Parse(p)
		if err == nil && !reachable(tree.Node, env) {
			return p
		}
	}
	return ""
}

func reachable(n ast.Node, env map[string]any) bool {
	_, ok := follow(n, env)
	return ok
}

// follow reads a plain path; ok is false if it leads nowhere.
func follow(n ast.Node, env map[string]any) (v any, ok bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		v, ok = env[n.Value]
		return v, ok || exprBuiltin(n.Value)
	case *ast.ChainNode:
		v, _ = follow(n.Node, env)
		return v, true
	case *ast.MemberNode:
		in, ok := follow(n.Node, env)
		if !ok || n.Optional {
			return nil, ok
		}
		switch in := in.(type) {
		case map[string]any:
			if key, plain := n.Property.(*ast.StringNode); plain {
				v, ok = in[key.Value]
				return v, ok
			}
		case []any:
			if i, plain := n.Property.(*ast.IntegerNode); plain {
				if i.Value < 0 || i.Value >= len(in) {
					return nil, false
				}
				return in[i.Value], true
			}
		case nil:
			return nil, false
		}
		return nil, true // only the expression itself can read this
	}
	return nil, true
}

// value is eval for a result that must exist.
func (e *Expr) value(s *scope) (any, error) {
	v, err := e.eval(s)
	if err == nil && v == nil {
		if p := e.absent(s); p != "" {
			err = fmt.Errorf("%s: %s not found", e.src, p)
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
		return false, fmt.Errorf("%s is %s, not true or false", e.src, brief(v, 80))
	}
	if p := e.absent(s); p != "" {
		return false, fmt.Errorf("%s: %s not found", e.src, p)
	}
	return b, nil
}

// count is a whole number, or the default. A value that isn't one ends the verb (see guarded): if the default replaced
// it, a threshold would vanish.
func (x *frame) count(n *Num, def int) int {
	if n == nil || !n.set() {
		return def
	}
	v, err := n.num(x.scope)
	if err == nil && (v != float64(int(v)) || v < 0) {
		err = fmt.Errorf("%s is not a whole number", strconv.FormatFloat(v, 'g', -1, 64))
	}
	if err != nil {
		panic(wrongNumber{fmt.Errorf("%s: %w", n.raw, err)})
	}
	return int(v)
}

// least is count for how often something is done, at least once.
func (x *frame) least(n *Num) int {
	v := x.count(n, 1)
	if v < 1 {
		panic(wrongNumber{fmt.Errorf("%s: must be at least 1", n.raw)})
	}
	return v
}

// wrongNumber is how count aborts a verb.
type wrongNumber struct{ error }

// guarded runs a verb and returns an invalid number as its error.
func guarded(run func() (fields, error)) (out fields, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case wrongNumber:
			err = p.error
		default:
			panic(p)
		}
	}()
	return run()
}
