package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/each"
)

// Reference is the document as people read it: docs/control-api.md and the console's page. Its texts have code between
// backticks.
type Reference struct {
	Sections []Section
	Objects  []Object // what calls take and answer, by name
}

// Section has the calls about one thing, by path.
type Section struct {
	Name, Description string
	Calls             []Call
}

// Call is one operation.
type Call struct {
	Method, Path         string
	On                   On // All = both
	Summary, Description string
	Takes                []Field
	Example              string // of the body, JSON; "" = none
	Answer               Field  // without a name
	Stream               string // the type of an answer that isn't JSON; Answer is empty
	Answers              []Field
}

// Object is a schema with a name.
type Object struct {
	Name   string
	Fields []Field
}

// Field is a field of a body or an answer, a parameter ("?name"), or, without a name, a whole body.
type Field struct {
	Depth  int // of nested objects
	Name   string
	Before string // its type: "a list of "
	Object string // the Object that it has or is; "" = it isn't one
	After  string // what else is known: " or null, optional"
	Says   string
}

// Read reads a document.
func Read(doc *openapi3.T) (r Reference) {
	for _, tag := range doc.Tags {
		s := Section{Name: tag.Name, Description: tag.Description}
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				if slices.Contains(op.Tags, tag.Name) {
					s.Calls = append(s.Calls, callOf(method, path, op))
				}
			}
		}
		slices.SortFunc(s.Calls, func(a, b Call) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
		})
		r.Sections = append(r.Sections, s)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		if s := doc.Components.Schemas[name]; s.Value.Type.Is("object") {
			r.Objects = append(r.Objects, Object{Name: name, Fields: fields(0, s)})
		}
	}
	return r
}

func callOf(method, path string, op *openapi3.Operation) Call {
	c := Call{Method: method, Path: path, Summary: op.Summary, Description: strings.TrimSpace(op.Description)}
	if on, ok := op.Extensions["x-on"].(string); ok {
		c.On = On(on)
	}
	for _, p := range op.Parameters {
		if p.Value.In == "query" {
			c.Takes = append(c.Takes, fieldOf(0, "?"+p.Value.Name, p.Value.Schema, p.Value.Description, p.Value.Required))
		}
	}
	if op.RequestBody != nil {
		media := op.RequestBody.Value.Content.Get("application/json")
		c.Takes = append(c.Takes, fields(0, media.Schema)...)
		if media.Example != nil {
			b, _ := json.Marshal(media.Example)
			c.Example = string(b)
		}
	}
	for kind, media := range op.Responses.Value("200").Value.Content {
		if media.Schema == nil {
			c.Stream = kind
			continue
		}
		data := media.Schema.Value.Properties["data"]
		c.Answer.Before, c.Answer.Object = shape(data)
		if data.Value.Type.Is("array") {
			data = data.Value.Items
		}
		if data.Ref == "" {
			c.Answers = fields(1, data)
		}
	}
	return c
}

// shape is a schema in a few words, and the object that they end with.
func shape(s *openapi3.SchemaRef) (words, object string) {
	v := s.Value
	switch {
	case s.Ref != "" && v.Type.Is("object"):
		return "", s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case v.Type.Is("array"):
		words, object = shape(v.Items)
		return "a list of " + words, object
	case len(v.Enum) > 0:
		return strings.Join(each.Of(v.Enum, func(e any) string { return fmt.Sprintf("`%v`", e) }), ", "), ""
	case v.Format == "date-time":
		return "time", ""
	case v.Format == "date":
		return "date", ""
	case v.Type.Is("object") && len(v.Properties) == 0 && v.AdditionalProperties.Schema != nil:
		words, object = shape(v.AdditionalProperties.Schema)
		return "object of " + words, object
	}
	return v.Type.Slice()[0], ""
}

func fields(depth int, s *openapi3.SchemaRef) (out []Field) {
	if s.Ref != "" {
		whole := Field{Depth: depth}
		whole.Before, whole.Object = shape(s)
		return []Field{whole}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Value.Properties)) {
		p := s.Value.Properties[name]
		out = append(out, fieldOf(depth, name, p, p.Value.Description, slices.Contains(s.Value.Required, name)))
		inner := p
		if p.Value.Type.Is("array") {
			inner = p.Value.Items
		}
		if inner.Ref == "" && inner.Value.Type.Is("object") {
			out = append(out, fields(depth+1, inner)...)
		}
	}
	return out
}

func fieldOf(depth int, name string, s *openapi3.SchemaRef, says string, required bool) Field {
	f := Field{Depth: depth, Name: name, Says: says}
	f.Before, f.Object = shape(s)
	if s.Value.Nullable {
		f.After += " or null"
	}
	if !required {
		f.After += ", optional"
	}
	if s.Value.Min != nil && s.Value.Max != nil {
		f.After += fmt.Sprintf(", %g to %g", *s.Value.Min, *s.Value.Max)
	}
	if s.Value.Default != nil {
		f.After += fmt.Sprintf(", default %v", s.Value.Default)
	}
	return f
}
