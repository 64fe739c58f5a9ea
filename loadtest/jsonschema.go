package loadtest

import "github.com/invopop/jsonschema"

// JSONSchema describes the written form.
func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^([0-9.]+(ns|us|ms|s|m|h))+$`, Description: "like 20s or 1m30s"}
}

// JSONSchema describes the written forms.
func (Rate) JSONSchema() *jsonschema.Schema {
	return either(`^[0-9.]+(/[smh])?$`, "requests per second, like 300, 300/s or 600/m")
}

// JSONSchema describes the written forms.
func (Share) JSONSchema() *jsonschema.Schema {
	return either(`^[0-9.]+%?$`, "like 10% or 0.1")
}

func either(pattern, description string) *jsonschema.Schema {
	return &jsonschema.Schema{Description: description, OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "string", Pattern: pattern}}}
}
