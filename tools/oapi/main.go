// Command oapi writes the types of server/api/gen from the component schemas and
// the request bodies of the OpenAPI documents, with oapi-codegen. It works on a
// copy: what only Go needs to know is added here and never reaches a served
// document.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"
	"go.yaml.in/yaml/v3"
)

const api = "../../server/api" // from this directory, where go run -C runs it

var config = codegen.Configuration{
	Generate: codegen.GenerateOptions{Models: true},
	OutputOptions: codegen.OutputOptions{
		SkipPrune:      true, // operations are left out below, so nothing would refer to a schema
		NameNormalizer: string(codegen.NameNormalizerFunctionToCamelCaseWithInitialisms),
		TypeMapping: &codegen.TypeMapping{String: codegen.FormatMapping{Formats: map[string]codegen.SimpleTypeSpec{
			"date":      {Type: "string"},
			"date-time": {Type: "stamp.Time"},
		}}},
	},
	AdditionalImports: []codegen.AdditionalImport{{Package: "github.com/doorlab/doorlab/server/api/stamp"}}, // where used
}

// ours are schemas that the rules have a type of their own for.
var ours = map[string][2]string{
	"Week":         {"access.Week", "github.com/doorlab/doorlab/internal/access"},
	"Import.items": {"[]json.RawMessage", ""}, // each row stands alone
}

// embeds are schemas that repeat another one and go on: in Go they embed it.
var embeds = map[string]string{"PermitDetail": "Permit", "DeviceDetail": "Device", "LegacyFailure": "Failure"}

func main() {
	log.SetFlags(0)
	for _, name := range []string{"core", "space", "device"} {
		if err := generate(name); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

func generate(name string) error {
	b, err := os.ReadFile(filepath.Join(api, "openapi", name+".yaml"))
	if err != nil {
		return err
	}
	var file struct {
		Components struct{ Schemas yaml.Node }
		Paths      yaml.Node
	}
	if err := yaml.Unmarshal(b, &file); err != nil {
		return err
	}
	spec, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return err
	}
	nodes := pairs(&file.Components.Schemas)
	for _, p := range pairs(&file.Paths) {
		for _, o := range pairs(p.value) {
			if n := bodyOf(o.value); n != nil {
				op := spec.Paths.Value(p.name).GetOperation(strings.ToUpper(o.name))
				name := strings.ToUpper(op.OperationID[:1]) + op.OperationID[1:] + "Body"
				spec.Components.Schemas[name] = op.RequestBody.Value.Content["application/json"].Schema
				nodes = append(nodes, pair{name, n})
			}
		}
	}
	spec.Paths = openapi3.NewPaths()
	spec.Components.Parameters, spec.Components.RequestBodies, spec.Components.Responses = nil, nil, nil
	for _, s := range nodes {
		adapt(s.name, spec.Components.Schemas[s.name].Value, s.value)
	}
	for name, base := range embeds {
		if err := embed(spec.Components.Schemas, name, base); err != nil {
			return err
		}
	}
	cfg := config
	cfg.PackageName = name
	code, err := codegen.Generate(spec, cfg)
	if err != nil {
		return err
	}
	code = strings.Replace(code, "provides primitives to interact with the openapi HTTP API.",
		"holds the types of the schemas of "+name+".yaml; for server/api only.", 1)
	for name, base := range embeds {
		head := "type " + name + " struct {\n"
		code = strings.Replace(code, head, head+"\t"+base+"\n\n", 1)
	}
	out := filepath.Join(api, "gen", name, "types.gen.go")
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, []byte(code), 0o644)
}

// bodyOf is the schema of an operation's own JSON body; nil when it has none or
// refers to a component.
func bodyOf(op *yaml.Node) *yaml.Node {
	n := field(field(field(field(op, "requestBody"), "content"), "application/json"), "schema")
	if field(n, "properties") == nil {
		return nil
	}
	return n
}

// embed takes out of a schema what its base has; the base goes in by name.
func embed(all openapi3.Schemas, name, base string) error {
	s, b := all[name], all[base]
	if s == nil || b == nil {
		return nil // another document's
	}
	for p := range b.Value.Properties {
		if s.Value.Properties[p] == nil {
			return fmt.Errorf("%s has no %s: it can't embed %s", name, p, base)
		}
		delete(s.Value.Properties, p)
	}
	s.Value.Required = slices.DeleteFunc(slices.Clone(s.Value.Required), func(p string) bool { return s.Value.Properties[p] == nil })
	return nil
}

// adapt says what the types are to look like in Go: fields in the document's
// order, values of an enumeration as plain strings (the handlers pass on what
// the rules say), no pointer for what may be absent, none for a time.
func adapt(name string, s *openapi3.Schema, node *yaml.Node) {
	if t, ok := ours[name]; ok {
		s.Extensions = map[string]any{"x-go-type": t[0], "x-go-type-import": map[string]any{"path": t[1]}}
		return
	}
	for i, p := range pairs(field(node, "properties")) {
		ref := s.Properties[p.name]
		v := *ref.Value
		v.Enum = nil
		ext := map[string]any{"x-order": float64(i), "x-go-type-skip-optional-pointer": v.Format == "date-time" || !required(s, p.name)}
		if !required(s, p.name) {
			ext["x-omitzero"] = true
		}
		if n, ok := strings.CutSuffix(p.name, "Ids"); ok {
			ext["x-go-name"] = strings.ToUpper(n[:1]) + n[1:] + "IDs"
		}
		for _, inner := range []*openapi3.SchemaRef{v.Items, v.AdditionalProperties.Schema} {
			if inner != nil && inner.Ref == "" {
				inner.Value.Enum = nil
			}
		}
		if t, ok := ours[name+"."+p.name]; ok {
			ext["x-go-type"] = t[0]
		}
		if ref.Ref == "" {
			v.Extensions = ext
			if len(v.Properties) > 0 { // an object without a name
				adapt(name+"."+p.name, &v, p.value)
			}
		}
		s.Properties[p.name] = &openapi3.SchemaRef{Ref: ref.Ref, Value: &v, Extensions: ext}
	}
}

func required(s *openapi3.Schema, name string) bool { return slices.Contains(s.Required, name) }

type pair struct {
	name  string
	value *yaml.Node
}

// pairs are a mapping's entries in the order of the file, merged ones at their place.
func pairs(n *yaml.Node) (out []pair) {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "<<" {
			out = append(out, pairs(n.Content[i+1])...)
			continue
		}
		out = append(out, pair{n.Content[i].Value, n.Content[i+1]})
	}
	return out
}

func field(n *yaml.Node, name string) *yaml.Node {
	for _, p := range pairs(n) {
		if p.name == name {
			return p.value
		}
	}
	return nil
}
