// Package openapi reads the three OpenAPI documents beside it: operations with their scopes, codes and shapes. It
// checks the headers, query and body of requests against them. server/api registers and runs the operations.
package openapi

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/fail"
)

//go:generate go run -C ../../../tools/oapi .

//go:embed *.yaml
var files embed.FS

// Names of the documents, one per sub-service, in this order.
var Names = []string{"core", "space", "device"}

// ServerURL is the documents' placeholder for the address they are served from.
const ServerURL = "https://api.invalid"

// Document is one OpenAPI file, completed with the failures of every operation.
type Document struct {
	Name string
	Doc  *openapi3.T
	JSON []byte // served, with ServerURL for the address
	Ops  []*Operation
}

// Operation is one endpoint as its document describes it.
type Operation struct {
	ID, Method, Path string
	Scope            string // space:partner device:door any none
	Resource         string // of the path: place public-place door board permit reservation
	Successor        string // legacy paths
	Legacy           bool
	Page             bool // answers text/html
	Codes            []string
	Params           []*Param
	Body             *Body // nil = takes none
}

// Param is a query or header parameter.
type Param struct {
	Name, In string
	shape    *shape
	required bool
	code     string // when it is missing
}

func (p *Param) list() bool { return p.shape.kind == "array" }

// Integer reports whether the parameter is a whole number.
func (p *Param) Integer() bool { return p.shape.kind == "integer" }

// Body is the request body of an operation.
type Body struct {
	Required bool
	Max      int64 // bytes
	form     bool  // a form is accepted, too
	shape    *shape
}

// Load reads, completes and validates the documents once per process; they are read only. It returns an error for a
// keyword that nothing checks.
var Load = sync.OnceValues(loadAll)

func loadAll() ([]*Document, error) {
	var out []*Document
	for _, name := range Names {
		b, err := files.ReadFile(name + ".yaml")
		if err != nil {
			return nil, err
		}
		d, err := load(name, b)
		if err != nil {
			return nil, fmt.Errorf("openapi: %s.yaml: %w", name, err)
		}
		out = append(out, d)
	}
	return out, nil
}

func load(name string, b []byte) (*Document, error) {
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return nil, err
	}
	d := &Document{Name: name, Doc: doc}
	doc.Servers = openapi3.Servers{{URL: ServerURL}}
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Value(path)
		for method, o := range item.Operations() {
			op, err := readOperation(method, path, o)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			d.Ops = append(d.Ops, op)
			complete(doc, o, op)
		}
	}
	slices.SortFunc(d.Ops, func(a, b *Operation) int {
		return slices.Compare([]string{a.Path, a.Method}, []string{b.Path, b.Method})
	})
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	d.JSON, err = doc.MarshalJSON()
	return d, err
}

func readOperation(method, path string, o *openapi3.Operation) (*Operation, error) {
	op := &Operation{ID: o.OperationID, Method: method, Path: path,
		Scope: text(o.Extensions, "x-required-scope", ""), Resource: text(o.Extensions, "x-resource", ""),
		Successor: text(o.Extensions, "x-successor", ""), Legacy: o.Deprecated}
	if op.Scope == "" {
		return nil, fmt.Errorf("no x-required-scope")
	}
	if op.ID == "" {
		return nil, fmt.Errorf("no operationId")
	}
	op.Page = o.Responses.Value("200").Value.Content["text/html"] != nil
	for _, p := range o.Parameters {
		if p.Value.In == "path" {
			continue
		}
		q, err := readParam(p.Value)
		if err != nil {
			return nil, err
		}
		op.Params = append(op.Params, q)
	}
	slices.SortStableFunc(op.Params, func(a, b *Param) int { return strings.Compare(a.In, b.In) }) // headers before the query
	if o.RequestBody != nil {
		var err error
		if op.Body, err = readBody(o); err != nil {
			return nil, err
		}
	}
	op.Codes = codesOf(op, o)
	return op, nil
}

func readParam(p *openapi3.Parameter) (*Param, error) {
	code := text(p.Extensions, "x-error-code", fail.InvalidQuery)
	s, err := compile(p.Schema, code)
	if err != nil {
		return nil, err
	}
	return &Param{Name: p.Name, In: p.In, shape: s, required: p.Required, code: text(p.Extensions, "x-error-code-missing", code)}, nil
}

func readBody(o *openapi3.Operation) (*Body, error) {
	r := o.RequestBody.Value
	b := &Body{Required: r.Required, Max: 64 << 10, form: r.Content["application/x-www-form-urlencoded"] != nil}
	if n, ok := o.Extensions["x-max-bytes"].(float64); ok {
		b.Max = int64(n)
	}
	var err error
	b.shape, err = compile(r.Content["application/json"].Schema, "")
	return b, err
}

// Absent is the error code for a path that names nothing, by x-resource.
var Absent = map[string]string{
	"place": fail.PlaceForbidden, "public-place": fail.PlaceNotFound, "door": fail.DeviceNotFound,
	"board": fail.BoardNotFound, "permit": fail.PermitNotFound, "reservation": fail.NotFound,
}

// codesOf lists every code that an operation may fail with: those in x-errors and those that follow from its parameters
// and body.
func codesOf(op *Operation, o *openapi3.Operation) []string {
	codes := []string{fail.InternalError}
	if list, ok := o.Extensions["x-errors"].([]any); ok {
		for _, c := range list {
			codes = append(codes, fmt.Sprint(c))
		}
	}
	if op.Scope != "none" {
		codes = append(codes, fail.TokenMissing, fail.TokenInvalid, fail.TokenExpired, fail.StorageUnavailable)
	}
	if op.Scope != "none" && op.Scope != "any" {
		codes = append(codes, fail.ScopeMissing)
	}
	if c := Absent[op.Resource]; c != "" {
		codes = append(codes, c)
	}
	for _, p := range op.Params {
		codes = append(codes, p.code, p.shape.code)
		if p.In == "query" && p.code != fail.LinkInvalid {
			codes = append(codes, fail.InvalidQuery)
		}
	}
	if op.Body != nil {
		codes = append(codes, fail.InvalidBody, fail.BodyTooLarge, fail.MissingField, fail.InvalidField)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// complete writes the failures and the security of an operation into its document.
func complete(doc *openapi3.T, o *openapi3.Operation, op *Operation) {
	if op.Scope != "none" {
		o.Security = openapi3.NewSecurityRequirements().With(openapi3.NewSecurityRequirement().Authenticate("bearer"))
	}
	schema := "Failure"
	if op.Legacy {
		schema = "LegacyFailure"
	}
	command := op.Legacy && slices.ContainsFunc(op.Params, func(p *Param) bool { return p.Name == "Idempotency-Key" })
	for status, codes := range each.By(op.Codes, fail.Status) {
		example := map[string]any{"error": codes[0], "message": "what went wrong", "statusCode": status}
		if op.Legacy {
			example["reason"], example["detail"] = codes[0], "what went wrong"
		}
		own := openapi3.NewObjectSchema().
			WithProperty("error", openapi3.NewStringSchema().WithEnum(each.Of(codes, func(c string) any { return c })...)).
			WithProperty("statusCode", openapi3.NewIntegerSchema().WithEnum(float64(status)))
		shape := schema
		if command && slices.ContainsFunc(codes, func(c string) bool {
			return c == fail.DeviceOffline || c == fail.DeviceRefused || c == fail.DeviceNoResponse
		}) {
			const replays = "Absent in a replay of a command that was first sent to /device/v1/devices/{id}/commands: it has that path's shape."
			shape = "Failure"
			for _, name := range []string{"reason", "detail"} {
				own.WithProperty(name, openapi3.NewStringSchema())
				own.Properties[name].Value.Description = replays
			}
		}
		all := &openapi3.Schema{AllOf: openapi3.SchemaRefs{
			openapi3.NewSchemaRef("#/components/schemas/"+shape, doc.Components.Schemas[shape].Value), own.NewRef()}}
		media := openapi3.NewMediaType().WithSchema(all).WithExample("failure", example)
		resp := openapi3.NewResponse().WithDescription(http.StatusText(status))
		resp.Content = openapi3.Content{"application/json": media}
		if op.Page {
			resp.Content["text/html"] = openapi3.NewMediaType().WithSchema(openapi3.NewStringSchema())
		}
		o.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Value: resp})
	}
}
