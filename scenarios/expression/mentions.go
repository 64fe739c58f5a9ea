package expression

import "github.com/expr-lang/expr/ast"

// Mentions is what an expression reveals about the values that it expects.
type Mentions struct {
	Values []any    // the texts (string) and numbers (float64) in it, in order
	Fields []string // the names of fields that it reads, in order
	Search bool     // it searches texts and never mentions nil, which can't be searched
}

func mentions(n ast.Node) (m Mentions) {
	nils := false
	ast.Walk(&n, each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.NilNode:
			nils = true
		case *ast.BinaryNode:
			switch n.Operator {
			case "??":
				nils = true
			case "startsWith", "endsWith", "contains", "matches":
				m.Search = true
			}
		case *ast.StringNode:
			m.Values = append(m.Values, n.Value)
		case *ast.IntegerNode:
			m.Values = append(m.Values, float64(n.Value))
		case *ast.FloatNode:
			m.Values = append(m.Values, n.Value)
		case *ast.MemberNode:
			if p, ok := n.Property.(*ast.StringNode); ok {
				m.Fields = append(m.Fields, p.Value)
			}
		}
	}))
	m.Search = m.Search && !nils
	return m
}

// each is a visitor of nodes.
type each func(ast.Node)

// Visit implements ast.Visitor.
func (e each) Visit(n *ast.Node) { e(*n) }

// Literal reports whether the whole expression is a number, a text, true, false or nil.
func (e *Expr) Literal() bool { return e.tree != nil && constant(e.tree) }

// Call is the call of a function by its name, such as at("cut").
type Call struct {
	Name string
	Args []Arg
}

// Arg is an argument of a call.
type Arg struct {
	Pos     Pos
	Text    string // if it is a text that is written down
	IsText  bool
	Literal bool // a text, a number, true, false or nil
}

// Calls are the calls in the expression of functions that a file can call, in order; the library's own (len, all and
// the like) aren't among them.
func (e *Expr) Calls() (out []Call) {
	ast.Walk(&e.tree, each(func(n ast.Node) {
		call, ok := n.(*ast.CallNode)
		if !ok {
			return
		}
		name, ok := call.Callee.(*ast.IdentifierNode)
		if !ok {
			return
		}
		c := Call{Name: name.Value}
		for _, a := range call.Arguments {
			text, isText := a.(*ast.StringNode)
			arg := Arg{Pos: Pos{Line: e.Pos.Line, Col: e.Pos.Col + a.Location().From}, IsText: isText, Literal: constant(a)}
			if isText {
				arg.Text = text.Value
			}
			c.Args = append(c.Args, arg)
		}
		out = append(out, c)
	}))
	return out
}
