package loadtest

import "github.com/invopop/jsonschema"

func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^([0-9.]+(ns|us|ms|s|m|h))+$`, Description: "like 20s or 1m30s"}
}

func (Rate) JSONSchema() *jsonschema.Schema {
	return either(`^[0-9.]+(/[smh])?$`, "requests per second, like 300, 300/s or 600/m")
}

func (Share) JSONSchema() *jsonschema.Schema {
	return either(`^[0-9.]+%?$`, "like 10% or 0.1")
}

func (Plan) JSONSchemaExtend(s *jsonschema.Schema)  { limits(s) }
func (Stage) JSONSchemaExtend(s *jsonschema.Schema) { limits(s) }

// limits allows limits that are plain numbers.
func limits(s *jsonschema.Schema) {
	if p, ok := s.Properties.Get("thresholds"); ok {
		p.AdditionalProperties = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}}}
	}
}

func either(pattern, description string) *jsonschema.Schema {
	return &jsonschema.Schema{Description: description, OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "string", Pattern: pattern}}}
}
