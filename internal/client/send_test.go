package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
)

// A POST with an idempotency key is what Go's transport would resend by itself when a kept-alive connection breaks.
// The client must not.
func TestNothingIsSentTwice(t *testing.T) {
	t.Parallel()
	for name, post := range map[string]func(c client.Client) error{
		"Call": func(c client.Client) error {
			_, err := c.Call(t.Context(), http.MethodPost, "/", "k", map[string]int{"a": 1})
			return err
		},
		"Call without a body": func(c client.Client) error {
			_, err := c.Call(t.Context(), http.MethodPost, "/", "k", nil)
			return err
		},
		"Request": func(c client.Client) error {
			to, _ := url.Parse(c.Base)
			resp, err := c.HTTP.Transport.RoundTrip(client.Request(t.Context(), http.MethodPost, to, "", "k", []byte("{}")))
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var posts atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					posts.Add(1)
					panic(http.ErrAbortHandler) // the connection breaks
				}
			}))
			defer s.Close()
			c := client.Client{Base: s.URL, HTTP: &http.Client{Transport: &http.Transport{}}}
			if _, err := c.Call(t.Context(), http.MethodGet, "/", "", nil); err != nil { // so that a connection is open
				t.Fatal(err)
			}
			if err := post(c); err == nil || posts.Load() != 1 {
				t.Errorf("the server got %d requests (%v), want 1 and an error", posts.Load(), err)
			}
		})
	}
}

// TestChunked: with the header a body is sent without a length.
func TestChunked(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.ContentLength, r.TransferEncoding)
	}))
	defer s.Close()
	for header, want := range map[string]string{"": "2 []", "chunked": "-1 [chunked]"} {
		a, err := client.Send(t.Context(), s.Client(), http.MethodPost, s.URL, http.Header{"Transfer-Encoding": {header}}, []byte("{}"))
		if err != nil || string(a.Body) != want {
			t.Errorf("%q: got %+v (%v), want %s", header, a, err, want)
		}
	}
}

// TestUnreachable: the error names the request and what the network says, without the words in which Go wraps that.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	err := client.Client{Base: s.URL}.Do(t.Context(), http.MethodGet, "/lab/v1/keys?", nil, nil)
	if want := "unreachable: GET " + s.URL + "/lab/v1/keys: connection refused"; err == nil || err.Error() != want || !errors.Is(err, client.ErrUnreachable) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want %q", err, want)
	}
}
