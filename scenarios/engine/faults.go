package engine

import (
	"github.com/invopop/jsonschema"

	"github.com/doorlab/doorlab/internal/faults"
)

// FaultName is the name of a fault, see internal/faults, or a template.
type FaultName struct{ Text }

// Words lists the valid names.
func (FaultName) Words() []string { return faults.Names() }

// Hint is what a wrong name is followed by.
func (FaultName) Hint(wrong string) string { return faults.Hint(wrong) }

// JSONSchemaExtend lists the parameters of each fault.
func (Fault) JSONSchemaExtend(s *jsonschema.Schema) {
	for _, name := range faults.Names() {
		f, _ := faults.Lookup(name)
		params := jsonschema.NewProperties()
		for _, p := range f.Params {
			params.Set(p.Name, &jsonschema.Schema{Description: p.Text()})
		}
		named, with := jsonschema.NewProperties(), jsonschema.NewProperties()
		named.Set("fault", &jsonschema.Schema{Const: name})
		with.Set("params", &jsonschema.Schema{Properties: params, AdditionalProperties: jsonschema.FalseSchema})
		s.AllOf = append(s.AllOf, &jsonschema.Schema{If: &jsonschema.Schema{Properties: named}, Then: &jsonschema.Schema{Properties: with}})
	}
}
