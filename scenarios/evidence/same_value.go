package evidence

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/doorlab/doorlab/scenarios/expression"
)

// Copies traces names that steps define back to where their values came from, because a value compared with a copy of
// itself is equal whatever the target does. A source is an expression over names that no step defined; "" is one that
// nothing else has.
type Copies struct {
	part    func(name string) bool // of an answer
	of      map[string]string
	varying map[string]bool // by row of a table
	n       int             // values with no other source, and answers, so far
}

// NewCopies knows no names yet; part reports the names of an answer's parts.
func NewCopies(part func(name string) bool) *Copies {
	return &Copies{part: part, of: map[string]string{}, varying: map[string]bool{}}
}

// Vary says that a name has another value in each row of a table.
func (k *Copies) Vary(name string) { k.varying[name] = true }

// Give says what a name stands for from a step on: a copy of the source, or with "" a new value.
func (k *Copies) Give(name, source string) {
	if source == "" {
		k.n++
		source = fmt.Sprintf("%s %d", name, k.n)
	}
	k.of[name] = source
}

// Answer numbers an answer, from 1.
func (k *Copies) Answer() int {
	k.n++
	return k.n
}

// Source is where an expression's value comes from; "" if it involves a table's row.
func (k *Copies) Source(e *expression.Expr) string { return k.source(e.Src) }

// SourceIn is Source for an expression that sees the parts of this answer.
func (k *Copies) SourceIn(e *expression.Expr, answer int) string {
	source := k.source(e.Src)
	for name := range e.Names {
		if k.part(name) && source != "" {
			return ofAnswer(source, answer)
		}
	}
	return source
}

// Itself reports whether an expectation only compares values with copies of themselves. answer is the one that it is
// about if that isn't the step's own, otherwise 0.
func (k *Copies) Itself(e *expression.Expr, answer int) bool {
	tree, err := parser.Parse(e.Src)
	return err == nil && k.same(tree.Node, answer)
}

func (k *Copies) source(src string) string {
	tree, err := parser.Parse(src)
	if err != nil {
		return ""
	}
	varies := false
	ast.Walk(&tree.Node, visitor(func(n ast.Node) {
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

func ofAnswer(source string, answer int) string {
	return fmt.Sprintf("%s of answer %d", source, answer)
}

func (k *Copies) same(n ast.Node, answer int) bool {
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

func (k *Copies) side(n ast.Node, answer int) string {
	source := k.source(n.String())
	part := false
	ast.Walk(&n, visitor(func(n ast.Node) {
		id, ok := n.(*ast.IdentifierNode)
		part = part || ok && k.part(id.Value)
	}))
	if answer > 0 && part && source != "" {
		return ofAnswer(source, answer)
	}
	return source
}

// visitor visits nodes.
type visitor func(ast.Node)

// Visit implements ast.Visitor.
func (v visitor) Visit(n *ast.Node) { v(*n) }
