package control

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct {
		limit, offset int
		ok            bool
	}{
		"":                           {100, 0, true},
		"limit=1&offset=7":           {1, 7, true},
		"limit=500":                  {500, 0, true},
		"limit=501":                  {},
		"limit=0":                    {},
		"limit=":                     {},
		"limit=ten":                  {},
		"limit=1.0":                  {},
		"offset=-1":                  {},
		"offset=99999999999999":      {},
		"limit=20&offset=2147483647": {20, 2147483647, true},
	} {
		w := httptest.NewRecorder()
		limit, offset, ok := Page(w, httptest.NewRequest(http.MethodGet, "/x?"+query, nil), 500)
		if ok != want.ok || ok && (limit != want.limit || offset != want.offset) {
			t.Errorf("%q: limit %d, offset %d, %v, want %+v", query, limit, offset, ok, want)
		}
		if !want.ok && (w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"error":"invalid_query"`)) {
			t.Errorf("%q: got %d %s, want 400 invalid_query", query, w.Code, w.Body)
		}
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"name":"a","count":1,"on":true,"list":["x"],"deep":{"name":"b"}}`: "",
		` {} `:                   "",
		``:                       "invalid_body",
		`null`:                   "invalid_body",
		`"text"`:                 "invalid_body",
		`{"name":"a"`:            "invalid_body",
		`{"name":"a"}{}`:         "invalid_body",
		`{"name":1}`:             "name must be a string, not number",
		`{"count":"1"}`:          "count must be a whole number, not string",
		`{"on":1}`:               "on must be true or false, not number",
		`{"list":{}}`:            "list must be a list, not object",
		`{"deep":[]}`:            "deep must be an object, not array",
		`{"deep":{"name":true}}`: "deep.name must be a string, not bool",
		`{"nmae":"a"}`:           `nmae is not a known field, did you mean \"name\"?`,
		`{"name":"` + strings.Repeat("a", maxBody) + `"}`: "body_too_large",
	} {
		var v struct {
			Name  string   `json:"name"`
			Count int      `json:"count"`
			On    bool     `json:"on"`
			List  []string `json:"list"`
			Deep  struct {
				Name string `json:"name"`
			} `json:"deep"`
		}
		w := httptest.NewRecorder()
		ok := Body(w, httptest.NewRequest(http.MethodPost, "/x", strings.NewReader(body)), &v)
		if ok != (want == "") || !ok && (w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want)) {
			t.Errorf("%.60s: %v %d %s, want %s", body, ok, w.Code, w.Body, want)
		}
	}
}
