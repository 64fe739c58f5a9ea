package contract

import (
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// Field reports whether any answer of an operation may have a field. field is its path from the body: names for
// objects, ints for lists. If it can't, at is how much of the path exists, and known what could follow there. For a
// path or method that no document has, and where a document leaves things open, any field may exist.
func (c *Contract) Field(method, path string, field []any) (may bool, at int, known []string) {
	if c == nil {
		return true, 0, nil
	}
	op := c.find(method, path)
	if op == nil {
		return true, 0, nil
	}
	var here []*openapi3.Schema
	for _, r := range op.Responses.Map() {
		if r.Value == nil {
			continue
		}
		media := r.Value.Content.Get("application/json")
		switch {
		case media != nil && media.Schema != nil:
			here = append(here, media.Schema.Value)
		case len(r.Value.Content) > 0: // a page, or JSON without a form
			return true, 0, nil
		}
	}
	for i, name := range field {
		next, open := within(here, name)
		if open {
			return true, 0, nil
		}
		if len(next) == 0 {
			return false, i, properties(here)
		}
		here = next
	}
	return true, 0, nil
}

// parts are a schema and the schemas it is composed of.
func parts(s *openapi3.Schema) []*openapi3.Schema {
	out := []*openapi3.Schema{s}
	for _, refs := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
		for _, r := range refs {
			out = append(out, parts(r.Value)...)
		}
	}
	return out
}

// within are the schemas of a field or element; open: it may be anything.
func within(of []*openapi3.Schema, name any) (next []*openapi3.Schema, open bool) {
	for _, whole := range of {
		bare := true // doesn't say what is in it
		for _, s := range parts(whole) {
			more := s.AdditionalProperties
			bare = bare && len(s.Properties) == 0 && s.Items == nil && more.Schema == nil && (s.Type == nil || s.Type.Is("object") || s.Type.Is("array"))
			key, isName := name.(string)
			switch p := s.Properties[key]; {
			case !isName && s.Items != nil:
				next = append(next, s.Items.Value)
			case isName && p != nil:
				next = append(next, p.Value)
			case isName && more.Schema != nil:
				next = append(next, more.Schema.Value)
			case more.Has != nil && *more.Has:
				return nil, true
			}
		}
		if bare {
			return nil, true
		}
	}
	return next, false
}

func properties(of []*openapi3.Schema) (names []string) {
	for _, whole := range of {
		for _, s := range parts(whole) {
			names = slices.AppendSeq(names, maps.Keys(s.Properties))
		}
	}
	return names
}
