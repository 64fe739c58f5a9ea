package api

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAway: a server that has stopped answers 503 with everything that answers have, except the kind of the place.
func TestAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for path, want := range map[string]string{
		"/device/v1/devices":        `"error":"storage_unavailable"`,
		"/device/v1/doors":          `"reason":"storage_unavailable"`,
		"/core/v1/health/that/isnt": `"error":"storage_unavailable"`,
		"/entry?t=x":                "<html",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		if strings.HasPrefix(path, "/entry") {
			r.Header.Set("Accept", "text/html")
		}
		Away(h.http).ServeHTTP(w, r)
		head := w.Header()
		if w.Code != 503 || !strings.Contains(w.Body.String(), want) || head.Get("X-Request-Id") == "" || head.Get("Retry-After") != "1" {
			t.Errorf("%s: %d %v %.200s, want 503 with X-Request-Id and Retry-After, and %s", path, w.Code, head, w.Body, want)
		}
		if legacy := strings.HasPrefix(path, "/device/v1/doors"); legacy != (head.Get("Deprecation") != "") || legacy != strings.Contains(head.Get("Link"), "successor-version") {
			t.Errorf("%s: Deprecation %q, Link %q, want both exactly on legacy paths", path, head.Get("Deprecation"), head.Get("Link"))
		}
	}
}
