package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/loadtest"
)

// Schema is the JSON Schema of scenario files, for editors and `doorlab schema`.
func Schema() ([]byte, error) {
	return schemaOf(&Doc{}, "doorlab scenario", "A scenario file of doorlab, see docs/scenarios.md")
}

// PlanSchema returns the JSON Schema of load plans, which the step load embeds.
func PlanSchema() ([]byte, error) {
	return schemaOf(&loadtest.Plan{}, "doorlab load plan", "A load plan of doorlab, see docs/load-testing.md")
}

// schemaOf describes the struct that doc points to.
func schemaOf(doc any, title, description string) ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true, RequiredFromJSONSchemaTags: true, ExpandedStruct: true, Mapper: mapper}
	s := r.Reflect(doc)
	s.Title, s.Description = title, description
	describe(s, s, reflect.TypeOf(doc).Elem(), map[reflect.Type]bool{})
	return json.MarshalIndent(s, "", "  ")
}

// describe inserts the tags' complete descriptions: the library ends them at the first comma.
func describe(root, s *jsonschema.Schema, t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] && s == nil {
		return
	}
	seen[t] = true
	if s == nil {
		if s = object(root.Definitions[t.Name()]); s == nil {
			return
		}
	}
	for f := range t.Fields() {
		if f.Anonymous {
			describe(root, s, f.Type, seen)
			continue
		}
		_, text, ok := strings.Cut(f.Tag.Get("jsonschema"), "description=")
		if p, known := s.Properties.Get(strictyaml.KeyName(f)); known && ok {
			p.Description = text
		}
		describe(root, nil, f.Type, seen)
	}
}

// object is the part of a definition that has properties: a verb may also be one word.
func object(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil || s.Properties != nil && s.Properties.Len() > 0 {
		return s
	}
	for _, a := range s.AnyOf {
		if o := object(a); o != nil {
			return o
		}
	}
	return nil
}

func anyOf(types ...string) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: each.Of(types, func(t string) *jsonschema.Schema { return &jsonschema.Schema{Type: t} })}
}

func oneOf(words []string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: each.Of(words, func(w string) any { return w })}
}

var verbsType = reflect.TypeFor[Verbs]()

// mapper defines the schemas of the language's value types.
func mapper(t reflect.Type) *jsonschema.Schema {
	scalar := func() *jsonschema.Schema { return anyOf("string", "number", "boolean") }
	list := func(e *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{e, {Type: "array", Items: e}}}
	}
	switch t {
	case reflect.TypeFor[Text](), reflect.TypeFor[Expr](), reflect.TypeFor[Ref]():
		return scalar()
	case reflect.TypeFor[FaultName]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{oneOf(faults.Names()), {Type: "string", Pattern: `\$\{`}}}
	case reflect.TypeFor[Num]():
		return anyOf("number", "string")
	case reflect.TypeFor[Dur](), reflect.TypeFor[When](), reflect.TypeFor[Name]():
		return anyOf("string")
	case reflect.TypeFor[Any]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[Exprs]():
		long := &jsonschema.Schema{Type: "object", Required: []string{"that", "clauses"}, Properties: jsonschema.NewProperties(),
			Description: "An expectation that alone is evidence for its clauses", AdditionalProperties: jsonschema.FalseSchema}
		that, clauses := scalar(), list(anyOf("string"))
		that.Description, clauses.Description = "The expression that must be true", "The guarantees that it is evidence for"
		long.Properties.Set("that", that)
		long.Properties.Set("clauses", clauses)
		e := scalar()
		e.AnyOf = append(e.AnyOf, long)
		return list(e)
	case reflect.TypeFor[Refs](), reflect.TypeFor[Statuses]():
		return list(scalar())
	case reflect.TypeFor[ClauseIDs]():
		return list(oneOf(judge.Clauses()))
	case reflect.TypeFor[Captures]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: scalar()}
	case reflect.TypeFor[loadtest.Duration](), reflect.TypeFor[loadtest.Rate](), reflect.TypeFor[loadtest.Share]():
		return anyOf("string", "number")
	}
	return nil
}

// oneWord allows a verb to be written as one word.
func oneWord(s *jsonschema.Schema) {
	inner := *s
	*s = jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, &inner}}
}

func (Clock) JSONSchemaExtend(s *jsonschema.Schema) { oneWord(s) }
func (Mark) JSONSchemaExtend(s *jsonschema.Schema)  { oneWord(s) }
func (Wait) JSONSchemaExtend(s *jsonschema.Schema)  { oneWord(s) }
func (Log) JSONSchemaExtend(s *jsonschema.Schema)   { oneWord(s) }
func (Clear) JSONSchemaExtend(s *jsonschema.Schema) { oneWord(s) }
func (Disk) JSONSchemaExtend(s *jsonschema.Schema)  { oneWord(s) }

// JSONSchemaExtend also allows the name of a built-in plan.
func (LoadPlan) JSONSchemaExtend(s *jsonschema.Schema) { oneWord(s) }

// JSONSchemaExtend says that a step has one verb at most.
func (Step) JSONSchemaExtend(s *jsonschema.Schema) {
	var one []*jsonschema.Schema
	for field := range verbsType.Fields() {
		one = append(one, &jsonschema.Schema{Required: []string{strictyaml.KeyName(field)}})
	}
	only := &jsonschema.Schema{Not: &jsonschema.Schema{AnyOf: one}, AnyOf: []*jsonschema.Schema{{Required: []string{"expect"}}, {Required: []string{"require"}}}}
	s.OneOf = append(slices.Clone(one), only)
}
