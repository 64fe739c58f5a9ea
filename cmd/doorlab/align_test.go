package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
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

// TestCheckThatCannotBegin: a run that the target began to record for, and that can't begin after all, tells the target.
func TestCheckThatCannotBegin(t *testing.T) {
	t.Parallel()
	var began, ended atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/history/recording") && r.Method == http.MethodDelete:
			ended.Add(1)
		case strings.HasSuffix(r.URL.Path, "/history/recording"):
			began.Add(1)
		case strings.HasSuffix(r.URL.Path, "/places"):
			control.Data(w, []map[string]any{{"placeId": "plc_1", "name": "one", "kind": "test", "apiKey": "sact_1"}})
			return
		}
		control.Data(w, map[string]any{"mode": "real", "seq": 1})
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "a file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	code, out, errs := runQuietly(t.Context(), "check", "--target", "http://127.0.0.1:1", "--control", s.URL, "--control-token", "t", "--out", filepath.Join(file, "run"), "terms_values")
	if code != codeFailure || !strings.Contains(errs, "--out") {
		t.Errorf("got exit %d, want %d and what is wrong with --out\n%s%s", code, codeFailure, out, errs)
	}
	if began.Load() != 1 || ended.Load() != 1 {
		t.Errorf("%d recordings were begun and %d ended, want 1 and 1", began.Load(), ended.Load())
	}
}
