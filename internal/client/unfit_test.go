package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAnswersOfAnotherForm: a success whose data isn't what was asked for is an error that says so. A token exchange that is
// answered like that brings no token, as one without the fields does: what it lacks is judged, and doesn't end the run.
func TestAnswersOfAnotherForm(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct{ do, exchange error }{
		`{}`:            {nil, nil},
		`{"data":null}`: {nil, nil},
		`{"data":[]}`:   {ErrUnfit, nil},
		`{"data":{"accessToken":5,"placeId":"plc_1"}}`: {ErrUnfit, nil},
		`"x"`:  {ErrForeign, ErrForeign},
		`oops`: {ErrForeign, ErrForeign},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		c := Client{Base: s.URL}
		var out struct{ AccessToken string }
		if err := c.Do(t.Context(), http.MethodGet, "/", nil, &out); !errors.Is(err, want.do) || (err == nil) != (want.do == nil) {
			t.Errorf("%s: %v, want %v", body, err, want.do)
		}
		token, place, err := c.Exchange(t.Context(), "key")
		if !errors.Is(err, want.exchange) || (err == nil) != (want.exchange == nil) || token != "" || place != "" {
			t.Errorf("%s: exchanged, %q of %q, %v, want nothing and %v", body, token, place, err, want.exchange)
		}
		s.Close()
	}
}
