package engine

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Any is a YAML value of any form whose strings are templates.
type Any struct {
	node
	v any // nil, bool, int64, float64, Text, []Any, map[string]Any
}

// columns are the names that a table gives to its rows: row, and its columns if the table is in the file.
func (a *Any) columns() map[string]bool {
	out := map[string]bool{"row": true}
	rows, _ := a.v.([]Any)
	for _, r := range rows {
		cols, _ := r.v.(map[string]Any)
		for n := range cols {
			out[n] = true
		}
	}
	return out
}

// onlyList reports whether a list has one element that is a template and yields a list, and how long that is: [${1..3}]
// was meant as ${1..3}.
func (a *Any) onlyList(values []any) (n int, only bool) {
	written, _ := a.v.([]Any)
	if len(written) != 1 || len(values) != 1 {
		return 0, false
	}
	_, template := written[0].v.(Text)
	in, list := listOf(values[0])
	return len(in), template && list
}

func (a *Any) BindNode(b *strictyaml.Binder, n ast.Node) {
	a.pos = strictyaml.PosOf(n)
	switch n := b.Resolve(n).(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		a.v = n.Value
	case *ast.IntegerNode:
		i, err := strconv.ParseInt(fmt.Sprint(n.Value), 10, 64)
		if a.v = i; err != nil {
			tooLarge(b, n)
		}
	case *ast.FloatNode:
		a.v = n.Value
	case *ast.SequenceNode:
		list := make([]Any, len(n.Values))
		for i, v := range n.Values {
			list[i].BindNode(b, v)
		}
		a.v = list
	case ast.MapNode:
		m := map[string]Any{}
		for _, kv := range b.Pairs(n.(ast.Node)) {
			var v Any
			v.BindNode(b, kv.Value)
			m[strictyaml.KeyOf(kv)] = v
		}
		a.v = m
	default:
		if t := n.GetToken(); t.Type == token.StringType && longDigits.MatchString(t.Value) {
			tooLarge(b, n)
		}
		var t Text
		raw, _ := b.Scalar(n)
		t.BindText(b, raw, strictyaml.PosOf(n))
		a.v = t
	}
}

// longDigits is a number that YAML's reader takes for text, because it fits no integer.
var longDigits = regexp.MustCompile(`^[-+]?[0-9]{19,}$`)

// tooLarge reports a number that would be sent as another one, or as text.
func tooLarge(b *strictyaml.Binder, n ast.Node) {
	b.Problem(strictyaml.PosOf(n), "%s is too large for a whole number: if it is text, quote it; a body with such a number can be written in raw", n.GetToken().Value)
}

// eval fills in the templates.
func (a Any) eval(s *scope) (any, error) {
	switch v := a.v.(type) {
	case Text:
		return v.eval(s)
	case []Any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = v[i].eval(s); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]Any:
		out := map[string]any{}
		for k := range v {
			e, err := v[k].eval(s)
			if err != nil {
				return nil, err
			}
			out[k] = e
		}
		return out, nil
	}
	return a.v, nil
}
