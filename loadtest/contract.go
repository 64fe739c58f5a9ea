package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/getkin/kin-openapi/openapi3"
)

// contract holds every answer against the OpenAPI documents that the target
// itself publishes. A target that publishes none is not checked.
type contract struct {
	operations map[string]*openapi3.Operation // by method and route
	checked    atomic.Int64
	bad        atomic.Int64
	first      atomic.Pointer[string] // what the first bad one was
}

// documents are the sub-services whose routes a load uses.
var documents = []string{"core", "device"}

// readContract asks the target for its documents.
func (a *api) readContract(ctx context.Context, via http.RoundTripper) *contract {
	c := &contract{operations: map[string]*openapi3.Operation{}}
	for _, sub := range documents {
		path := "/" + sub + "/v1/openapi.json"
		resp, err := a.fetch(ctx, via, path)
		if err != nil {
			continue
		}
		doc, err := openapi3.NewLoader().LoadFromData(resp)
		if err != nil {
			continue
		}
		for route, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				c.operations[method+" "+route] = op
			}
		}
	}
	return c
}

// check holds one answer against the document. It is called from many goroutines.
func (c *contract) check(method, route string, status int, contentType string, body []byte) {
	if c == nil || c.operations[method+" "+route] == nil {
		return
	}
	c.checked.Add(1)
	if err := c.breach(c.operations[method+" "+route], status, contentType, body); err != nil {
		c.bad.Add(1)
		why, _, _ := strings.Cut(err.Error(), "\n")
		why = fmt.Sprintf("%s %s answered %d: %s", method, route, status, why)
		c.first.CompareAndSwap(nil, &why)
	}
}

func (c *contract) breach(op *openapi3.Operation, status int, contentType string, body []byte) error {
	r := op.Responses.Status(status)
	if r == nil || r.Value == nil {
		return fmt.Errorf("the document has no such status")
	}
	media := r.Value.Content.Get(contentType)
	if media == nil || media.Schema == nil {
		return fmt.Errorf("the document has no content of type %q for it", contentType)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("the body is no JSON")
	}
	return media.Schema.Value.VisitJSON(v, openapi3.VisitAsResponse())
}
