package client

import (
	"errors"
	"net/http"
	"testing"
)

// TestInsideOfAKilledServer: a handler that aborts gives no answer, as over a connection that is closed, and doesn't
// take the caller with it.
func TestInsideOfAKilledServer(t *testing.T) {
	t.Parallel()
	c := Client{Base: "http://lab", HTTP: Inside(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic(http.ErrAbortHandler)
	}))}
	if a, err := c.Call(t.Context(), http.MethodGet, "/", "", nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v, %v; want %v", a, err, ErrUnreachable)
	}
}

// TestInsidePanics: other panics are bugs and stay visible.
func TestInsidePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "a bug" {
			t.Errorf("recovered %v, want the handler's panic", got)
		}
	}()
	c := Client{Base: "http://lab", HTTP: Inside(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") }))}
	_, err := c.Call(t.Context(), http.MethodGet, "/", "", nil)
	t.Errorf("got %v, want a panic", err)
}
