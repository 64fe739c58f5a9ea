package docs_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/must"
)

// TestControlDocs: control-api.md is generated from the OpenAPI document that the listeners publish.
func TestControlDocs(t *testing.T) {
	r := openapi.Read(must.Get(openapi.Load(openapi.All))(t))
	var calls, details, objects strings.Builder
	for _, s := range r.Sections {
		fmt.Fprintf(&calls, "**%s.** %s\n\n| call | on | does |\n|---|---|---|\n", s.Name, s.Description)
		fmt.Fprintf(&details, "### %s\n\n", s.Name)
		for _, c := range s.Calls {
			fmt.Fprintf(&calls, "| `%s %s` | %s | %s |\n", c.Method, c.Path, cmp.Or(c.On, "both"), c.Summary)
			inDetail(&details, c)
		}
		calls.WriteString("\n")
	}
	for _, o := range r.Objects {
		fmt.Fprintf(&objects, "### %s\n\n", o.Name)
		listed(&objects, o.Fields)
		objects.WriteString("\n")
	}
	hold(t, "control-api.md", "calls", calls.String())
	hold(t, "control-api.md", "reference", details.String())
	hold(t, "control-api.md", "objects", objects.String())
}

// inDetail writes the parts of a call that don't fit into the table.
func inDetail(b *strings.Builder, c openapi.Call) {
	fmt.Fprintf(b, "**`%s %s`** %s.", c.Method, c.Path, c.Summary)
	if c.Description != "" {
		b.WriteString(" " + strings.TrimSuffix(c.Description, ".") + ".")
	}
	b.WriteString("\n\n")
	listed(b, c.Takes)
	if c.Stream != "" {
		fmt.Fprintf(b, "- answers `%s`\n", c.Stream)
	} else {
		b.WriteString("- answers " + typed(c.Answer) + "\n")
		listed(b, c.Answers)
	}
	b.WriteString("\n")
}

func listed(b *strings.Builder, list []openapi.Field) {
	for _, f := range list {
		name, says := "takes", ""
		if f.Name != "" {
			name = "`" + f.Name + "`"
		}
		if f.Says != "" {
			says = ": " + f.Says
		}
		fmt.Fprintf(b, "%s- %s %s%s\n", strings.Repeat("  ", f.Depth), name, typed(f), says)
	}
}

// typed is a field's type; an object's type links to its fields.
func typed(f openapi.Field) string {
	if f.Object == "" {
		return f.Before + f.After
	}
	return f.Before + "[" + f.Object + "](#" + strings.ToLower(f.Object) + ")" + f.After
}
