package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestWaitSaysWhatToTry: a wrong scheme and an unknown authority are told apart from a server that isn't there.
func TestWaitSaysWhatToTry(t *testing.T) {
	t.Parallel()
	ready := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure := httptest.NewServer(ready), httptest.NewTLSServer(ready)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	swap := strings.NewReplacer("https:", "http:", "http:", "https:")
	for url, want := range map[string]string{
		secure.URL:               "; pass --ca with",
		swap.Replace(secure.URL): "; does it want https?",
		swap.Replace(plain.URL):  "; it speaks http, not https",
		"http://127.0.0.1:1":     "; is 'doorlab up' or 'doorlab serve' running there?",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			var errs strings.Builder
			err := waitReady(t.Context(), &env{err: &errs}, nil, url, 10*time.Second)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		})
	}
}
