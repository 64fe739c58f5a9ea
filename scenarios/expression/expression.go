// Package expression is the language of conditions and computed values in scenario files: expr-lang's, over the names
// of a file and the fields of a step's result. It is stricter than the library: a comparison of two missing values
// and all(...) of an empty list are errors, numbers compare as in JSON, and messages speak of objects, lists and text
// instead of Go's types. It knows neither steps nor targets.
package expression

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Pos is a place in a file.
type Pos = strictyaml.Pos

// Expr is one expression. Its fields are set by Bind and Compile.
type Expr struct {
	Src      string         // as written, without surrounding space
	Pos      Pos            // where it begins in its file
	Names    map[string]Pos // free identifiers, and where each is used first
	Paths    []string       // the longest paths outside of predicates, such as data.items[0].id; each once
	Mentions Mentions       // texts, numbers and names of fields in it

	must []reading // paths that are read, not only perhaps
	tree ast.Node  // as written
	prog *vm.Program
}

// Bind reads an expression of a file and reports what is wrong with its syntax to b; ok is false if something is.
func (e *Expr) Bind(b *strictyaml.Binder, src string, pos Pos) (ok bool) {
	e.Src, e.Pos = strings.TrimSpace(src), pos
	if e.Src == "" {
		b.Problem(pos, "the expression is empty; write a condition, such as status == 200")
		return false
	}
	err := e.compile()
	if err == nil {
		return true
	}
	col, msg := pos.Col, err.Error()
	if fe, is := errors.AsType[*file.Error](err); is {
		col, msg = pos.Col+fe.Column, fe.Message
	}
	b.Problem(Pos{Line: pos.Line, Col: col}, "expression: %s", grammar(msg))
	return false
}

// Compile reads an expression that isn't in a file. The error is the library's.
func Compile(src string) (*Expr, error) {
	e := &Expr{Src: src}
	return e, e.compile()
}

var (
	badToken  = regexp.MustCompile(`unexpected token \w+\((".*?")\)`)
	badNumber = regexp.MustCompile(`^invalid \w+ literal: strconv\.\w+: parsing "(.*?)": value out of range$`)
)

// grammar is what the parser says, in the words of somebody who writes scenarios.
func grammar(msg string) string {
	if strings.HasPrefix(msg, "unexpected token EOF") {
		return "it ends too early: unless it is in quotes, YAML ends it at a # after a space and, within { } or [ ], at a comma"
	}
	if msg == "literal not terminated" {
		return "a closing quotation mark is missing"
	}
	if m := badNumber.FindStringSubmatch(msg); m != nil {
		return m[1] + " is too large"
	}
	if msg = badToken.ReplaceAllString(msg, "unexpected $1"); msg == `unexpected "="` {
		msg += "; to compare, write =="
	}
	return msg
}

// compile parses the source and finds the names it uses. Names win over expr's builtins of the same name (count, first,
// last, one).
func (e *Expr) compile() error {
	tree, err := parser.Parse(e.Src)
	if err != nil {
		return err
	}
	e.Names, e.tree = map[string]Pos{}, tree.Node
	env, seen := types.Map{}, map[string]bool{}
	e.Mentions, e.must = mentions(tree.Node), certain(tree.Node)
	walk(tree.Node, map[string]bool{}, func(n ast.Node, id string) {
		if _, ok := e.Names[id]; !ok {
			e.Names[id] = Pos{Line: e.Pos.Line, Col: e.Pos.Col + n.Location().From}
		}
		env[id] = types.Any
	}, func(path string) {
		if !seen[path] {
			seen[path] = true
			e.Paths = append(e.Paths, path)
		}
	})
	e.prog, err = expr.Compile(e.Src, append(strictly(), expr.Env(env), expr.AllowUndefinedVariables())...)
	return err
}

// Run evaluates the expression with these names. Errors are the library's; Eval words them for people.
func (e *Expr) Run(env map[string]any) (any, error) { return vm.Run(e.prog, env) }

// Eval evaluates the expression with these names. An error begins with the source; it is a *Pointless if the mistake
// is the file's, whatever the target did. A function that isn't called is an error as well.
func (e *Expr) Eval(env map[string]any) (any, error) {
	v, err := e.Run(env)
	if err != nil {
		if p, ok := errors.AsType[*Pointless](err); ok {
			return nil, fmt.Errorf("%s: %w", e.Src, p)
		}
		if fe, ok := errors.AsType[*file.Error](err); ok {
			return nil, fmt.Errorf("%s: %s", e.Src, plainCall(fe.Message, e.Src))
		}
		return nil, fmt.Errorf("%s: %w", e.Src, err)
	}
	if reflect.ValueOf(v).Kind() == reflect.Func {
		return nil, fmt.Errorf("%s is a function: call it, as in %s(\"a\")", e.Src, e.Src)
	}
	return asObject(v), nil
}

// Pointless is the error of an expression that says nothing about the target: it compares two missing values, asks
// for all of an empty list, or uses a moment before its mark.
type Pointless struct{ Text string }

func (p *Pointless) Error() string { return p.Text }

var (
	errMissing = &Pointless{"both sides are missing"}
	errNothing = &Pointless{"the list is empty, so all(...) is true whatever happened; check its length first, as in len(x) > 0 and all(x, ...)"}
)
