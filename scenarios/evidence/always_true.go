package evidence

import (
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// Truism reports whether an expectation says what is always so, whatever the answer: that a count isn't negative, or
// that no board is ahead of what was sent to it.
func Truism(e *expression.Expr) bool {
	tree, err := parser.Parse(e.Src)
	return err == nil && (neverNegative(tree.Node) || neverAhead(tree.Node))
}

// neverAhead recognizes "appliedRevision <= desiredRevision": what was sent is all that a board can have.
func neverAhead(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return false
	}
	l, r := lastName(b.Left), lastName(b.Right)
	return l == "appliedRevision" && b.Operator == "<=" && r == "desiredRevision" ||
		l == "desiredRevision" && b.Operator == ">=" && r == "appliedRevision"
}

// lastName is the name of an identifier or of a field; "" for anything else.
func lastName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		if p, ok := n.Property.(*ast.StringNode); ok {
			return p.Value
		}
	}
	return ""
}

// neverNegative recognizes "count >= 0", "len(x) > -1", "boot > 0" and the like.
func neverNegative(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return false
	}
	counts, least := false, 0
	switch l := b.Left.(type) {
	case *ast.IdentifierNode:
		counts = l.Value == "count" || l.Value == "total" || l.Value == "hits"
		if l.Value == "boot" || l.Value == "epoch" || l.Value == "sessionMs" { // these begin at 1
			counts, least = true, 1
		}
	case *ast.BuiltinNode:
		counts = l.Name == "len" || l.Name == "count"
	}
	switch r := b.Right.(type) {
	case *ast.IntegerNode:
		return counts && (b.Operator == ">=" && r.Value <= least || b.Operator == ">" && r.Value < least)
	case *ast.UnaryNode:
		return counts && r.Operator == "-" && (b.Operator == ">=" || b.Operator == ">")
	}
	return false
}
