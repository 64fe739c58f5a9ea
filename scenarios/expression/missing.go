package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
)

// Missing says where a plain path leads nowhere, with the nearest name or those that are there, such as
// `data has no "otcome", did you mean "outcome"?`; "" if it leads somewhere or only the expression itself can read it.
func Missing(path string, env map[string]any) string {
	steps, at := PathOf(path), any(env)
	where := ""
	for _, step := range steps {
		switch in := at.(type) {
		case map[string]any:
			key, _ := step.(string)
			v, ok := in[key]
			if !ok && where != "" {
				return fmt.Sprintf("%s has no %q%s", where, key, offer(key, in))
			}
			at = v
		case []any:
			i, plain := step.(int)
			if plain && i >= len(in) {
				return fmt.Sprintf("%s %s, so there is no %s[%d]", where, size(len(in)), where, i)
			} else if !plain || i < 0 {
				return ""
			}
			at = in[i]
		default:
			return ""
		}
		where = joinPath(where, step)
	}
	return ""
}

// offer names the field that was probably meant, or else those that there are, if they are few.
func offer(key string, in map[string]any) string {
	names := slices.Sorted(maps.Keys(in))
	if hint := near.Hint(key, names); hint != "" || len(names) == 0 || len(names) > 12 {
		return hint
	}
	return "; it has " + strings.Join(names, " ")
}

func size(n int) string {
	switch n {
	case 0:
		return "is empty"
	case 1:
		return "has 1 item"
	}
	return fmt.Sprintf("has %d items", n)
}

func joinPath(in string, step any) string {
	switch s := step.(type) {
	case int:
		return fmt.Sprintf("%s[%d]", in, s)
	default:
		if in == "" {
			return fmt.Sprint(s)
		}
		return fmt.Sprintf("%s.%s", in, s)
	}
}
