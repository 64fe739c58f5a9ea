package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilent: an address that refuses connections is silent, whatever the others do; one that answers anything isn't.
func TestSilent(t *testing.T) {
	t.Parallel()
	answers := httptest.NewServer(http.NotFoundHandler())
	defer answers.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if base, err := Silent(t.Context(), nil, []string{answers.URL}, time.Second); base != "" || err != nil {
		t.Errorf("got %q, %v, want that it answers", base, err)
	}
	base, err := Silent(t.Context(), nil, []string{answers.URL, gone.URL}, 0)
	if base != gone.URL || err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "Get ") {
		t.Errorf("got %q, %v, want %q, and only what the network says", base, err, gone.URL)
	}
}

// answersNever lets every request wait until its sender gives up.
type answersNever struct{}

func (answersNever) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestTimedOut: an address that lets requests wait is told from one that refuses them.
func TestTimedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if base, err := Silent(t.Context(), answersNever{}, []string{"http://x"}, 0); base == "" || !TimedOut(err) {
			t.Errorf("got %q, %v, want a time-out", base, err)
		}
	})
	for _, err := range []error{nil, syscall.ECONNREFUSED, syscall.ECONNRESET, io.EOF, errors.New("no such host")} {
		if TimedOut(err) {
			t.Errorf("got that %v is a time-out, want that it isn't", err)
		}
	}
}
