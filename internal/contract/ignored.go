package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/near"
)

// Ignored lists what a request says that its operation doesn't know, so that the service ignores it: fields of the body as
// "args.minutes" and parameters of the query as "?limit", each with the name that was probably meant. It says nothing about
// paths and methods that no document has, about a body that can't be read, and where a document leaves things open.
func (c *Contract) Ignored(method, path string, body []byte) (out []string) {
	if c == nil {
		return nil
	}
	op := c.find(method, path)
	if op == nil {
		return nil
	}
	_, query, _ := strings.Cut(path, "?")
	if given, err := url.ParseQuery(query); err == nil {
		var known []string
		for _, p := range op.Parameters {
			if p.Value != nil && p.Value.In == openapi3.ParameterInQuery {
				known = append(known, p.Value.Name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !slices.Contains(known, name) {
				out = append(out, "?"+name+meant(name, known))
			}
		}
	}
	var v any
	if op.RequestBody == nil || op.RequestBody.Value == nil || json.Unmarshal(body, &v) != nil {
		return out
	}
	media := op.RequestBody.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return out
	}
	whole := []*openapi3.Schema{media.Schema.Value}
	fields := slices.Sorted(maps.Keys(paths(whole, "", 0, map[string]bool{})))
	for _, at := range slices.Compact(slices.Sorted(slices.Values(unknown(v, whole, "")))) {
		out = append(out, at+meant(at, fields))
	}
	return out
}

// meant suggests a name: one that ends alike, such as args.minutes for minutes, otherwise the nearest.
func meant(at string, known []string) string {
	last := strings.ToLower(at[strings.LastIndexByte(at, '.')+1:])
	for _, k := range known {
		if len(last) > 3 && strings.HasSuffix(strings.ToLower(k), last) {
			return fmt.Sprintf(", did you mean %q?", k)
		}
	}
	return near.Hint(at, known)
}

// unknown are the fields of a value that its schemas don't have.
func unknown(v any, of []*openapi3.Schema, at string) (out []string) {
	switch x := v.(type) {
	case []any:
		if next, open := within(of, 0); !open {
			for _, e := range x {
				out = append(out, unknown(e, next, at)...)
			}
		}
	case map[string]any:
		for name, e := range x {
			switch next, open := within(of, name); {
			case open:
			case len(next) == 0:
				out = append(out, at+name)
			default:
				out = append(out, unknown(e, next, at+name+".")...)
			}
		}
	}
	return out
}

// deepest bounds schemas that contain themselves.
const deepest = 6

// paths are all fields that a body can have.
func paths(of []*openapi3.Schema, at string, depth int, out map[string]bool) map[string]bool {
	if depth == deepest {
		return out
	}
	if next, open := within(of, 0); !open {
		paths(next, at, depth+1, out)
	}
	for _, name := range properties(of) {
		out[at+name] = true
		if next, open := within(of, name); !open {
			paths(next, at+name+".", depth+1, out)
		}
	}
	return out
}
