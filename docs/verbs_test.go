package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// TestDocsVerbs: scenarios.md begins its reference with a table of all verbs, in the order of their sections, in the words of
// the schema.
func TestDocsVerbs(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	must.OK(t, json.Unmarshal(must.Get(engine.Schema())(t), &schema))
	page := string(must.Get(os.ReadFile("scenarios.md"))(t))
	_, page, _ = strings.Cut(page, "\n## Verbs\n")
	var table strings.Builder
	table.WriteString("| verb | does |\n|---|---|\n")
	for _, line := range regexp.MustCompile(`(?m)^###(#?) (.+)$`).FindAllStringSubmatch(page, -1) {
		if line[1] == "" {
			fmt.Fprintf(&table, "| **%s** | |\n", line[2])
			continue
		}
		does := schema.Defs["Step"].Properties[line[2]].Description
		if does == "" {
			t.Errorf("scenarios.md has a section %q, which is no verb", line[2])
		}
		fmt.Fprintf(&table, "| [`%s`](#%[1]s) | %s |\n", line[2], strings.ToLower(does[:min(1, len(does))])+does[min(1, len(does)):])
	}
	hold(t, "scenarios.md", "verbs", table.String())
}
