package engine

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Any is a YAML value of any form whose strings are templates.
type Any struct {
	node
	v any // nil, bool, int64, float64, Text, []Any, map[string]Any
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
		if i, err := strconv.ParseInt(fmt.Sprint(n.Value), 10, 64); err == nil {
			a.v = i
		} else {
			a.v = float64(0)
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
		var t Text
		raw, _ := b.Scalar(n)
		t.BindText(b, raw, strictyaml.PosOf(n))
		a.v = t
	}
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
