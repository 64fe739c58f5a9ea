package report

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/doorlab/doorlab/internal/judge"
)

// SchemaVersion is the format version in verdicts.json, see docs/reports.md. It is raised when a reader of the previous
// version could misread the file; a new field alone doesn't raise it.
const SchemaVersion = 1

// Schema is the JSON Schema of verdicts.json.
func Schema() ([]byte, error) {
	return SchemaOf(&Result{}, "doorlab check result", SchemaVersion)
}

// SchemaOf is the JSON Schema of a result with its version in the field "schema".
func SchemaOf(result any, title string, version int) ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: true, Namer: func(t reflect.Type) string {
		if t.Name() == "" {
			return ""
		}
		return path.Base(t.PkgPath()) + "." + t.Name() // vocab has a Result, too
	}, Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t == reflect.TypeFor[judge.Status]() {
			return &jsonschema.Schema{Type: "string", Enum: []any{judge.Pass, judge.Fail, judge.Skipped, judge.Blocked, judge.Invalid}}
		}
		return nil
	}}
	s := r.Reflect(result)
	s.Title, s.Description = title, fmt.Sprintf("Version %d, see docs/reports.md", version)
	if p, ok := s.Properties.Get("schema"); ok {
		p.Const = version
	}
	return json.MarshalIndent(s, "", "  ")
}
