package strictyaml

import (
	"maps"
	"reflect"
	"slices"

	"github.com/doorlab/doorlab/internal/near"
)

// KeyHinter is a struct that knows what people mean by keys that it doesn't have; "" = it doesn't know either. The hint
// follows the message about the unknown key: ", use call".
type KeyHinter interface{ HintKey(wrong string) string }

// KeyGuide is a struct of many keys that says where they are listed; that follows the message about a key that is like none.
type KeyGuide interface{ WhereKeys() string }

// keyHint is what the message about an unknown key of a struct ends with.
func keyHint(v reflect.Value, key string, fs map[string]field) string {
	if v.CanAddr() {
		if h, ok := reflect.TypeAssert[KeyHinter](v.Addr()); ok {
			if hint := h.HintKey(key); hint != "" {
				return hint
			}
		}
	}
	hint := near.Hints(key, slices.Sorted(maps.Keys(fs)))
	if hint == "" && v.CanAddr() {
		if g, ok := reflect.TypeAssert[KeyGuide](v.Addr()); ok {
			return g.WhereKeys()
		}
	}
	return hint
}
