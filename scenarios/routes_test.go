package scenarios_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios"
	"github.com/doorlab/doorlab/server/api/openapi"
)

// TestEveryRouteWithAnIDGetsOneOfAnotherPlace: places_apart asks every operation
// whose path names something of a place for what another place has.
func TestEveryRouteWithAnIDGetsOneOfAnotherPlace(t *testing.T) {
	t.Parallel()
	raw := must.Get(fs.ReadFile(scenarios.Files, "places_apart.yaml"))(t)
	var file any
	must.OK(t, yaml.Unmarshal(raw, &file))
	asked := tables(file)
	docs := must.Get(openapi.Load())(t)
	n := 0
	for _, d := range docs {
		for _, op := range d.Ops {
			if !strings.Contains(op.Path, "{") || op.Scope == "none" {
				continue
			}
			n++
			if want := op.Method + " " + segment.ReplaceAllString(op.Path, "*"); !slices.Contains(asked, want) {
				t.Errorf("places_apart has no row for %s, only %q", want, asked)
			}
		}
	}
	if n < 12 {
		t.Errorf("the documents have %d operations with an id, want at least 12", n)
	}
}

// segment is a part of a path in place of an id.
var segment = regexp.MustCompile(`\$?\{[^}]*\}`)

// tables lists "METHOD path" of every row of a step with a table of calls.
func tables(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, tables(e)...)
		}
	case map[string]any:
		call, _ := v["call"].(map[string]any)
		rows, _ := v["cases"].([]any)
		for _, r := range rows {
			row, _ := r.(map[string]any)
			path, _ := row["path"].(string)
			method, _ := call["method"].(string)
			if row["error"] != nil {
				out = append(out, method+" "+segment.ReplaceAllString(path, "*"))
			}
		}
		for _, e := range v {
			out = append(out, tables(e)...)
		}
	}
	return out
}
