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

// notAhead makes the revisions of a board of which one was changed possible.
func notAhead(board map[string]any, changed string) {
	other := ""
	switch changed {
	case "appliedRevision":
		other = "desiredRevision"
	case "desiredRevision":
		other = "appliedRevision"
	default:
		return
	}
	applied, err := expression.Number(board["appliedRevision"])
	desired, err2 := expression.Number(board["desiredRevision"])
	if err != nil || err2 != nil || applied <= desired {
		return
	}
	n, _ := expression.Number(board[changed])
	board[other] = as(board[other], n)
}

// fromOne are fields that begin at 1.
var fromOne = SetOf(`boot epoch seq sessionMs`)

// tooLow reports a value that such a field never has.
func tooLow(field string, v any) bool {
	if !fromOne[field] { // what isn't a number would be written into an error
		return false
	}
	n, err := expression.Number(v)
	return err == nil && n < 1
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
		if fromOne[l.Value] {
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
