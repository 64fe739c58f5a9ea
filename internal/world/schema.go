package world

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema of world files.
func Schema() ([]byte, error) { return schema, nil }

// Example is a world file to start from: it has every kind of thing.
//
//go:embed example.yaml
var Example string
