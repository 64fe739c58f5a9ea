package expression

import (
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Which names and paths an expression reads, and whether they lead anywhere.

// walk reports free identifiers and the longest member paths.
func walk(n ast.Node, local map[string]bool, name func(ast.Node, string), path func(string)) {
	sub := func(ns ...ast.Node) {
		for _, c := range ns {
			if c != nil {
				walk(c, local, name, path)
			}
		}
	}
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if !local[n.Value] {
			name(n, n.Value)
			path(n.Value)
		}
	case *ast.MemberNode:
		if base, ok := baseOf(n); ok && !local[base.Value] {
			name(base, base.Value)
			path(n.String())
			return
		}
		sub(n.Node, n.Property)
	case *ast.ChainNode:
		sub(n.Node)
	case *ast.UnaryNode:
		sub(n.Node)
	case *ast.BinaryNode:
		sub(n.Left, n.Right)
	case *ast.SliceNode:
		sub(n.Node, n.From, n.To)
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			if id.Value != "at" { // a journal line has a field of that name
				name(id, id.Value)
			}
		} else {
			sub(n.Callee)
		}
		sub(n.Arguments...)
	case *ast.BuiltinNode:
		sub(n.Arguments...)
	case *ast.PredicateNode:
		walk(n.Node, local, name, func(string) {})
	case *ast.VariableDeclaratorNode:
		sub(n.Value)
		inner := map[string]bool{n.Name: true}
		for k := range local {
			inner[k] = true
		}
		walk(n.Expr, inner, name, path)
	case *ast.ConditionalNode:
		sub(n.Cond, n.Exp1, n.Exp2)
	case *ast.SequenceNode:
		sub(n.Nodes...)
	case *ast.ArrayNode:
		sub(n.Nodes...)
	case *ast.MapNode:
		sub(n.Pairs...)
	case *ast.PairNode:
		sub(n.Key, n.Value)
	}
}

// baseOf is the identifier that a plain path begins with.
func baseOf(n ast.Node) (*ast.IdentifierNode, bool) {
	for {
		switch m := n.(type) {
		case *ast.IdentifierNode:
			return m, true
		case *ast.MemberNode:
			switch m.Property.(type) {
			case *ast.StringNode, *ast.IntegerNode:
				n = m.Node
				continue
			}
			return nil, false
		case *ast.ChainNode:
			n = m.Node
		default:
			return nil, false
		}
	}
}

// reading is a path that an expression reads once these conditions hold.
type reading struct {
	path string
	when []ast.Node // the left sides of each "and" before it, and the conditions of "?:"
}

// certain are the paths of an expression that are read in any case, after an "and" whose left side holds, or in the
// branch of a "?:" that is taken: not those that only stand after "or" or "??", and not what ?. asks for.
func certain(n ast.Node) (out []reading) {
	all := func(ns ...ast.Node) {
		for _, n := range ns {
			out = append(out, certain(n)...)
		}
	}
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []reading{{path: n.Value}}
	case *ast.MemberNode:
		if _, plain := baseOf(n); plain && !optional(n) {
			return []reading{{path: n.String()}}
		}
		all(n.Node)
	case *ast.UnaryNode:
		all(n.Node)
	case *ast.BinaryNode:
		switch n.Operator {
		case "or", "||", "??", "and", "&&": // the right side may depend on the left
			all(n.Left)
			if n.Operator == "and" || n.Operator == "&&" {
				out = append(out, once(n.Left, certain(n.Right))...)
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
		out = append(out, once(n.Cond, certain(n.Exp1))...)
		out = append(out, once(&ast.UnaryNode{Operator: "not", Node: n.Cond}, certain(n.Exp2))...)
	case *ast.SliceNode:
		all(n.Node)
	case *ast.VariableDeclaratorNode:
		all(n.Value)
		for _, r := range certain(n.Expr) {
			if r, ok := r.after(n); ok {
				out = append(out, r)
			}
		}
	case *ast.ArrayNode:
		all(n.Nodes...)
	case *ast.SequenceNode:
		all(n.Nodes...)
	case *ast.MapNode:
		all(n.Pairs...)
	case *ast.PairNode:
		all(n.Value)
	}
	return out
}

// once adds a condition to what is read.
func once(holds ast.Node, in []reading) (out []reading) {
	for _, r := range in {
		out = append(out, reading{r.path, append(r.when, holds)})
	}
	return out
}

// after is the reading outside of a let: the path of what the name stands for; false if that has none.
func (r reading) after(let *ast.VariableDeclaratorNode) (reading, bool) {
	out := reading{path: r.path}
	for _, cond := range r.when {
		out.when = append(out.when, &ast.VariableDeclaratorNode{Name: let.Name, Value: let.Value, Expr: cond})
	}
	rest, inside := strings.CutPrefix(r.path, let.Name)
	if !inside || rest != "" && inWord(rest[0]) {
		return out, true
	}
	_, plain := baseOf(let.Value)
	out.path = let.Value.String() + rest
	return out, plain && !optional(let.Value)
}

func optional(n ast.Node) bool {
	m, ok := n.(*ast.MemberNode)
	return ok && (m.Optional || optional(m.Node))
}

// Lacks is a path that the expression has read although it doesn't exist, "" for none. What stands only after "or"
// or "??", after an "and" whose left side is false, in the other branch of a "?:", and what ?. asks for, may be missing.
func (e *Expr) Lacks(env map[string]any) string {
	for _, r := range e.must {
		if p := unreachable([]string{r.path}, env); p != "" && !slices.ContainsFunc(r.when, func(n ast.Node) bool { return isFalse(n, env) }) {
			return p
		}
	}
	return ""
}

// isFalse reports whether a condition in an expression is false.
func isFalse(n ast.Node, env map[string]any) bool {
	part, err := Compile(n.String())
	if err != nil {
		return false
	}
	v, err := part.Run(env)
	return err == nil && v == false
}

// Absent is the first path of the expression whose last name is missing in the value before it, "" if none is. A path
// with ?. asks whether it exists.
func (e *Expr) Absent(env map[string]any) string { return unreachable(e.Paths, env) }

func unreachable(paths []string, env map[string]any) string {
	for _, p := range paths {
		tree, err := parser.Parse(p)
		if err != nil {
			continue
		}
		if _, ok := follow(tree.Node, env); !ok {
			return p
		}
	}
	return ""
}

// follow reads a plain path; ok is false if it leads nowhere.
func follow(n ast.Node, env map[string]any) (v any, ok bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		v, ok = env[n.Value]
		return v, ok || Builtin(n.Value)
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

var builtinNames = regexp.MustCompile(`^(nil|true|false|not|in|and|or|let|env|\$env|#.*)$`)

// Builtin reports whether a name is a word of the language itself.
func Builtin(name string) bool { return builtinNames.MatchString(name) }

// PathOf are the steps of a plain path: strings for fields and ints for elements, such as ["data", "items", 0, "id"]
// for data.items[0].id. It is nil for anything else.
func PathOf(text string) []any {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil
	}
	return pathOf(tree.Node)
}

func pathOf(n ast.Node) []any {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []any{n.Value}
	case *ast.ChainNode:
		return pathOf(n.Node)
	case *ast.MemberNode:
		in := pathOf(n.Node)
		switch p := n.Property.(type) {
		case *ast.StringNode:
			return append(in, p.Value)
		case *ast.IntegerNode:
			return append(in, p.Value)
		}
	}
	return nil
}

// WordsIn counts where a text has a word, or several, as a whole. (An expression for each word took half of the time of
// reading a file.)
func WordsIn(text, word string) (n int) {
	if word == "" {
		return 0
	}
	for at := 0; ; at++ {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return n
		}
		at += i
		end := at + len(word)
		if (at == 0 || !inWord(text[at-1])) && (end == len(text) || !inWord(text[end]) || !inWord(word[len(word)-1])) {
			n++
		}
	}
}

func inWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}
