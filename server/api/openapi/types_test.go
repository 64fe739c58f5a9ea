package openapi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/must"
)

// TestTypes: the generated types match the documents, schema by schema and property by property. After a change: make
// generate.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, name := range Names {
		for _, line := range drift(schemasOf(t, name), generated(t, name)) {
			t.Errorf("%s: %s (make generate)", name, line)
		}
	}
}

// TestTypesSee: a document that has changed since is noticed.
func TestTypesSee(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s openapi3.Schemas){
		"a schema more":           func(s openapi3.Schemas) { s["Permit2"] = s["Permit"] },
		"a schema less":           func(s openapi3.Schemas) { delete(s, "Customer") },
		"a property less":         func(s openapi3.Schemas) { delete(s["Sync"].Value.Properties, "state") },
		"another type":            func(s openapi3.Schemas) { s["Sync"].Value.Properties["boards"] = openapi3.NewStringSchema().NewRef() },
		"a property more":         func(s openapi3.Schemas) { s["Sync"].Value.WithProperty("at", openapi3.NewStringSchema()) },
		"nothing required":        func(s openapi3.Schemas) { s["Revoked"].Value.Required = nil },
		"null allowed":            func(s openapi3.Schemas) { s["Registered"].Value.Properties["url"].Value.Nullable = true },
		"items of another type":   func(s openapi3.Schemas) { s["DoorIds"].Value.Items = openapi3.NewIntegerSchema().NewRef() },
		"items of another schema": func(s openapi3.Schemas) { s["Imported"].Value.Properties["results"].Value.Items = s["Sync"] },
	} {
		schemas := schemasOf(t, "space")
		change(schemas)
		if len(drift(schemas, generated(t, "space"))) != 1 {
			t.Errorf("%s: the change wasn't noticed", name)
		}
	}
}

func schemasOf(t *testing.T, name string) openapi3.Schemas {
	t.Helper()
	b := must.Get(files.ReadFile(name + ".yaml"))(t)
	doc := readLanded(t, b)
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody == nil || op.RequestBody.Ref != "" {
				continue
			}
			if s := op.RequestBody.Value.Content["application/json"].Schema; s.Ref == "" {
				doc.Components.Schemas[strings.ToUpper(op.OperationID[:1])+op.OperationID[1:]+"Body"] = s
			}
		}
	}
	return doc.Components.Schemas
}

// generated maps each type of a package to its Go definition.
func generated(t *testing.T, name string) map[string]string {
	t.Helper()
	f := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join("..", "gen", name, "types.gen.go"), nil, 0))(t)
	out, embeds := map[string]string{}, map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			out[spec.Name.Name] = types.ExprString(spec.Type)
			return false
		}
		if first := s.Fields.List[0]; len(first.Names) == 0 {
			embeds[spec.Name.Name] = types.ExprString(first.Type)
			s.Fields.List = s.Fields.List[1:]
		}
		out[spec.Name.Name] = fieldsOf(s)
		return false
	})
	for name, base := range embeds {
		all := append(strings.Split(out[base], "\n"), strings.Split(out[name], "\n")...)
		slices.Sort(all)
		out[name] = strings.Join(all, "\n")
	}
	return out
}

// fieldsOf writes a struct in the form of goType.
func fieldsOf(s *ast.StructType) string {
	var fields []string
	for _, f := range s.Fields.List {
		typ := types.ExprString(f.Type)
		if inner, ok := f.Type.(*ast.StructType); ok {
			typ = "{" + fieldsOf(inner) + "}"
		}
		fields = append(fields, typ+" "+f.Tag.Value)
	}
	slices.Sort(fields)
	return strings.Join(fields, "\n")
}

func drift(schemas openapi3.Schemas, have map[string]string) (lines []string) {
	for name, s := range schemas {
		want := goType(s.Value)
		if name == "Week" { // defined by the rules
			want = "access.Week"
		}
		if name == "Import" { // each row is checked separately
			want = strings.Replace(want, "[]interface{}", "[]json.RawMessage", 1)
		}
		if got, ok := have[name]; !ok {
			lines = append(lines, name+" has no type")
		} else if got != want {
			lines = append(lines, fmt.Sprintf("%s is\n%s\ninstead of\n%s", name, got, want))
		}
	}
	for name := range have {
		if schemas[name] == nil {
			lines = append(lines, name+" has no schema")
		}
	}
	return lines
}

// goType is a schema's Go type; for an object its fields, sorted.
func goType(s *openapi3.Schema) string {
	switch {
	case s.Type.Is("array"):
		return "[]" + refType(s.Items)
	case s.Type.Is("object") && s.AdditionalProperties.Schema != nil:
		return "map[string]" + refType(s.AdditionalProperties.Schema)
	case s.Type.Is("object") && len(s.Properties) == 0:
		return "map[string]interface{}"
	case s.Type.Is("object"):
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p, tag := s.Properties[name], name
			typ := refType(p)
			if !slices.Contains(s.Required, name) {
				tag += ",omitempty,omitzero"
			} else if p.Value.Nullable && typ != "stamp.Time" {
				typ = "*" + typ
			}
			fields = append(fields, typ+" `json:\""+tag+"\"`")
		}
		slices.Sort(fields)
		return strings.Join(fields, "\n")
	case s.Type.Is("string") && s.Format == "date-time":
		return "stamp.Time"
	case s.Type.Is("string"):
		return "string"
	case s.Type.Is("integer"):
		return "int"
	case s.Type.Is("boolean"):
		return "bool"
	}
	return "interface{}"
}

func refType(r *openapi3.SchemaRef) string {
	if r.Ref != "" {
		return r.Ref[strings.LastIndex(r.Ref, "/")+1:]
	}
	if len(r.Value.Properties) > 0 {
		return "{" + goType(r.Value) + "}"
	}
	return goType(r.Value)
}
