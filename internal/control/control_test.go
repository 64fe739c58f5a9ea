package control

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
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

// TestExact: a path is what it says, also before http.ServeMux, which would redirect from some.
func TestExact(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/", Handler("t", func(r chi.Router) { r.Get("/clock", func(w http.ResponseWriter, _ *http.Request) { Data(w, 1) }) }))
	for at, status := range map[string]int{"/lab/v1/clock": 200, "//lab/v1/clock": 404, "/lab/v1//clock": 404, "/lab/v1/./clock": 404, "/lab/v1/x/../clock": 404, "/lab/v1/clock/": 404,
		"/": 404, "//": 404} {
		r := httptest.NewRequest(http.MethodGet, "http://x/", nil)
		r.URL.Path = at
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		Exact(mux).ServeHTTP(w, r)
		if w.Code != status || status == 404 && !strings.Contains(w.Body.String(), `"message":"no such path: `+at) {
			t.Errorf("%s: %d %s, want %d", at, w.Code, w.Body, status)
		}
	}
}

// TestPart: without limit and offset a list is whole.
// TestReadsOfPaths: an encoded letter is that letter (RFC 3986) in fixed parts and in ids, HEAD is GET without its body, and
// texts are readable in a terminal.
func TestReadsOfPaths(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(Handler("t", func(r chi.Router) {
		r.Get("/faults/{id}", func(w http.ResponseWriter, r *http.Request) { Data(w, chi.URLParam(r, "id")+" <&>") })
		r.Post("/restart", func(w http.ResponseWriter, _ *http.Request) { Data(w, 1) })
	}))
	t.Cleanup(s.Close)
	for at, want := range map[string]struct {
		status int
		body   string
	}{
		"GET /lab/v1/%66aults/%66lt_1": {200, `{"data":"flt_1 <&>","success":true}`},
		"GET /lab/v1/faults/a%2Fb":     {200, `{"data":"a/b <&>","success":true}`},
		"GET /lab/v1/faults%2Fflt_1":   {404, "no such path"},
		"HEAD /lab/v1/faults/flt_1":    {200, ""},
		"HEAD /lab/v1/restart":         {405, ""},
		"OPTIONS /lab/v1/faults/flt_1": {405, "method_not_allowed"},
		"POST /lab/v1/%72estart":       {200, `"data":1`},
	} {
		method, path, _ := strings.Cut(at, " ")
		r := must.Get(http.NewRequestWithContext(t.Context(), method, s.URL+path, nil))(t)
		r.Header.Set("Authorization", "Bearer t")
		answer := must.Get(http.DefaultClient.Do(r))(t)
		body := must.Get(io.ReadAll(answer.Body))(t)
		must.OK(t, answer.Body.Close())
		if answer.StatusCode != want.status || !strings.Contains(string(body), want.body) {
			t.Errorf("%s: got %d %s, want %d and %q", at, answer.StatusCode, body, want.status, want.body)
		}
		if allow := strings.Join(answer.Header.Values("Allow"), ", "); method == "OPTIONS" && allow != "GET, HEAD" {
			t.Errorf("%s: Allow is %q, want GET, HEAD", at, allow)
		}
	}
}

func TestPart(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{"": "2147483647 from 0", "limit=3": "3 from 0", "limit=500&offset=1": "500 from 1",
		"offset=2147483647": "2147483647 from 2147483647", "limit=0": "", "offset=-1": "", "limit=all": ""} {
		w := httptest.NewRecorder()
		limit, offset, ok := Part(w, httptest.NewRequest(http.MethodGet, "/x?"+query, nil))
		if got := fmt.Sprintf("%d from %d", limit, offset); ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %s, %v, want %s", query, got, ok, want)
		}
		if want == "" && w.Code != http.StatusBadRequest {
			t.Errorf("%q: got status %d, want 400", query, w.Code)
		}
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"name":"a","count":1,"on":true,"list":["x"],"deep":{"name":"b"}}`: "",
		` {} `:                     "",
		``:                         "invalid_body",
		`null`:                     "invalid_body",
		`"text"`:                   "invalid_body",
		`{"name":"a"`:              "invalid_body",
		`{"name":"a"}{}`:           "invalid_body",
		`{"name":"a"}}`:            "invalid_body",
		`{"name":"a"}]`:            "invalid_body",
		`{"name":"a","nmae":1}}`:   "invalid_body",
		`{"name":"a","name":"b"}}`: "invalid_body",
		`{"name":1}`:               "name must be a string, not number",
		`{"count":"1"}`:            "count must be a whole number, not string",
		`{"on":1}`:                 "on must be true or false, not number",
		`{"list":{}}`:              "list must be a list, not object",
		`{"deep":[]}`:              "deep must be an object, not array",
		`{"deep":{"name":true}}`:   "deep.name must be a string, not bool",
		`{"nmae":"a"}`:             `nmae is not a known field, did you mean \"name\"?`,
		`{"NAME":"a"}`:             `NAME is not a known field, did you mean \"name\"?`,
		`{"deep":{"Name":"a"}}`:    `deep.Name is not a known field, did you mean \"name\"?`,
		`{"many":[{},{"naem":1}]}`: `many[1].naem is not a known field, did you mean \"name\"?`,
		`{"any":{"NAME":1},"many":null,"deep":null}`:      "",
		`{"name":"a","n\u0061me":"b"}`:                    "name is given more than once",
		`{"many":[{},{"name":"a","name":"a"}]}`:           "many[1].name is given more than once",
		`{"any":{"x":[[{"y":1,"z":2,"y":3}]]}}`:           "any.x[0][0].y is given more than once",
		`{"any":{"x":{"x":[]},"y":[{"y":1},{"y":1}]}}`:    "",
		`{"count":24.0}`:                                  "count must be a whole number, without a decimal point or an exponent (found 24.0)",
		`{"count":99999999999999999999}`:                  "count is out of range",
		`{"share":1e999}`:                                 "share is out of range",
		`{"name":"` + strings.Repeat("a", maxBody) + `"}`: "body_too_large",
	} {
		var v struct {
			Name  string   `json:"name"`
			Count int      `json:"count"`
			Share float64  `json:"share"`
			On    bool     `json:"on"`
			List  []string `json:"list"`
			Deep  struct {
				Name string `json:"name"`
			} `json:"deep"`
			Many []*struct {
				Name string `json:"name"`
			} `json:"many"`
			Any map[string]any `json:"any"`
		}
		w := httptest.NewRecorder()
		ok := Body(w, httptest.NewRequest(http.MethodPost, "/x", strings.NewReader(body)), &v)
		if ok != (want == "") || !ok && (w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want)) {
			t.Errorf("%.60s: %v %d %s, want %s", body, ok, w.Code, w.Body, want)
		}
	}
}

// TestNothingIsTheWholeBody: a call without a body takes none, or {} and nothing after it.
func TestNothingIsTheWholeBody(t *testing.T) {
	t.Parallel()
	h := Handler("t", func(r chi.Router) {
		ClockRoutes(r, clock.NewVirtual(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), clock.NewFlight()), nil)
	})
	for body, want := range map[string]int{``: 200, `{}`: 200, `{}]`: 400, `{}}`: 400, `{}{}`: 400, `{"a":1}`: 400} {
		r := httptest.NewRequest(http.MethodPost, Prefix+"/clock/freeze", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: got %d %s, want %d", body, w.Code, w.Body, want)
		}
	}
}

// TestAdvanceByNothing: a duration of nothing is no jump into the past, whatever the clock does meanwhile, nor is the
// millisecond that a frozen clock shows.
func TestAdvanceByNothing(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), clock.NewFlight())
	frozen := clock.NewVirtual(time.Date(2026, 3, 1, 9, 0, 0, 123_999_999, time.UTC), clock.NewFlight())
	frozen.Freeze()
	then := frozen.Now()
	shown := `{"to":"` + then.Format(TimeFormat) + `"}`
	for body, want := range map[string]int{`{"by":"0s"}`: 200, `{"by":"1ns"}`: 200, `{"to":"2026-03-01T08:59:59Z"}`: 400, shown: 200} {
		of := clk
		if body == shown {
			of = frozen
		}
		h := Handler("t", func(r chi.Router) { ClockRoutes(r, of, nil) })
		r := httptest.NewRequest(http.MethodPost, Prefix+"/clock/advance", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: got %d %s, want %d", body, w.Code, w.Body, want)
		}
	}
	if now := frozen.Now(); !now.Equal(then) {
		t.Errorf("the frozen clock moved from %s to %s, want it to stay", then, now)
	}
}

// TestHistorySaysSinceWhen: the answer says when the recording began, because what happened earlier is missing.
func TestHistorySaysSinceWhen(t *testing.T) {
	t.Parallel()
	spool := history.NewSpool(t.TempDir(), func() int64 { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).UnixNano() })
	h := Handler("t", func(r chi.Router) {
		HistoryRoute(r, func(w io.Writer, since int64) error {
			_, err := spool.Read()
			return errors.Join(err, spool.WriteSince(w, since))
		}, nil)
	})
	r := httptest.NewRequest(http.MethodGet, Prefix+"/history", http.NoBody)
	r.Header.Set("Authorization", "Bearer t")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got, want := w.Header().Get("Doorlab-Recording-Since"), "2026-03-01T09:00:00.000Z"; got != want || w.Code != 200 {
		t.Errorf("got %d and %q, want 200 and %q", w.Code, got, want)
	}
}

// TestHistoryThatCantBeRead: a recording that can't be read at all is answered with the reason; one that breaks off lacks its
// last line.
func TestHistoryThatCantBeRead(t *testing.T) {
	t.Parallel()
	broken := errors.New("the server is restarting")
	for name, c := range map[string]struct {
		write func(w io.Writer, since int64) error
		code  int
		body  string
	}{
		"nothing":     {func(io.Writer, int64) error { return broken }, 503, `"error":"storage_unavailable"`},
		"one line":    {func(w io.Writer, _ int64) error { _, err := io.WriteString(w, "{}\n"); return errors.Join(err, broken) }, 200, "{}\n"},
		"no lines":    {func(io.Writer, int64) error { return nil }, 200, ""},
		"all of them": {func(w io.Writer, since int64) error { _, err := fmt.Fprintf(w, "{\"since\":%d}\n", since); return err }, 200, "{\"since\":7}\n"},
	} {
		h := Handler("t", func(r chi.Router) { HistoryRoute(r, c.write, nil) })
		r := httptest.NewRequest(http.MethodGet, Prefix+"/history?since=7", http.NoBody)
		r.Header.Set("Authorization", "Bearer t")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.body) || (w.Header().Get("Content-Type") == ndjsonType) != (c.code == 200) {
			t.Errorf("%s: got %d %s %q, want %d %q", name, w.Code, w.Header().Get("Content-Type"), w.Body, c.code, c.body)
		}
	}
}
