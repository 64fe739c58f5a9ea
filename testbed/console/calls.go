package console

import (
	"net/http"
	"sync"

	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/each"
)

// calls is the reference of the control API.
func (c *Console) calls(*http.Request) (any, error) {
	ref, err := reference()
	return callsView{ref, c.partnerDocs()}, err
}

type callsView struct {
	openapi.Reference
	Partners []choice // addresses and names of the partners' references
}

// partnerDocs are the references of the public API.
func (c *Console) partnerDocs() []choice {
	if c.cfg.HTTP == "" {
		return nil
	}
	return each.Of([]string{"core", "space", "device"}, func(name string) choice { return choice{c.cfg.HTTP + "/" + name + "/v1/docs", name} })
}

var reference = sync.OnceValues(func() (openapi.Reference, error) {
	doc, err := openapi.Load(openapi.Server)
	if err != nil {
		return openapi.Reference{}, err
	}
	return openapi.Read(doc), nil
})
