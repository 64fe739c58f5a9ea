package expression

import "github.com/expr-lang/expr/ast"

// Mentions is what an expression reveals about the values that it expects.
type Mentions struct {
	Values []any            // the texts (string) and numbers (float64) in it, in order
	Fields []string         // the names of fields that it reads, in order
	Outer  []string         // those of which it reads a field
	Beside map[string][]any // by field, the texts and numbers that it stands beside: what it is compared with
	Search bool             // it searches texts and never mentions nil, which can't be searched
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
			m.beside(n.Left, n.Right)
			m.beside(n.Right, n.Left)
		case *ast.MemberNode:
			f, ok := field(n)
			if !ok {
				return
			}
			m.Fields = append(m.Fields, f)
			if of, ok := field(n.Node); ok {
				m.Outer = append(m.Outer, of)
			}
		}
	}))
	m.Values = values(n, nil)
	m.Search = m.Search && !nils
	return m
}

// beside adds what a field stands beside: to the values of f, if it is a field.
func (m *Mentions) beside(f, value ast.Node) {
	name, ok := field(f)
	if !ok {
		return
	}
	if m.Beside == nil {
		m.Beside = map[string][]any{}
	}
	names := map[ast.Node]bool{} // of other fields: they are no values
	ast.Walk(&value, each(func(n ast.Node) {
		if m, ok := n.(*ast.MemberNode); ok {
			names[m.Property] = true
		}
	}))
	m.Beside[name] = append(m.Beside[name], values(value, names)...)
}

// field is the name of the field that a node reads.
func field(n ast.Node) (name string, ok bool) {
	if c, chain := n.(*ast.ChainNode); chain {
		n = c.Node
	}
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return "", false
	}
	p, ok := m.Property.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return p.Value, true
}

// values are the texts (string) and numbers (float64) in it, in order, without some nodes.
func values(n ast.Node, without map[ast.Node]bool) (out []any) {
	ast.Walk(&n, each(func(n ast.Node) {
		if without[n] {
			return
		}
		switch n := n.(type) {
		case *ast.StringNode:
			out = append(out, n.Value)
		case *ast.IntegerNode:
			out = append(out, float64(n.Value))
		case *ast.FloatNode:
			out = append(out, n.Value)
		}
	}))
	return out
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
