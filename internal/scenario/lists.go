package scenario

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/doorlab/doorlab/internal/history"
)

// Name is an identifier that a step defines.
type Name struct{ Text }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (n *Name) bindText(b *binder, raw string, pos Pos) {
	n.Text.bindText(b, raw, pos)
	if !strings.Contains(raw, "${") && !identifier.MatchString(raw) {
		b.problem(pos, "%q cannot be a name: letters, digits and _ only", raw)
	}
}

// Refs is a reference or a list of them.
type Refs []Ref

func (r *Refs) bindNode(b *binder, n ast.Node) { *r = bindList[Ref](b, n) }

// ClauseIDs are guarantees, checked where they stand.
type ClauseIDs []string

func (c *ClauseIDs) bindNode(b *binder, n ast.Node) {
	for _, t := range bindList[Text](b, n) {
		if history.Promise(t.raw) == "" {
			b.problem(t.pos, "no clause %q%s", t.raw, nearestHint(t.raw, history.Clauses()))
		}
		*c = append(*c, t.raw)
	}
}

// Exprs is an expression or a list of them.
type Exprs []Expr

func (e *Exprs) bindNode(b *binder, n ast.Node) { *e = bindList[Expr](b, n) }

// Statuses is an HTTP status or a list of them.
type Statuses []Num

func (s *Statuses) bindNode(b *binder, n ast.Node) { *s = bindList[Num](b, n) }

// bindList takes one value for a list of one.
func bindList[T any, P interface {
	*T
	textBinder
}](b *binder, n ast.Node) []T {
	n = b.resolve(n)
	nodes := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		nodes = seq.Values
	}
	out := make([]T, len(nodes))
	for i, e := range nodes {
		e = b.resolve(e)
		text, ok := b.scalar(e)
		if !ok {
			b.problem(posOf(e), "expected a text, found %s", kindOf(e))
			continue
		}
		P(&out[i]).bindText(b, text, posOf(e))
	}
	return out
}
