package control

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
)

// TestAdvanceAnswersForItself: an advance's answer says where its own jump ended, so no other one begins before the
// answer has that time; nor does one "by" a duration count from a time before the jump that came between.
func TestAdvanceAnswersForItself(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clk := clock.NewVirtual(start, nil)
	clk.Freeze()
	var h http.Handler
	advance := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, Prefix+"/clock/advance", strings.NewReader(`{"by":"1h"}`))
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	var between *httptest.ResponseRecorder
	h = Handler("t", func(r chi.Router) {
		ClockRoutes(r, clk, func(time.Time) {
			if between == nil { // the jump is over, its answer isn't written yet
				between = httptest.NewRecorder()
				between = advance()
			}
		})
	})
	first, next := advance(), advance()
	if between.Code != http.StatusConflict || !strings.Contains(between.Body.String(), "already advancing") {
		t.Errorf("an advance before the first one's answer: got %d %s, want 409", between.Code, between.Body)
	}
	for _, c := range []struct {
		w    *httptest.ResponseRecorder
		want time.Time
	}{{first, start.Add(time.Hour)}, {next, start.Add(2 * time.Hour)}} {
		if want := c.want.Format(TimeFormat); c.w.Code != http.StatusOK || !strings.Contains(c.w.Body.String(), want) {
			t.Errorf("got %d %s, want %s", c.w.Code, c.w.Body, want)
		}
	}
}
