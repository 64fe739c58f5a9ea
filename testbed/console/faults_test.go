package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestNoNumber: JSON has no NaN, so a form with one is refused before anything is asked.
func TestNoNumber(t *testing.T) {
	t.Parallel()
	for field, form := range map[string]url.Values{
		"share":        {"fault": {"offline"}, "on": {"share"}, "share": {"NaN"}},
		"params.p50Ms": {"fault": {"slow"}, "on": {"place"}, "place": {"plc_1"}, "param.p50Ms": {"Inf"}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/faults", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if _, err := new(Console).addFault(r); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v: %v, want that %s is no number", form, err, field)
		}
	}
}
