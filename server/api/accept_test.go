package api

import (
	"net/http/httptest"
	"testing"

	"github.com/doorlab/doorlab/server/api/openapi"
)

// TestWantsPage: the entry page goes to those who prefer it, and to a GET without a preference.
func TestWantsPage(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]struct{ get, post bool }{
		"":                                   {true, false},
		"*/*":                                {true, false},
		"text/html":                          {true, true},
		"Text/HTML;q=0.5":                    {true, true},
		"text/html,*/*;q=0.8":                {true, true},
		"application/json":                   {false, false},
		"application/json, */*":              {false, false},
		"application/json;q=0":               {true, false},
		"application/json, text/html;q=0.4":  {false, false},
		"application/json; q=0.4, text/html": {true, true},
		"application/json, text/html":        {true, true},
		"text/html;q=0, application/json":    {false, false},
		"text/html;q=0":                      {false, false},
		"text/html-fragment, text/htmlx":     {true, false},
		"application/json-seq":               {true, false},
		"text/html;level=1;q=nonsense":       {true, true},
	} {
		r := httptest.NewRequest("GET", "/entry", nil)
		r.Header.Set("Accept", accept)
		if got := wantsPage(r, &openapi.Operation{Method: "GET"}); got != want.get {
			t.Errorf("GET with %q: page %t, want %t", accept, got, want.get)
		}
		if got := wantsPage(r, &openapi.Operation{Method: "POST"}); got != want.post {
			t.Errorf("POST with %q: page %t, want %t", accept, got, want.post)
		}
	}
}
