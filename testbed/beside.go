package testbed

import (
	"bytes"
	"io"
	"net/http"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/server"
)

// Beside works on the keys and boards of a data directory, whether or not a
// server runs on it, through the control API's routes for them. Errors: as server.Beside.
func Beside(dir string) (client.Client, func() error, error) {
	token := newToken()
	h, stop, err := server.Beside(dir, token)
	if err != nil {
		return client.Client{}, nil, ofDir(dir, err)
	}
	return client.Client{Base: "http://beside", Token: token, HTTP: &http.Client{Transport: inside{h}}}, stop, nil
}

// inside hands requests to a handler of this process.
type inside struct{ h http.Handler }

// RoundTrip implements http.RoundTripper.
func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	a := &answer{status: http.StatusOK, header: http.Header{}}
	t.h.ServeHTTP(a, r)
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(&a.body), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(a.body.Len())}, nil
}

type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *answer) WriteHeader(status int)      { a.status = status }
