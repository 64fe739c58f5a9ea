package docs_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/must"
)

// TestControlDocs: the reference in control-api.md is the OpenAPI document that the
// listeners publish.
func TestControlDocs(t *testing.T) {
	doc := must.Get(openapi.Load(openapi.All))(t)
	var calls, details strings.Builder
	for _, tag := range doc.Tags {
		fmt.Fprintf(&calls, "**%s.** %s\n\n| call | on | does |\n|---|---|---|\n", tag.Name, tag.Description)
		fmt.Fprintf(&details, "### %s\n\n", tag.Name)
		for _, op := range controlCalls(doc, tag.Name) {
			fmt.Fprintf(&calls, "| `%s` | %s | %s |\n", op.call, op.on(), op.Summary)
			op.details(&details)
		}
		calls.WriteString("\n")
	}
	hold(t, "control-api.md", "calls", calls.String())
	hold(t, "control-api.md", "reference", details.String())
}

type controlCall struct {
	*openapi3.Operation
	call string
}

func controlCalls(doc *openapi3.T, tag string) (out []controlCall) {
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if slices.Contains(op.Tags, tag) {
				out = append(out, controlCall{op, method + " " + path})
			}
		}
	}
	slices.SortFunc(out, func(a, b controlCall) int {
		_, pathA, _ := strings.Cut(a.call, " ")
		_, pathB, _ := strings.Cut(b.call, " ")
		return cmp.Or(cmp.Compare(pathA, pathB), cmp.Compare(a.call, b.call))
	})
	return out
}

func (c controlCall) on() string {
	if on, ok := c.Extensions["x-on"].(string); ok {
		return on
	}
	return "both"
}

// details is what the table of calls has no room for: nothing for a call without parameters and body.
func (c controlCall) details(b *strings.Builder) {
	fmt.Fprintf(b, "**`%s`** %s.", c.call, c.Summary)
	if c.Description != "" {
		b.WriteString(" " + strings.TrimSuffix(strings.TrimSpace(c.Description), ".") + ".")
	}
	b.WriteString("\n\n")
	for _, p := range c.Parameters {
		if p.Value.In == "query" {
			field(b, "", "?"+p.Value.Name, p.Value.Schema, p.Value.Description, p.Value.Required)
		}
	}
	if c.RequestBody != nil {
		schema := c.RequestBody.Value.Content.Get("application/json").Schema
		fields(b, "", schema)
	}
	ok := c.Responses.Value("200").Value
	for kind, media := range ok.Content {
		if media.Schema == nil {
			fmt.Fprintf(b, "- answers `%s`\n", kind)
			continue
		}
		data := media.Schema.Value.Properties["data"]
		b.WriteString("- answers " + shape(data) + "\n")
		if data.Value.Type.Is("array") {
			data = data.Value.Items
		}
		if data.Ref == "" {
			fields(b, "  ", data)
		}
	}
	b.WriteString("\n")
}

// shape is a schema in a few words; a named one links to its fields.
func shape(s *openapi3.SchemaRef) string {
	name := ""
	if s.Ref != "" {
		name = s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		name = "[" + name + "](#" + strings.ToLower(name) + ")"
	}
	v := s.Value
	switch {
	case name != "" && v.Type.Is("object"):
		return name
	case v.Type.Is("array"):
		return "a list of " + shape(v.Items)
	case len(v.Enum) > 0:
		var words []string
		for _, e := range v.Enum {
			words = append(words, fmt.Sprintf("`%v`", e))
		}
		return strings.Join(words, ", ")
	case v.Format == "date-time":
		return "time"
	case v.Format == "date":
		return "date"
	case v.Type.Is("object") && len(v.Properties) == 0 && v.AdditionalProperties.Schema != nil:
		return "object of " + shape(v.AdditionalProperties.Schema)
	}
	return v.Type.Slice()[0]
}

func fields(b *strings.Builder, indent string, s *openapi3.SchemaRef) {
	if s.Ref != "" {
		fmt.Fprintf(b, "%s- takes %s\n", indent, shape(s))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Value.Properties)) {
		p := s.Value.Properties[name]
		field(b, indent, name, p, p.Value.Description, slices.Contains(s.Value.Required, name))
		inner := p
		if p.Value.Type.Is("array") {
			inner = p.Value.Items
		}
		if inner.Ref == "" && inner.Value.Type.Is("object") {
			fields(b, indent+"  ", inner)
		}
	}
}

func field(b *strings.Builder, indent, name string, s *openapi3.SchemaRef, says string, required bool) {
	text := shape(s)
	if s.Value.Nullable {
		text += " or null"
	}
	if !required {
		text += ", optional"
	}
	if s.Value.Min != nil && s.Value.Max != nil {
		text += fmt.Sprintf(", %g to %g", *s.Value.Min, *s.Value.Max)
	}
	if s.Value.Default != nil {
		text += fmt.Sprintf(", default %v", s.Value.Default)
	}
	if says != "" {
		text += ": " + says
	}
	fmt.Fprintf(b, "%s- `%s` %s\n", indent, name, text)
}

// TestControlSchemasDocs: the objects that the reference links to.
func TestControlSchemasDocs(t *testing.T) {
	doc := must.Get(openapi.Load(openapi.All))(t)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s := doc.Components.Schemas[name]
		if !s.Value.Type.Is("object") {
			continue
		}
		fmt.Fprintf(&b, "### %s\n\n", name)
		fields(&b, "", s)
		b.WriteString("\n")
	}
	hold(t, "control-api.md", "objects", b.String())
}
