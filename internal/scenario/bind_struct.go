package scenario

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (b *binder) bindStruct(n ast.Node, v reflect.Value) {
	if _, null := n.(*ast.NullNode); !null {
		if _, ok := n.(ast.MapNode); !ok {
			b.problem(posOf(n), "expected a mapping, found %s", kindOf(n))
			return
		}
	}
	fs := fieldsOf(v.Type())
	seen := map[string]bool{}
	for _, kv := range b.pairs(n) {
		key, pos := keyOf(kv), posOf(kv.Key)
		f, ok := fs[key]
		if !ok {
			b.problem(pos, "unknown key %q%s", key, nearestHint(key, keysOf(fs)))
			continue
		}
		if seen[key] {
			b.problem(pos, "%q is given twice", key)
		}
		seen[key] = true
		b.bind(kv.Value, v.FieldByIndex(f.index))
		b.enum(f, key, kv.Value, v.FieldByIndex(f.index))
	}
	for _, name := range keysOf(fs) {
		if fs[name].required && !seen[name] {
			b.problem(posOf(n), "%q is missing", name)
		}
	}
}

// enum checks a closed list of words, of a string, a Text or a list of strings.
func (b *binder) enum(f field, key string, n ast.Node, v reflect.Value) {
	if len(f.enum) == 0 {
		return
	}
	check := func(n ast.Node, s string) {
		for _, e := range f.enum {
			if s == e || s == "" {
				return
			}
		}
		b.problem(posOf(n), "%q is no value of %s%s", s, key, nearestHint(s, f.enum))
	}
	switch x := v.Interface().(type) {
	case string:
		check(n, x)
	case Text:
		if !strings.Contains(x.raw, "${") {
			check(n, x.raw)
		}
	case []string:
		if seq, ok := n.(*ast.SequenceNode); ok {
			for i, s := range x {
				check(seq.Values[i], s)
			}
		}
	}
}
