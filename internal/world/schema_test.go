package world

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(schema)))(t)
	c := jsonschema.NewCompiler()
	must.OK(t, c.AddResource("world.json", doc))
	s := must.Get(c.Compile("world.json"))(t)
	return s
}

// TestSchemaHasEveryField: the schema names exactly the fields that are read.
func TestSchemaHasEveryField(t *testing.T) {
	t.Parallel()
	root := compiled(t)
	var defs struct {
		Defs map[string]struct{ Properties map[string]any } `yaml:"$defs"`
	}
	must.OK(t, yaml.Unmarshal(schema, &defs))
	for name, typ := range map[string]reflect.Type{"": reflect.TypeFor[World](), "Place": reflect.TypeFor[Place](), "Board": reflect.TypeFor[Board](), "Door": reflect.TypeFor[Door](),
		"Fleet": reflect.TypeFor[Fleet](), "Report": reflect.TypeFor[Report](), "Key": reflect.TypeFor[Key](), "Membership": reflect.TypeFor[Membership](),
		"Closure": reflect.TypeFor[access.Closure](), "Holiday": reflect.TypeFor[access.Holiday]()} {
		var want []string
		for f := range typ.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if key == "" {
				key, _, _ = strings.Cut(f.Tag.Get("json"), ",")
			}
			if key != "-" {
				want = append(want, key)
			}
		}
		slices.Sort(want)
		got := slices.Sorted(maps.Keys(defs.Defs[name].Properties))
		if name == "" {
			got = slices.Sorted(maps.Keys(root.Properties))
		}
		if !slices.Equal(got, want) {
			t.Errorf("schema.json, %q: got fields %q, want %q", name, got, want)
		}
	}
}

// TestSchemaAndParserAgree: both accept the example and refuse the same mistakes.
func TestSchemaAndParserAgree(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	check := func(name, text string, want bool) {
		t.Helper()
		var v any
		must.OK(t, yaml.Unmarshal([]byte(text), &v))
		b := must.Get(yaml.MarshalWithOptions(v, yaml.JSON()))(t)
		doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(b)))(t)
		bySchema := s.Validate(doc)
		_, byParser := Parse(name, []byte(text), 0)
		if (bySchema == nil) != want || (byParser == nil) != want {
			t.Errorf("%s: the schema says %v, the parser says %v; want both to take it: %v", name, bySchema, byParser, want)
		}
	}
	check("the example", Example, true)
	check("a place without kind and name", "places: [{fleet: {boards: 1}}]", true)
	check("a board of nothing", "places: [{boards: [{}]}]", false)
	check("a board without doors", "places: [{boards: [{doors: []}]}]", false)
	for mistake, change := range map[string][2]string{
		"a wrong kind":           {"kind: test", "kind: demo"},
		"an unknown field":       {"seed: 7", "sed: 7"},
		"a short phone":          {`"05011112222"`, `"123"`},
		"721 hours":              {"entryPermitMaxHours: 48", "entryPermitMaxHours: 721"},
		"a wrong scope":          {`"space:partner"`, `"space:all"`},
		"an id with a space":     {"brd_front", "brd front"},
		"a negative channel":     {"channel: 2", "channel: -1"},
		"half an interval":       {`["10:00", "14:00"]`, `["10:00"]`},
		"a weekday that isn't":   {"sun: []", "sunday: []"},
		"no channel":             {"channel: 2", "channel: 0"},
		"a channel too many":     {"channel: 2", "channel: 65"},
		"no doors per board":     {"doorsPerBoard: 2", "doorsPerBoard: 0"},
		"doors too many":         {"doorsPerBoard: 2", "doorsPerBoard: 17"},
		"a fleet of nothing":     {"fleet: {boards: 1}", "fleet: {}"},
		"half a report":          {", p99: 400ms", ""},
		"a key for nothing":      {`scopes: ["space:partner", "device:door"], sim`, "scopes: [], sim"},
		"a place without a name": {"name: Trial ", `name: "" `},
		"an empty phone":         {`"05011112222"`, `""`},
		"an empty kind":          {"kind: test", `kind: ""`},
		"no hours at all":        {"entryPermitMaxHours: 48", "entryPermitMaxHours: 0"},
		"a closure without end":  {", to: 2026-12-25", ""},
		"a membership of nobody": {`phone: "01011112222", `, ""},
	} {
		if !strings.Contains(Example, change[0]) {
			t.Fatalf("%s: the example has no %q", mistake, change[0])
		}
		check(mistake, strings.Replace(Example, change[0], change[1], 1), false)
	}
}
