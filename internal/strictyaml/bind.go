package strictyaml

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// PosOf is where a node starts; for a mapping, its first key.
func PosOf(n ast.Node) Pos {
	if kv, ok := n.(*ast.MappingValueNode); ok {
		n = kv.Key
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	t := n.GetToken()
	if t == nil {
		return Pos{1, 1}
	}
	return Pos{t.Position.Line, t.Position.Column}
}

// KeyOf is the key of a mapping's entry.
func KeyOf(kv *ast.MappingValueNode) string { return kv.Key.GetToken().Value }

// Resolve follows tags, anchors and aliases.
func (b *Binder) Resolve(n ast.Node) ast.Node {
	switch v := n.(type) {
	case *ast.TagNode:
		return b.Resolve(v.Value)
	case *ast.AnchorNode:
		return b.Resolve(v.Value)
	case *ast.AliasNode:
		name := v.Value.GetToken().Value
		switch a := b.aliases[v].(type) {
		case nil:
			b.Problem(PosOf(n), "no anchor &%s before this", name)
		case *ast.AnchorNode:
			b.Problem(PosOf(n), "*%s is inside &%s", name, name)
		default:
			return b.Resolve(a)
		}
		return ast.Null(n.GetToken())
	}
	return n
}

// mostRepeated bounds the values that a document's aliases repeat: a few nested ones stand for more than fits into memory.
const mostRepeated = 1_000_000

// anchors finds what each alias stands for: what the last anchor of its name before it is at, or the anchor itself, if that
// contains the alias. A document whose values contain themselves has no end.
type anchors struct {
	last    map[string]ast.Node
	aliases map[*ast.AliasNode]ast.Node
	sizes   map[ast.Node]int // of anchors' values: the values in them, those of their aliases included

	values, repeated int            // so far; repeated by aliases
	excess           *ast.AliasNode // the first that repeats too much; nil = none
}

// Visit implements ast.Visitor.
func (a *anchors) Visit(n ast.Node) ast.Visitor {
	a.values++
	switch n := n.(type) {
	case *ast.AnchorNode:
		name, before := n.Name.GetToken().Value, a.values
		a.last[name] = n
		if ast.Walk(a, n.Value); a.last[name] == n { // or the value has an anchor of that name
			a.last[name], a.sizes[n.Value] = n.Value, a.values-before
		}
		return nil
	case *ast.AliasNode:
		is := a.last[n.Value.GetToken().Value]
		a.aliases[n] = is
		if a.repeated += a.sizes[is]; a.repeated <= mostRepeated {
			a.values += a.sizes[is]
		} else if a.excess == nil {
			a.excess = n
		}
		return nil
	}
	return a
}

// Pairs are the entries of a mapping, nil for any other node.
func (b *Binder) Pairs(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// Scalar returns the text of a plain value as written.
func (b *Binder) Scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.NullNode, *ast.SequenceNode, *ast.MappingNode, *ast.MappingValueNode:
		return "", false
	}
	return n.GetToken().Value, true
}

// KindOf names a YAML value for a person.
func KindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	}
	return strconv.Quote(n.GetToken().Value)
}

// Bind fills v, which must be settable, from a node.
func (b *Binder) Bind(n ast.Node, v reflect.Value) {
	n = b.Resolve(n)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		b.Bind(n, v.Elem())
		return
	}
	addr := v.Addr().Interface()
	if p, ok := addr.(Positioned); ok {
		p.SetPos(PosOf(n))
	}
	if p, ok := addr.(Pathed); ok {
		p.SetPath(b.path)
	}
	if nb, ok := addr.(NodeBinder); ok {
		nb.BindNode(b, n)
		return
	}
	text, plain := b.Scalar(n)
	switch t := addr.(type) {
	case TextBinder:
		if !plain {
			b.Problem(PosOf(n), "expected text, found %s", KindOf(n))
			return
		}
		t.BindText(b, text, PosOf(n))
		return
	case encoding.TextUnmarshaler:
		if !plain {
			b.Problem(PosOf(n), "expected text, found %s", KindOf(n))
		} else if err := t.UnmarshalText([]byte(text)); err != nil {
			if _, moment := t.(*time.Time); moment {
				err = fmt.Errorf("%q is not a time, write it like 2026-11-22T09:00:00Z", text)
			}
			b.Problem(PosOf(n), "%s", err)
		}
		return
	case Shorthand:
		if plain {
			t.BindShort(b, text, PosOf(n))
			return
		}
	}
	b.bindKind(n, v, text, plain)
}

func (b *Binder) bindKind(n ast.Node, v reflect.Value, text string, plain bool) {
	bad := func(want string) { b.Problem(PosOf(n), "expected %s, found %s", want, KindOf(n)) }
	switch v.Kind() {
	case reflect.String:
		if !plain {
			bad("text")
			return
		}
		v.SetString(text)
	case reflect.Bool:
		if x, ok := n.(*ast.BoolNode); ok {
			v.SetBool(x.Value)
			return
		}
		bad("true or false")
	case reflect.Int, reflect.Int64:
		b.bindInt(n, v, text, plain)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !plain || math.IsNaN(f) || math.IsInf(f, 0) {
			bad("a number")
			return
		}
		v.SetFloat(f)
	case reflect.Slice, reflect.Array:
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			want := "a list"
			if v.Type() == reflect.TypeFor[[2]string]() {
				want = `a pair such as ["09:00", "18:00"]`
			}
			bad(want)
			return
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
		} else if len(seq.Values) != v.Len() {
			b.Problem(PosOf(n), "expected a list of %d, found one of %d", v.Len(), len(seq.Values))
			return
		}
		for i, e := range seq.Values {
			b.at(fmt.Sprintf("%s[%d]", b.path, i), PosOf(e), e, func() { b.Bind(e, v.Index(i)) })
		}
	case reflect.Map:
		b.bindMap(n, v)
	case reflect.Struct:
		b.bindStruct(n, v)
	case reflect.Interface:
		if x := b.free(n); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		panic("strictyaml: cannot bind " + v.Type().String())
	}
}

func (b *Binder) bindInt(n ast.Node, v reflect.Value, text string, plain bool) {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		if err != nil || !plain {
			b.Problem(PosOf(n), "%s is not a valid duration, write it like 80ms, 20s or 1m30s", KindOf(n))
			return
		}
		v.SetInt(int64(d))
		return
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !plain {
		b.Problem(PosOf(n), "expected a whole number, found %s", KindOf(n))
		return
	}
	v.SetInt(i)
}

func (b *Binder) bindMap(n ast.Node, v reflect.Value) {
	if _, ok := n.(ast.MapNode); !ok {
		b.Problem(PosOf(n), "expected a mapping, found %s", KindOf(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, kv := range b.Pairs(n) {
		name := KeyOf(kv)
		key := reflect.ValueOf(name)
		if v.MapIndex(key).IsValid() {
			b.Problem(PosOf(kv.Key), "%q is given twice", name)
		}
		e := reflect.New(v.Type().Elem()).Elem()
		b.at(b.inside(name), PosOf(kv.Key), kv.Value, func() { b.Bind(kv.Value, e) })
		v.SetMapIndex(key, e)
	}
}

var leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]`)

// free is the value of a node of any form: nil, bool, int64, float64, string, []any or map[string]any. Digits after a zero
// stay text.
func (b *Binder) free(n ast.Node) any {
	switch n := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.SequenceNode:
		list := []any{}
		b.Bind(n, reflect.ValueOf(&list).Elem())
		return list
	case *ast.MappingNode, *ast.MappingValueNode:
		m := map[string]any{}
		b.bindMap(n, reflect.ValueOf(&m).Elem())
		return m
	}
	text, _ := b.Scalar(n)
	switch n.(type) {
	case *ast.IntegerNode:
		if leadingZero.MatchString(text) {
			break // YAML 1.1 takes 010 for 8, and a phone without an 8 or a 9 for another number
		}
		if i, err := strconv.ParseInt(text, 0, 64); err == nil {
			return i
		}
	case *ast.FloatNode:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	return text
}
