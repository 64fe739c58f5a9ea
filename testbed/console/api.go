package console

import (
	"context"
	"errors"
	"net/http"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
)

// lab calls the control API of this process the way any client with the token would.
func (c *Console) lab(ctx context.Context, method, path string, body, out any) error {
	return c.control().Do(ctx, method, control.Prefix+path, body, out)
}

func (c *Console) control() client.Client {
	return client.Client{Base: "http://127.0.0.1", Token: c.cfg.Token, HTTP: client.Inside(c.cfg.Lab)}
}

// statusOf is the HTTP status of a page that shows an error.
func statusOf(err error) int {
	if e, ok := errors.AsType[*client.Error](err); ok && e.Status >= 400 {
		return e.Status
	}
	return http.StatusBadRequest
}
