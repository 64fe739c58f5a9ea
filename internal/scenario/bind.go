package scenario

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// binder fills Go values from a YAML tree and collects every problem instead of
// stopping at the first. Names, required keys and enums come from the json and
// jsonschema tags, which the schema is made from too.
type binder struct {
	problems []Problem
	uses     []use // names that something else in the file must define
	exprs    []*Expr
	anchors  map[string]ast.Node
}

// use is a name that must be defined somewhere in the file.
type use struct {
	kind, name string
	pos        Pos
}

type nodeBinder interface{ bindNode(*binder, ast.Node) }
type textBinder interface{ bindText(*binder, string, Pos) }

// shorthand structs can be written as one word.
type shorthand interface{ short(*binder, string, Pos) }
type positioned interface{ setPos(Pos) }

func (b *binder) problem(p Pos, format string, args ...any) {
	b.problems = append(b.problems, Problem{Line: p.Line, Col: p.Col, Message: fmt.Sprintf(format, args...)})
}

func posOf(n ast.Node) Pos {
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

func keyOf(kv *ast.MappingValueNode) string { return kv.Key.GetToken().Value }

// resolve follows tags, anchors and aliases.
func (b *binder) resolve(n ast.Node) ast.Node {
	switch v := n.(type) {
	case *ast.TagNode:
		return b.resolve(v.Value)
	case *ast.AnchorNode:
		if b.anchors == nil {
			b.anchors = map[string]ast.Node{}
		}
		b.anchors[v.Name.GetToken().Value] = v.Value
		return b.resolve(v.Value)
	case *ast.AliasNode:
		name := v.Value.GetToken().Value
		if a := b.anchors[name]; a != nil {
			return b.resolve(a)
		}
		b.problem(posOf(n), "no anchor &%s before this", name)
		return ast.Null(n.GetToken())
	}
	return n
}

func (b *binder) pairs(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// scalar returns the text of a plain value as it was written.
func (b *binder) scalar(n ast.Node) (string, bool) {
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

// kindOf names a YAML value for a person.
func kindOf(n ast.Node) string {
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

func (b *binder) bind(n ast.Node, v reflect.Value) {
	n = b.resolve(n)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		b.bind(n, v.Elem())
		return
	}
	addr := v.Addr().Interface()
	if p, ok := addr.(positioned); ok {
		p.setPos(posOf(n))
	}
	if nb, ok := addr.(nodeBinder); ok {
		nb.bindNode(b, n)
		return
	}
	text, plain := b.scalar(n)
	switch t := addr.(type) {
	case textBinder:
		if !plain {
			b.problem(posOf(n), "expected a text, found %s", kindOf(n))
			return
		}
		t.bindText(b, text, posOf(n))
		return
	case encoding.TextUnmarshaler:
		if !plain {
			b.problem(posOf(n), "expected a text, found %s", kindOf(n))
		} else if err := t.UnmarshalText([]byte(text)); err != nil {
			b.problem(posOf(n), "%s", err)
		}
		return
	case shorthand:
		if plain {
			t.short(b, text, posOf(n))
			return
		}
	}
	b.bindKind(n, v, text, plain)
}

func (b *binder) bindKind(n ast.Node, v reflect.Value, text string, plain bool) {
	bad := func(want string) { b.problem(posOf(n), "expected %s, found %s", want, kindOf(n)) }
	switch v.Kind() {
	case reflect.String:
		if !plain {
			bad("a text")
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
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			bad("a whole number")
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			bad("a number")
			return
		}
		v.SetFloat(f)
	case reflect.Slice:
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			bad("a list")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
		for i, e := range seq.Values {
			b.bind(e, v.Index(i))
		}
	case reflect.Map:
		b.bindMap(n, v)
	case reflect.Struct:
		b.bindStruct(n, v)
	default:
		panic("scenario: cannot bind " + v.Type().String())
	}
}

func (b *binder) bindMap(n ast.Node, v reflect.Value) {
	if _, ok := n.(ast.MapNode); !ok {
		b.problem(posOf(n), "expected a mapping, found %s", kindOf(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, kv := range b.pairs(n) {
		key := reflect.ValueOf(keyOf(kv))
		if v.MapIndex(key).IsValid() {
			b.problem(posOf(kv.Key), "%q is given twice", keyOf(kv))
		}
		e := reflect.New(v.Type().Elem()).Elem()
		b.bind(kv.Value, e)
		v.SetMapIndex(key, e)
	}
}
