// Package openapi is the OpenAPI document of the control API: listeners publish it at /lab/v1/openapi.json,
// docs/control-api.md is generated from it, and tests check the running listeners against it.
package openapi

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/control"
)

//go:embed control.yaml
var source []byte

// On is a kind of listener.
type On string

// The listeners: a server's (up, serve), that of `doorlab boards`, and what both have.
const (
	Server On = "server"
	Fleet  On = "fleet"
	All    On = ""
)

// Route mounts GET /openapi.json.
func Route(r chi.Router, on On) {
	r.Get("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		b, err := JSON(on)
		if err != nil {
			control.Fail(w, http.StatusInternalServerError, "internal_error", err.Error(), nil)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b)
	})
}

// JSON is the document of a listener.
func JSON(on On) ([]byte, error) {
	if on == Fleet {
		return fleet()
	}
	return server()
}

var (
	server = sync.OnceValues(func() ([]byte, error) { return encode(Server) })
	fleet  = sync.OnceValues(func() ([]byte, error) { return encode(Fleet) })
)

func encode(on On) ([]byte, error) {
	doc, err := Load(on)
	if err != nil {
		return nil, err
	}
	return doc.MarshalJSON()
}

// Load reads, completes and validates the document with the operations of one listener, or of all of them.
func Load(on On) (*openapi3.T, error) {
	var raw map[string]any
	if err := yaml.Unmarshal(source, &raw); err != nil {
		return nil, fmt.Errorf("control.yaml: %w", err)
	}
	paths := raw["paths"].(map[string]any)
	for path, item := range paths {
		methods := item.(map[string]any)
		for method, o := range methods {
			op := o.(map[string]any)
			if on != All && op["x-on"] != nil && op["x-on"] != string(on) {
				delete(methods, method)
				continue
			}
			complete(op)
		}
		if len(methods) == 0 {
			delete(paths, path)
		}
	}
	for _, s := range raw["components"].(map[string]any)["schemas"].(map[string]any) {
		object(s)
	}
	b, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return nil, fmt.Errorf("control.yaml: %w", err)
	}
	return doc, doc.Validate(context.Background())
}

// object closes an object of the source: fields that the document doesn't name become mistakes.
func object(schema any) any {
	s := schema.(map[string]any)
	if s["$ref"] != nil || s["type"] != nil {
		return s
	}
	s["type"], s["additionalProperties"] = "object", false
	return s
}

// complete expands the short forms of an operation.
func complete(op map[string]any) {
	if body := op["x-body"]; body != nil {
		media := map[string]any{"schema": object(body)}
		if op["x-example"] != nil {
			media["example"] = op["x-example"]
		}
		op["requestBody"] = map[string]any{"required": op["x-optional-body"] != true, "content": map[string]any{"application/json": media}}
	}
	answers := map[string]any{"200": map[string]any{"description": "OK", "content": answer(op)}}
	fails := []any{http.StatusBadRequest, http.StatusUnauthorized, http.StatusMisdirectedRequest, http.StatusServiceUnavailable}
	if more, ok := op["x-fails"].([]any); ok {
		fails = append(fails, more...)
	}
	for _, status := range fails {
		code, _ := strconv.Atoi(fmt.Sprint(status))
		answers[strconv.Itoa(code)] = map[string]any{"description": http.StatusText(code),
			"content": map[string]any{"application/json": media(map[string]any{"$ref": "#/components/schemas/Failure"})}}
	}
	op["responses"] = answers
	for _, name := range []string{"x-body", "x-example", "x-optional-body", "x-data", "x-list", "x-stream", "x-fails"} {
		delete(op, name)
	}
}

// answer is the envelope around the data, or a stream without one.
func answer(op map[string]any) map[string]any {
	if kind, ok := op["x-stream"].(string); ok {
		return map[string]any{kind: map[string]any{}}
	}
	properties := map[string]any{"success": map[string]any{"type": "boolean", "enum": []any{true}}}
	required := []any{"success", "data"}
	if list := op["x-list"]; list != nil {
		properties["data"] = map[string]any{"type": "array", "items": object(list)}
		properties["total"] = map[string]any{"type": "integer"}
		required = append(required, "total")
	} else {
		properties["data"] = object(op["x-data"])
	}
	return map[string]any{"application/json": media(map[string]any{
		"type": "object", "additionalProperties": false, "required": required, "properties": properties})}
}

func media(schema map[string]any) map[string]any { return map[string]any{"schema": schema} }
