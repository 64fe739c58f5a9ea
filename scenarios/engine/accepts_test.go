package engine

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios"
)

// accepts is what a schema says of a YAML text; nil if it accepts it.
func accepts(t *testing.T, schema func() ([]byte, error)) func(text string) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	must.OK(t, c.AddResource("schema.json", must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(must.Get(schema())(t))))(t)))
	compiled := must.Get(c.Compile("schema.json"))(t)
	return func(text string) error {
		var v any
		must.OK(t, yaml.Unmarshal([]byte(text), &v))
		return compiled.Validate(must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(must.Get(json.Marshal(v))(t))))(t))
	}
}

// TestSchemasAcceptWhatRuns: an editor underlines nothing in the built-in scenarios and plans, nor in what the documents
// show.
func TestSchemasAcceptWhatRuns(t *testing.T) {
	t.Parallel()
	scenario, plan := accepts(t, Schema), accepts(t, PlanSchema)
	files := must.Get(fs.Glob(scenarios.Files, "*.yaml"))(t)
	for _, name := range files {
		if err := scenario(string(must.Get(fs.ReadFile(scenarios.Files, name))(t))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	plans := must.Get(filepath.Glob("../../loadtest/plans/*.yaml"))(t)
	for _, name := range plans {
		if err := plan(string(must.Get(os.ReadFile(name))(t))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(files) == 0 || len(plans) == 0 {
		t.Errorf("%d scenarios and %d plans, want some of each", len(files), len(plans))
	}
	const load, call = "rate: 1/s, duration: 1s", "call: {path: /core/v1/places}"
	for text, want := range map[string]bool{
		"{" + load + ", thresholds: {errors: 0, offline_max: 1, noResponse_max: 5, p99_reported: 500ms}}":        true,
		"{pacer: stages, stages: [{rate: 1, duration: 1s, thresholds: {errors: 0}}, {rate: 2/s, duration: 1s}]}": true,
		"{" + load + ", thresholds: {errors: [0]}}":                                                              false,
		"steps: [{load: {" + load + ", thresholds: {errors: 0}}}]":                                               true,
		"steps: [{load: {" + load + ", thresholds: {errors: {that: 0, clauses: [CMD-5]}}}}]":                     true,
		"steps: [{load: {stages: [{rate: 1, duration: 1s, thresholds: {errors: {that: 1%, clauses: CMD-5}}}]}}]": true,
		"steps: [{load: {" + load + ", thresholds: {errors: {that: 0, clauses: [CMD-99]}}}}]":                    false,
		"steps: [{load: {" + load + ", thresholds: {errors: {that: 0}}}}]":                                       false,
		"{" + load + ", thresholds: {errors: {that: 0, clauses: [CMD-5]}}}":                                      false,
		"{clauses: AUTH-1, steps: [{" + call + ", clauses: AUTH-1}, {" + call + ", clauses: [AUTH-1, AUTH-2]}]}": true,
		"steps: [{" + call + ", clauses: AUTH-9}]":                                                               false,
		"steps: [{" + call + ", expect: [{that: status == 200, clauses: AUTH-1}]}]":                              true,
	} {
		schema := plan
		if strings.Contains(text, "steps") {
			schema = scenario
		}
		if err := schema(text); (err == nil) != want {
			t.Errorf("%s: the schema says %v, want it to accept this: %v", text, err, want)
		}
	}
	if !slices.Contains(files, "outage_36h.yaml") {
		t.Errorf("got the files %v, want outage_36h.yaml among them", files)
	}
}
