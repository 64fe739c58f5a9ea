package console

import (
	"net/http"
	"sync"

	"github.com/doorlab/doorlab/internal/control/openapi"
)

// callsPage is the reference of the control API.
func (c *Console) callsPage() Page {
	return Page{Name: "calls", Path: "/calls", Title: "calls.title", Nav: "nav.calls", View: func(*http.Request) (any, error) { return reference() }}
}

var reference = sync.OnceValues(func() (openapi.Reference, error) {
	doc, err := openapi.Load(openapi.Server)
	if err != nil {
		return openapi.Reference{}, err
	}
	return openapi.Read(doc), nil
})
