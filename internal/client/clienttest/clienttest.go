// Package clienttest calls a doorlab from tests, and fails them if a call fails.
package clienttest

import (
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
)

// Do is client.Do.
func Do(t *testing.T, c client.Client, method, path string, body, out any) {
	t.Helper()
	if err := c.Do(t.Context(), method, path, body, out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

// Get reads a page: its status and text.
func Get(t *testing.T, url string) (status int, page string) {
	t.Helper()
	a := must.Get(client.Send(t.Context(), http.DefaultClient, http.MethodGet, url, nil, nil))(t)
	return a.Status, string(a.Body)
}
