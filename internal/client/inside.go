package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
)

// Inside is a client for a handler of this process: no connection, no port. A handler that aborts (http.ErrAbortHandler),
// as a killed server's do, gives an error, as a closed connection would.
func Inside(h http.Handler) *http.Client { return &http.Client{Transport: inside{h}} }

type inside struct{ h http.Handler }

var errAborted = errors.New("the connection was closed without an answer")

// RoundTrip implements http.RoundTripper.
func (t inside) RoundTrip(r *http.Request) (_ *http.Response, err error) {
	defer func() {
		if x := recover(); x == http.ErrAbortHandler { //nolint:errorlint // a panic's value
			err = errAborted
		} else if x != nil {
			panic(x)
		}
	}()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	a := &reply{header: http.Header{}}
	t.h.ServeHTTP(a, r.WithContext(bare{r.Context()}))
	return &http.Response{StatusCode: cmp.Or(a.status, http.StatusOK), Header: a.header, Body: io.NopCloser(&a.body), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(a.body.Len())}, nil
}

// bare is a context without its values: the handler must not mistake what the caller's router left there for its own.
type bare struct{ context.Context }

func (bare) Value(any) any { return nil }

type reply struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *reply) Header() http.Header         { return a.header }
func (a *reply) Write(b []byte) (int, error) { a.WriteHeader(http.StatusOK); return a.body.Write(b) }
func (a *reply) WriteHeader(status int) { // the first counts, as in net/http
	a.status = cmp.Or(a.status, status)
}
