package scenario

import (
	"reflect"
	"sort"
	"strings"
)

type field struct {
	index    []int
	required bool
	enum     []string
}

// fieldsOf lists a struct's keys, embedded ones included.
func fieldsOf(t reflect.Type) map[string]field {
	out := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
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
		for _, tag := range strings.Split(f.Tag.Get("jsonschema"), ",") {
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

func keysOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
