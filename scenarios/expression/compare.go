package expression

import (
	"reflect"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
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
		Cond: &ast.CallNode{Callee: &ast.IdentifierNode{Value: "$missing"}, Arguments: []ast.Node{b.Left, b.Right}},
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

// At is the name under which an environment has to have the function at.
const At = "$at"

// Visit implements ast.Visitor.
func (momentOf) Visit(n *ast.Node) {
	if c, ok := (*n).(*ast.CallNode); ok {
		if id, ok := c.Callee.(*ast.IdentifierNode); ok && id.Value == "at" {
			id.Value = At
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
		expr.Function("$missing", missing, new(func(any, any) bool))}
}

// missing is an error if neither side of a comparison has a value.
func missing(args ...any) (any, error) {
	if args[0] == nil && args[1] == nil {
		return nil, errMissing
	}
	return false, nil
}
