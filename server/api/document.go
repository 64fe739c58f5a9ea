package api

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/server/rule"
)

//go:generate go run -C ../../tools/oapi .

//go:embed openapi/*.yaml
var files embed.FS

// Documents by sub-service, in this order.
var documentNames = []string{"core", "space", "device"}

// serverURL stands in the documents for the address they are served from.
const serverURL = "https://api.invalid"

// document is one OpenAPI file, complete: with the failures of every operation.
type document struct {
	name string
	doc  *openapi3.T
	json []byte
	ops  []*operation
}

// operation is one endpoint as its document describes it.
type operation struct {
	id, method, path string
	scope            string // space:partner device:door any none
	resource         string // of the path: place public-place door board permit reservation
	successor        string // legacy paths
	legacy           bool
	page             bool // answers text/html
	codes            []string
	params           []*param
	body             *body
}

// param is a query or header parameter.
type param struct {
	name, in string
	shape    *shape
	list     bool
	required bool
	code     string // when it is not there
}

// body is what an operation takes.
type body struct {
	required bool
	form     bool // a form will do, too
	max      int64
	shape    *shape
}

func loadDocuments() ([]*document, error) {
	var out []*document
	for _, name := range documentNames {
		b, err := files.ReadFile("openapi/" + name + ".yaml")
		if err != nil {
			return nil, err
		}
		d, err := loadDocument(name, b)
		if err != nil {
			return nil, fmt.Errorf("api: %s.yaml: %w", name, err)
		}
		out = append(out, d)
	}
	return out, nil
}

func loadDocument(name string, b []byte) (*document, error) {
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return nil, err
	}
	d := &document{name: name, doc: doc}
	doc.Servers = openapi3.Servers{{URL: serverURL}}
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Value(path)
		for method, o := range item.Operations() {
			op, err := readOperation(method, path, o)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			d.ops = append(d.ops, op)
			complete(doc, o, op)
		}
	}
	slices.SortFunc(d.ops, func(a, b *operation) int {
		return slices.Compare([]string{a.path, a.method}, []string{b.path, b.method})
	})
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	d.json, err = doc.MarshalJSON()
	return d, err
}

func readOperation(method, path string, o *openapi3.Operation) (*operation, error) {
	op := &operation{id: o.OperationID, method: method, path: path,
		scope: text(o.Extensions, "x-required-scope", ""), resource: text(o.Extensions, "x-resource", ""),
		successor: text(o.Extensions, "x-successor", ""), legacy: o.Deprecated}
	if op.scope == "" {
		return nil, fmt.Errorf("no x-required-scope")
	}
	if op.id == "" {
		return nil, fmt.Errorf("no operationId")
	}
	op.page = o.Responses.Value("200").Value.Content["text/html"] != nil
	for _, p := range o.Parameters {
		if p.Value.In == "path" {
			continue
		}
		q, err := readParam(p.Value)
		if err != nil {
			return nil, err
		}
		op.params = append(op.params, q)
	}
	slices.SortStableFunc(op.params, func(a, b *param) int { return compareIn(a.in, b.in) })
	if o.RequestBody != nil {
		var err error
		if op.body, err = readBody(o); err != nil {
			return nil, err
		}
	}
	op.codes = codesOf(op, o)
	return op, nil
}

// compareIn puts headers before the query.
func compareIn(a, b string) int {
	if a == b {
		return 0
	}
	if a == "header" {
		return -1
	}
	return 1
}

func readParam(p *openapi3.Parameter) (*param, error) {
	code := text(p.Extensions, "x-error-code", rule.InvalidQuery)
	s, err := compile(p.Schema, code)
	if err != nil {
		return nil, err
	}
	q := &param{name: p.Name, in: p.In, shape: s, required: p.Required, code: text(p.Extensions, "x-error-code-missing", code)}
	q.list = s.kind == "array"
	return q, nil
}

func readBody(o *openapi3.Operation) (*body, error) {
	r := o.RequestBody.Value
	b := &body{required: r.Required, max: 64 << 10, form: r.Content["application/x-www-form-urlencoded"] != nil}
	if n, ok := o.Extensions["x-max-bytes"].(float64); ok {
		b.max = int64(n)
	}
	var err error
	b.shape, err = compile(r.Content["application/json"].Schema, "")
	return b, err
}

// resourceCodes: what a path that names nothing is answered with.
var resourceCodes = map[string]string{
	"place": rule.PlaceForbidden, "public-place": rule.PlaceNotFound, "door": rule.DeviceNotFound,
	"board": rule.BoardNotFound, "permit": rule.PermitNotFound, "reservation": rule.NotFound,
}

// codesOf lists every code an operation may fail with: those of x-errors and
// those that follow from what it takes.
func codesOf(op *operation, o *openapi3.Operation) []string {
	codes := []string{rule.InternalError}
	if list, ok := o.Extensions["x-errors"].([]any); ok {
		for _, c := range list {
			codes = append(codes, fmt.Sprint(c))
		}
	}
	if op.scope != "none" {
		codes = append(codes, rule.TokenMissing, rule.TokenInvalid, rule.TokenExpired, rule.StorageUnavailable)
	}
	if op.scope != "none" && op.scope != "any" {
		codes = append(codes, rule.ScopeMissing)
	}
	if c := resourceCodes[op.resource]; c != "" {
		codes = append(codes, c)
	}
	for _, p := range op.params {
		codes = append(codes, p.code, p.shape.code)
		if p.in == "query" && p.code != rule.LinkInvalid {
			codes = append(codes, rule.InvalidQuery)
		}
	}
	if op.body != nil {
		codes = append(codes, rule.InvalidBody, rule.BodyTooLarge, rule.MissingField, rule.InvalidField)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// complete writes the failures and the security of an operation into its document.
func complete(doc *openapi3.T, o *openapi3.Operation, op *operation) {
	if op.scope != "none" {
		o.Security = openapi3.NewSecurityRequirements().With(openapi3.NewSecurityRequirement().Authenticate("bearer"))
	}
	byStatus := map[int][]any{}
	for _, c := range op.codes {
		byStatus[statuses[c]] = append(byStatus[statuses[c]], c)
	}
	schema := "Failure"
	if op.legacy {
		schema = "LegacyFailure"
	}
	for status, codes := range byStatus {
		var example map[string]any
		if err := json.Unmarshal(encode(failureOf(rule.New(codes[0].(string), "what went wrong"), op.legacy)), &example); err != nil {
			panic("api: " + err.Error())
		}
		own := openapi3.NewObjectSchema().
			WithProperty("error", openapi3.NewStringSchema().WithEnum(codes...)).
			WithProperty("statusCode", openapi3.NewIntegerSchema().WithEnum(float64(status)))
		all := &openapi3.Schema{AllOf: openapi3.SchemaRefs{
			openapi3.NewSchemaRef("#/components/schemas/"+schema, doc.Components.Schemas[schema].Value), own.NewRef()}}
		media := openapi3.NewMediaType().WithSchema(all).WithExample("failure", example)
		resp := openapi3.NewResponse().WithDescription(http.StatusText(status))
		resp.Content = openapi3.Content{"application/json": media}
		if op.page {
			resp.Content["text/html"] = openapi3.NewMediaType().WithSchema(openapi3.NewStringSchema())
		}
		o.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Value: resp})
	}
}
