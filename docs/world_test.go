package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestWorldDocs: world.md shows the file that `doorlab world init` writes, and the schema's fields.
func TestWorldDocs(t *testing.T) {
	raw := must.Get(world.Schema())(t)
	type object struct {
		Description string
		Required    []string
		Properties  map[string]struct {
			Type, Ref, Description string
			Default                any
			Enum                   []string
		}
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	must.OK(t, json.Unmarshal([]byte(strings.ReplaceAll(string(raw), `"$ref"`, `"ref"`)), &schema))
	schema.Defs["The file"] = schema.object
	var b strings.Builder
	for _, name := range []string{"The file", "Place", "Board", "Door", "Fleet", "Report", "Key", "Membership", "Closure", "Holiday"} {
		def := schema.Defs[name]
		says := ""
		if name != "The file" && def.Description != "" {
			says = " " + def.Description + "."
		}
		fmt.Fprintf(&b, "**%s.**%s\n\n| field | meaning |\n|---|---|\n", name, says)
		for _, field := range slices.Sorted(maps.Keys(def.Properties)) {
			p := def.Properties[field]
			var words []string
			if slices.Contains(def.Required, field) {
				words = append(words, "required")
			}
			if len(p.Enum) > 0 {
				words = append(words, strings.Join(p.Enum, " or "))
			}
			if p.Description != "" {
				words = append(words, strings.ToLower(p.Description[:1])+p.Description[1:])
			}
			text := strings.Join(words, "; ")
			if p.Default != nil {
				text += fmt.Sprintf(" (default %v)", p.Default)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", field, strings.TrimSpace(text))
		}
		b.WriteString("\n")
	}
	hold(t, "world.md", "fields", b.String())
	hold(t, "world.md", "example", "```yaml\n"+world.Example+"```\n")
}
