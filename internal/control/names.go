package control

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
)

// Misnamed finds the first field of a JSON value that v, a pointer, has no field for. Names must be exact: encoding/json
// alone takes them in any case. path is where it is, such as closures[0].form, below field ("" for a body), and hint the
// nearest known name as near.Hint has it. path is "" if there is none, or if raw is no JSON.
func Misnamed(field string, raw []byte, v any) (path, hint string) {
	below, name, known := misnamed(raw, reflect.TypeOf(v))
	if name == "" {
		return "", ""
	}
	return strings.TrimPrefix(field+below, "."), near.Hints(name, known)
}

func misnamed(raw []byte, t reflect.Type) (path, name string, known []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return "", "", nil
	}
	switch t.Kind() {
	case reflect.Struct:
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return "", "", nil
		}
		fields := fieldsOf(t)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			f, ok := fields[name]
			if !ok {
				return "." + name, name, slices.Sorted(maps.Keys(fields))
			}
			if path, wrong, known := misnamed(object[name], f); path != "" {
				return "." + name + path, wrong, known
			}
		}
	case reflect.Slice:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return "", "", nil
		}
		for i, e := range list {
			if path, wrong, known := misnamed(e, t.Elem()); path != "" {
				return "[" + strconv.Itoa(i) + "]" + path, wrong, known
			}
		}
	}
	return "", "", nil
}

// fieldsOf lists the types of a struct's fields by their JSON names.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			maps.Copy(out, fieldsOf(field.Type))
		case name != "" && name != "-":
			out[name] = field.Type
		}
	}
	return out
}
