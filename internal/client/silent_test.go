package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
