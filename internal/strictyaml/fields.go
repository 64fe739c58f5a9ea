package strictyaml

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

type field struct {
	index    []int
	required bool
	enum     []string
}

// byType has each type's keys: they are asked for at every mapping of every file.
var byType sync.Map

// fieldsOf lists a struct's keys, embedded ones included. The result is shared.
func fieldsOf(t reflect.Type) map[string]field {
	if known, ok := byType.Load(t); ok {
		return known.(map[string]field)
	}
	out := readFields(t)
	byType.Store(t, out)
	return out
}

func readFields(t reflect.Type) map[string]field {
	out := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := KeyName(f)
		if name == "-" || (!f.IsExported() && !f.Anonymous) {
			continue
		}
		if f.Anonymous && name == "" {
			if f.Type.Kind() == reflect.Struct && f.IsExported() {
				for k, e := range fieldsOf(f.Type) {
					e.index = append([]int{i}, e.index...)
					out[k] = e
				}
			}
			continue
		}
		if name == "" {
			continue
		}
		e := field{index: []int{i}}
		if w, ok := reflect.TypeAssert[Words](reflect.Zero(f.Type)); ok {
			e.enum = w.Words()
		}
		for tag := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
			if tag == "required" {
				e.required = true
			} else if v, ok := strings.CutPrefix(tag, "enum="); ok {
				e.enum = append(e.enum, v)
			}
		}
		out[name] = e
	}
	return out
}

// Keys lists the keys of a struct, embedded ones included, in order.
func Keys(t reflect.Type) []string { return slices.Sorted(maps.Keys(fieldsOf(t))) }

// KeyName is a field's key: of the yaml tag, or else of the json tag; "-" = none.
func KeyName(f reflect.StructField) string {
	tag, ok := f.Tag.Lookup("yaml")
	if !ok {
		tag = f.Tag.Get("json")
	}
	name, _, _ := strings.Cut(tag, ",")
	return name
}

// EachEnum calls f with each field that takes only certain words, of the struct that v points to; anything else has none.
func EachEnum(v any, f func(key string, value any, words []string)) {
	of := reflect.ValueOf(v)
	if of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return
	}
	fs := fieldsOf(of.Elem().Type())
	for _, key := range slices.Sorted(maps.Keys(fs)) {
		if words := fs[key].enum; len(words) > 0 {
			f(key, of.Elem().FieldByIndex(fs[key].index).Interface(), words)
		}
	}
}
