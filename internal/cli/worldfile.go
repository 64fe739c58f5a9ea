package cli

import (
	"reflect"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/world"
)

// loadWorld reads --world. An unknown field names the nearest known one.
func loadWorld(path string, seed int64) (*world.World, error) {
	w, err := world.Load(path, seed)
	if err == nil {
		return w, nil
	}
	msg := reason(err)
	if _, rest, ok := strings.Cut(msg, `unknown field "`); ok {
		name, _, _ := strings.Cut(rest, `"`)
		msg += near.Hint(name, worldFields(reflect.TypeFor[world.World](), map[reflect.Type]bool{}))
	}
	return nil, usagef("--world: %s", msg)
}

// worldFields are the names that a world file can have.
func worldFields(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return nil
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
		names = append(names, worldFields(f.Type, seen)...)
	}
	return names
}
