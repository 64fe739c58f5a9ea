package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestNoNumber: a form with a NaN, which JSON doesn't have, or with two places for one fault is refused before anything is
// asked.
func TestNoNumber(t *testing.T) {
	t.Parallel()
	for field, form := range map[string]url.Values{
		"share": {"fault": {"offline"}, "on": {"share"}, "share": {"NaN"}},
		"share is filled in, but boards is chosen": {"fault": {"offline"}, "on": {"boards"}, "boards": {"brd_1"}, "share": {"10"}},
		"place is filled in, but share is chosen":  {"fault": {"offline"}, "on": {"share"}, "place": {"plc_1"}, "share": {"10"}},
		"params.p50Ms": {"fault": {"slow"}, "on": {"place"}, "place": {"plc_1"}, "param.p50Ms": {"Inf"}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/faults", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if _, err := new(Console).addFault(r); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v: %v, want it refused for %s", form, err, field)
		}
	}
}
