package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/doorlab/doorlab/internal/control"
)

// TestRecordingThatCannotBegin: if one listener can't record, those that began are told that the run is over. The one that
// didn't isn't, because it would end somebody else's recording.
func TestRecordingThatCannotBegin(t *testing.T) {
	t.Parallel()
	var users [2]atomic.Int32
	a := &aim{stop: func() error { return nil }}
	for i := range users {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodDelete:
				users[i].Add(-1)
			case i == 1:
				control.Fail(w, http.StatusServiceUnavailable, "storage_unavailable", "the disk is full", nil)
				return
			default:
				users[i].Add(1)
			}
			control.Data(w, map[string]any{"recording": true, "seq": 1})
		}))
		defer s.Close()
		a.control, a.tokens = append(a.control, s.URL), append(a.tokens, "")
	}
	if err := a.record(t.Context()); err == nil {
		t.Error("got no error, want the second listener's")
	}
	for i := range users {
		if n := users[i].Load(); n != 0 {
			t.Errorf("listener %d records for %d runs, want 0", i, n)
		}
	}
}
