package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// TestSchema: every verb is in the schema, descriptions are complete, and a step has one verb.
func TestSchema(t *testing.T) {
	t.Parallel()
	raw := must.Get(Schema())(t)
	var doc struct {
		Defs map[string]struct {
			Properties map[string]any
			OneOf      []any
		} `json:"$defs"`
	}
	must.OK(t, json.Unmarshal(raw, &doc))
	step := doc.Defs["Step"]
	text := func(p any) string {
		m, _ := p.(map[string]any) // true: any value
		d, _ := m["description"].(string)
		return d
	}
	for _, name := range strictyaml.Keys(verbsType) {
		if text(step.Properties[name]) == "" {
			t.Errorf("verb %s has no description", name)
		}
	}
	if len(step.OneOf) != len(strictyaml.Keys(verbsType))+1 {
		t.Errorf("%d ways to write a step for %d verbs, want one more than verbs", len(step.OneOf), len(strictyaml.Keys(verbsType)))
	}
	for _, want := range []string{"Cohort, board or list; all live boards by default", "Name for the boards: .boards .doors .places .count and .board .door .place (the first)",
		"Expected HTTP status or a list of them; 200 if nothing is expected", "Short name; the file's name when empty", `"wrong-id"`, "how long the line stays up: 0.1 to 2,592,000 s; default 20"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %q in the schema", want)
		}
	}
	for def, props := range doc.Defs {
		for name, p := range props.Properties {
			if strings.HasSuffix(text(p), ",") {
				t.Errorf("%s.%s: %q is cut off", def, name, text(p))
			}
		}
	}
	if again, _ := Schema(); string(again) != string(raw) {
		t.Error("the schema is not the same twice")
	}
}

// TestEveryFieldIsDescribed: an editor that uses a schema can explain every field of a scenario or plan.
func TestEveryFieldIsDescribed(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]func() ([]byte, error){"scenario": Schema, "plan": PlanSchema} {
		raw := must.Get(schema())(t)
		var doc any
		must.OK(t, json.Unmarshal(raw, &doc))
		fields := 0
		var visit func(at string, x any)
		visit = func(at string, x any) {
			switch x := x.(type) {
			case []any:
				for _, e := range x {
					visit(at, e)
				}
			case map[string]any:
				properties, _ := x["properties"].(map[string]any)
				for key, p := range properties {
					p, isObject := p.(map[string]any) // true: any value
					if fields++; isObject && p["description"] == nil && p["$ref"] == nil {
						t.Errorf("%s schema: %s.%s has no description", name, at, key)
					}
				}
				for key, e := range x {
					if key != "allOf" { // allOf says which parameters belong to which fault
						visit(at+"."+key, e)
					}
				}
			}
		}
		visit("", doc)
		if fields < 20 {
			t.Errorf("%s schema: %d fields, want at least 20", name, fields)
		}
	}
}
