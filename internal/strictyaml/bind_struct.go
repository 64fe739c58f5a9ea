package strictyaml

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/doorlab/doorlab/internal/near"
)

func (b *Binder) bindStruct(n ast.Node, v reflect.Value) {
	if _, null := n.(*ast.NullNode); !null {
		if _, ok := n.(ast.MapNode); !ok {
			b.Problem(PosOf(n), "expected a mapping%s, found %s%s", example(v.Type()), KindOf(n), nospace(n))
			return
		}
	}
	fs := fieldsOf(v.Type())
	seen := map[string]bool{}
	for _, kv := range b.Pairs(n) {
		key, pos := KeyOf(kv), PosOf(kv.Key)
		f, ok := fs[key]
		if key == "<<" {
			b.Problem(pos, "unknown key \"<<\": merge keys aren't supported, anchors and aliases are")
			continue
		}
		if !ok {
			b.Problem(pos, "unknown key %q%s", key, keyHint(v, key, fs))
			continue
		}
		if seen[key] {
			b.Problem(pos, "%q is given twice", key)
		}
		seen[key] = true
		b.at(b.inside(key), pos, kv.Value, func() { b.Bind(kv.Value, v.FieldByIndex(f.index)) })
		b.enum(f, key, kv.Value, v.FieldByIndex(f.index))
	}
	for _, name := range slices.Sorted(maps.Keys(fs)) {
		if fs[name].required && !seen[name] {
			b.Problem(PosOf(n), "%q is missing", name)
		}
	}
}

// example shows a mapping with the keys that it must have; "" if there are none.
func example(t reflect.Type) string {
	var keys []string
	for name, f := range fieldsOf(t) {
		if f.required {
			keys = append(keys, name+": ...")
		}
	}
	if len(keys) == 0 {
		return ""
	}
	slices.Sort(keys)
	return " such as {" + strings.Join(keys, ", ") + "}"
}

// Literal is a text that may contain a template; ok is false if it does.
type Literal interface{ Literal() (text string, ok bool) }

// Words is a string type that lists its valid values, as enum= in a tag does.
type Words interface{ Words() []string }

// Hinter is a Words that says itself what a wrong word is followed by.
type Hinter interface{ Hint(wrong string) string }

// enum checks a closed list of words: of a string, a Words, a Literal or a list of strings.
func (b *Binder) enum(f field, key string, n ast.Node, v reflect.Value) {
	if len(f.enum) == 0 {
		return
	}
	one := "a valid " + key
	if strings.HasSuffix(key, "s") && !strings.HasSuffix(key, "ss") { // scopes: [x], doors: x
		one = "valid for " + key
	}
	check := func(n ast.Node, s string) {
		for _, e := range f.enum {
			if s == e || s == "" {
				return
			}
		}
		hint := near.Hints(s, f.enum)
		if h, ok := reflect.TypeAssert[Hinter](v); ok {
			hint = h.Hint(s)
		}
		b.Problem(PosOf(b.Resolve(n)), "%q is not %s%s", s, one, hint)
	}
	switch x := v.Interface().(type) {
	case string:
		check(n, x)
	case Literal: // before Words, which such a text may be, too
		if text, ok := x.Literal(); ok {
			check(n, text)
		}
	case Words:
		check(n, v.String())
	case []string:
		for i, s := range x { // without any, n may be an alias of nothing, which is reported already
			if seq, ok := b.Resolve(n).(*ast.SequenceNode); ok {
				check(seq.Values[i], s)
			}
		}
	}
}
