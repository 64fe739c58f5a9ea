package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
	run := filepath.Join(t.TempDir(), "run")
	must.OK(t, os.MkdirAll(filepath.Join(run, "report.html", "not a report"), 0o755)) // can't be cleared
	for _, name := range []string{"config.json", "verdicts.json"} {
		must.OK(t, os.WriteFile(filepath.Join(run, name), nil, 0o600)) // a run directory, as far as anybody can tell
	}
	code, out, errs := runQuietly(t.Context(), "check", "--target", "http://127.0.0.1:1", "--control", s.URL, "--control-token", "t", "--out", run, "terms_values")
	if code != codeFailure || !strings.Contains(errs, "--out") {
		t.Errorf("got exit %d, want %d and what is wrong with --out\n%s%s", code, codeFailure, out, errs)
	}
	if began.Load() != 1 || ended.Load() != 1 {
		t.Errorf("%d recordings were begun and %d ended, want 1 and 1", began.Load(), ended.Load())
	}
}

// TestAligningIsInterrupted: whatever ends the aligning of clocks, those that it froze run again; clocks that were frozen before stay so.
func TestAligningIsInterrupted(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]int32{"ready": 0, "frozen": 2} {
		var frozen atomic.Int32
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		a := &aim{}
		for range 2 {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/freeze"):
					frozen.Add(1)
				case strings.HasSuffix(r.URL.Path, "/run"):
					frozen.Add(-1)
				case strings.HasSuffix(r.URL.Path, "/advance"):
					interrupt()
				}
				control.Data(w, map[string]any{"now": "2026-11-28T00:00:00.000Z", "mode": "virtual", "state": state})
			}))
			defer s.Close()
			a.control, a.tokens = append(a.control, s.URL), append(a.tokens, "")
		}
		if err := a.align(ctx); err == nil || frozen.Load() != want {
			t.Errorf("%s: got %v, %d of 2 clocks left frozen; want an error and %d", state, err, frozen.Load(), want)
		}
	}
}

// TestNoKeyIsLeft: keys that a run makes for places without one are revoked when it ends.
func TestNoKeyIsLeft(t *testing.T) {
	t.Parallel()
	var made, revoked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /lab/v1/places":
			control.Data(w, []map[string]any{{"placeId": "plc_1", "apiKey": nil}, {"placeId": "plc_2", "apiKey": "sacl_x"}})
		case "POST /lab/v1/keys":
			made.Add(1)
			control.Data(w, map[string]any{"keyId": "key_1", "apiKey": "sacl_y"})
		case "DELETE /lab/v1/keys/key_1":
			revoked.Add(1)
			control.Data(w, nil)
		}
	}))
	defer s.Close()
	ended := false
	a := &aim{control: []string{s.URL}, tokens: []string{""}, stop: func() error { ended = true; return nil }}
	must.OK(t, a.askPlaces(t.Context()))
	must.OK(t, a.stop())
	if made.Load() != 1 || revoked.Load() != 1 || !ended || *a.places[0].APIKey != "sacl_y" {
		t.Errorf("%d keys made, %d revoked, ended: %v; want one, which is used, and true", made.Load(), revoked.Load(), ended)
	}
}

// served is a transport that calls a handler.
type served struct{ http.Handler }

func (m served) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	return w.Result(), nil
}

// TestManyKeys: more keys than one address may exchange within a minute take longer.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, began := 0, time.Now()
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked%31 == 0 {
				w.Header().Set("Retry-After", "60")
				control.Fail(w, http.StatusTooManyRequests, "rate_limited", "too many", nil)
				return
			}
			control.Data(w, map[string]string{"accessToken": "t", "placeId": "plc_1"})
		})
		a := &aim{http: "http://127.0.0.1:1", web: &http.Client{Transport: served{h}}}
		if err := a.fromKeys(t.Context(), make([]string, 70)); err != nil || len(a.places) != 70 || time.Since(began) != 2*time.Minute {
			t.Errorf("got %v, %d places after %s; want 70 after 2 minutes", err, len(a.places), time.Since(began))
		}
	})
}
