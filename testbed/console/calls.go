package console

import (
	"net/http"
	"sync"

	"github.com/doorlab/doorlab/internal/control/openapi"
)

// callsPage is the reference of the control API.
func (c *Console) callsPage() Page {
	return Page{Name: "calls", Path: "/calls", Title: "calls.title", Nav: "nav.calls", View: func(*http.Request) (any, error) {
		ref, err := reference()
		return callsView{ref, c.partnerDocs()}, err
	}}
}

type callsView struct {
	openapi.Reference
	Partners []choice // addresses and names of the partners' references
}

// partnerDocs are the references of the public API.
func (c *Console) partnerDocs() (out []choice) {
	if c.cfg.HTTP == "" {
		return nil
	}
	for _, name := range []string{"core", "space", "device"} {
		out = append(out, choice{c.cfg.HTTP + "/" + name + "/v1/docs", name})
	}
	return out
}

var reference = sync.OnceValues(func() (openapi.Reference, error) {
	doc, err := openapi.Load(openapi.Server)
	if err != nil {
		return openapi.Reference{}, err
	}
	return openapi.Read(doc), nil
})
