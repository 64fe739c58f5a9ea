package engine

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Expr is an expression of expr-lang/expr over the names of a file and the
// fields of the verb's result.
type Expr struct {
	node
	src     string
	prog    *vm.Program
	names   map[string]Pos // free identifiers
	clauses ClauseIDs      // what this expectation alone is evidence for
	paths   []string       // outer member paths; shown if the expectation is unmet
	must    []string       // paths that are read in any case
	known   known          // texts and numbers in it
	still   bool           // an expectation that refers to no answer
	tree    ast.Node       // as it was written
	copies  bool           // it compares values with copies of themselves
	ref     bool           // a reference: it names something of the file, not a part of an answer
}

func (e *Expr) BindText(b *strictyaml.Binder, src string, pos Pos) {
	e.src, e.pos = strings.TrimSpace(src), pos
	if e.src == "" {
		b.Problem(pos, "expression: there is nothing in it")
		return
	}
	if err := e.compile(); err != nil {
		col := pos.Col
		msg := err.Error()
		if fe, ok := errors.AsType[*file.Error](err); ok {
			col, msg = pos.Col+fe.Column, fe.Message
		}
		b.Problem(Pos{Line: pos.Line, Col: col}, "expression: %s", grammar(msg))
		return
	}
	e.arguments(b, e.tree)
	notes(b).expr(e)
}

var badToken = regexp.MustCompile(`unexpected token \w+\((".*?")\)`)

// grammar is what the parser says, in the words of somebody who writes scenarios.
func grammar(msg string) string {
	if strings.HasPrefix(msg, "unexpected token EOF") {
		return "it ends too early: unless it is in quotes, YAML ends it at a # after a space and, within { } or [ ], at a comma"
	}
	if msg == "literal not terminated" {
		return "a closing quotation mark is missing"
	}
	if msg = badToken.ReplaceAllString(msg, "unexpected $1"); msg == `unexpected "="` {
		msg += "; to compare, write =="
	}
	return msg
}

// compile parses the source and finds the names it uses. Names win over expr's builtins of the same name (count, first,
// last, one).
func (e *Expr) compile() error {
	tree, err := parser.Parse(e.src)
	if err != nil {
		return err
	}
	e.names, e.tree = map[string]Pos{}, tree.Node
	env, seen := types.Map{}, map[string]bool{}
	e.known, e.must = knownOf(tree.Node), certain(tree.Node)
	walk(tree.Node, map[string]bool{}, func(n ast.Node, id string) {
		if _, ok := e.names[id]; !ok {
			e.names[id] = Pos{Line: e.pos.Line, Col: e.pos.Col + n.Location().From}
		}
		env[id] = types.Any
	}, func(path string) {
		if !seen[path] {
			seen[path] = true
			e.paths = append(e.paths, path)
		}
	})
	e.prog, err = expr.Compile(e.src, append(strictly(), expr.Env(env), expr.AllowUndefinedVariables())...)
	return err
}

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

// eval runs the expression.
func (e *Expr) eval(s *scope) (any, error) {
	v, err := vm.Run(e.prog, s.env())
	if err != nil {
		for _, vain := range []error{errMissing, errNothing} {
			if errors.Is(err, vain) {
				return nil, fmt.Errorf("%s: %w", e.src, vain)
			}
		}
		if early, ok := errors.AsType[*unmarked](err); ok {
			return nil, fmt.Errorf("%s: %w", e.src, early)
		}
		if fe, ok := errors.AsType[*file.Error](err); ok {
			return nil, fmt.Errorf("%s: %s", e.src, plainCall(fe.Message, e.src))
		}
		return nil, fmt.Errorf("%s: %w", e.src, err)
	}
	if reflect.ValueOf(v).Kind() == reflect.Func {
		return nil, fmt.Errorf("%s is a function: call it, as in %s(\"a\")", e.src, e.src)
	}
	return asObject(v), nil
}

// asObject makes what fromPairs makes an object like any other, which can be sent; other values stay.
func asObject(v any) any {
	m, ok := v.(map[any]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[show(k)] = asObject(v)
	}
	return out
}

// plainly says what the expression library says about Go's types in the words of a scenario.
func plainly(message string) string {
	if m := notText.FindStringSubmatch(message); m != nil {
		return kindOf(m[1]) + " can't be searched like text; write json(...) around it"
	}
	if m := noField.FindStringSubmatch(message); m != nil {
		return kindOf(m[2]) + " has no field " + m[1]
	}
	if message == "invalid operation: int(string)" {
		return "text has no fields"
	}
	return message
}

var (
	notText = regexp.MustCompile(`^interface conversion: interface \{\} is (.+), not (?:string|\[\]uint8)$`)
	noField = regexp.MustCompile(`^cannot fetch (\w+) from (.+)$`)
)

// kindOf names a Go type.
func kindOf(goType string) string {
	switch {
	case strings.HasPrefix(goType, "map"):
		return "an object"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "float") || strings.HasPrefix(goType, "int"):
		return "a number"
	case goType == "bool":
		return "true or false"
	case goType == "<nil>" || goType == "nil":
		return "null"
	}
	return "text"
}

// unmet is nil if an expectation holds. Otherwise it is a failure that shows what was found instead; a failure to
// evaluate is not definite, and an expectation that compares nothing with nothing, or is neither true nor false, is
// *vain.
func (e *Expr) unmet(s *scope) error {
	v, err := e.eval(s)
	if _, early := errors.AsType[*unmarked](err); early || errors.Is(err, errMissing) || errors.Is(err, errNothing) {
		return &vain{err.Error() + e.found(s)}
	}
	if err != nil {
		return failed("%s", err.Error()+e.found(s))
	}
	b, isBool := v.(bool)
	switch {
	case !isBool:
		return &vain{fmt.Sprintf("%s is %s, not true or false", e.src, brief(v, 80))}
	case !b:
		return &failure{text: "expected " + e.src + e.found(s), definite: true}
	}
	if p := e.lacks(s); p != "" {
		return &vain{fmt.Sprintf("%s is true although %s isn't there; write ?. before a field that may be absent", e.src, p)}
	}
	return nil
}

// found shows the values of the expression's paths.
func (e *Expr) found(s *scope) string {
	var out []string
	env := s.env()
	for _, p := range e.paths {
		path, err := compileExpr(p)
		if err != nil {
			continue
		}
		v, err := vm.Run(path.prog, env)
		if err == nil && reflect.ValueOf(v).Kind() != reflect.Func {
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
	if _, result := s.vars["it"]; !result || s.parent == nil {
		return ""
	}
	for _, n := range keysOf(e.names) {
		_, own := s.vars[n]
		if _, too := s.parent.get(n); own && too && n != "it" {
			out += fmt.Sprintf("\nhere %s is part of the step's result and hides the file's own %s: give that one another name", n, n)
		}
	}
	return out
}

// compileExpr compiles an expression that isn't in a file.
func compileExpr(src string) (*Expr, error) {
	e := &Expr{src: src}
	return e, e.compile()
}
