package testbed

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRestartingAlready: of two restarts at the same time, the second is told so; it doesn't find a fault of ours.
func TestRestartingAlready(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{})
	now := tb.life.Swap(nil) // somebody else's restart has begun
	defer tb.life.Store(now)
	for _, body := range []string{"", `{"kill":true}`, `{"kill":true,"at":"after-publish"}`} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/lab/v1/restart", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		tb.postRestart(w, r)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "rule_violated") {
			t.Errorf("%s: %d %s, want 409 rule_violated", body, w.Code, w.Body)
		}
	}
}
