package console

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

const token = "the-control-token"

// newTestConsole is a console with a clock and nothing else.
func newTestConsole(t *testing.T) (*Console, *clock.Virtual) {
	t.Helper()
	clk := clock.NewVirtual(time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC), nil)
	clk.Freeze()
	c := must.Get(New(Config{Token: token, World: &world.World{}, Clock: clk,
		Lab: control.Handler(token, func(r chi.Router) {
			control.ClockRoutes(r, clk, nil)
			r.Get("/disk", func(w http.ResponseWriter, _ *http.Request) { control.Data(w, map[string]any{"state": "ok"}) })
			r.Get("/faults", func(w http.ResponseWriter, _ *http.Request) { control.List(w, []int{}, 0) })
		}),
		Feed:   NewFeed(clk),
		Public: http.NotFoundHandler(), Boards: func() []Board { return []Board{{ID: "brd_1", Online: true}, {ID: "brd_2"}} }}))(t)
	t.Cleanup(c.Stop)
	return c, clk
}

type ask struct {
	method, path string
	form         url.Values
	header       map[string]string
	in           bool // with the cookie
}

func (c *Console) ask(a ask) *httptest.ResponseRecorder {
	r := httptest.NewRequest(a.method, "http://127.0.0.1:8081"+a.path, strings.NewReader(a.form.Encode()))
	if a.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, v := range a.header {
		r.Header.Set(k, v)
	}
	if a.in {
		r.AddCookie(&http.Cookie{Name: "doorlab_console_8081", Value: c.session.cookie})
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

// TestSignIn: without the cookie only the sign-in page is served. The token signs in, and never appears in an
// address, page or cookie.
func TestSignIn(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	w := c.ask(ask{method: "GET", path: "/?x=1"})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/login?next=%2F%3Fx%3D1" {
		t.Fatalf("a stranger: got %d to %q, want 303 to the page to sign in", w.Code, w.Header().Get("Location"))
	}
	if w := c.ask(ask{method: "GET", path: "/", header: map[string]string{"Accept": "text/event-stream"}}); w.Code != http.StatusForbidden {
		t.Errorf("a stranger's stream: got %d, want 403", w.Code)
	}
	if w := c.ask(ask{method: "POST", path: "/login", form: url.Values{"token": {"wrong"}}}); w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: got %d and the cookie %q, want 403 and none", w.Code, w.Header().Get("Set-Cookie"))
	}
	if w := c.ask(ask{method: "POST", path: "/login?token=" + token, form: url.Values{}}); w.Code != http.StatusForbidden {
		t.Errorf("the token in the address: got %d, want 403", w.Code)
	}
	w = c.ask(ask{method: "POST", path: "/login", form: url.Values{"token": {token}, "next": {"/?x=1"}}})
	cookie := w.Header().Get("Set-Cookie")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/?x=1" || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Fatalf("the token: got %d to %q with the cookie %q, want 303 to /?x=1 with one that is HttpOnly and SameSite=Strict", w.Code, w.Header().Get("Location"), cookie)
	}
	page := c.ask(ask{method: "GET", path: "/", in: true})
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "1 of 2 boards online") {
		t.Errorf("signed in: got %d %.300s, want the start page", page.Code, page.Body)
	}
	for what, text := range map[string]string{"the cookie": cookie, "the page": page.Body.String()} {
		if strings.Contains(text, token) {
			t.Errorf("%s holds the control token", what)
		}
	}
	if csp := page.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("the policy is %q, want one that allows nothing unsafe", csp)
	}
}

// TestNext: after signing in, nobody is redirected to another site.
func TestNext(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{"": "/", "/boards?q=x": "/boards?q=x", "//evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/",
		"boards": "/", "/%2fevil": "/", "javascript:alert(1)": "/", "/a\r\nX: y": "/"} {
		if got := inside(next); got != want {
			t.Errorf("inside(%q): got %q, want %q", next, got, want)
		}
	}
}

// TestForms: a form changes something only with the cookie, the form's own token and no foreign origin.
func TestForms(t *testing.T) {
	t.Parallel()
	c, clk := newTestConsole(t)
	was := clk.Now()
	good := url.Values{"do": {"by"}, "by": {"1h"}, "form": {c.session.form}}
	own := map[string]string{"Sec-Fetch-Site": "same-origin"}
	for name, a := range map[string]ask{
		"no cookie":        {form: good, header: own},
		"no form token":    {form: url.Values{"do": {"by"}, "by": {"1h"}}, header: own, in: true},
		"wrong form token": {form: url.Values{"do": {"by"}, "by": {"1h"}, "form": {c.session.cookie}}, header: own, in: true},
		"cross site":       {form: good, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, in: true},
		"another port":     {form: good, header: map[string]string{"Sec-Fetch-Site": "same-site"}, in: true},
		"foreign origin":   {form: good, header: map[string]string{"Origin": "http://127.0.0.1:9999"}, in: true},
		"unknown form":     {form: url.Values{"do": {"nonsense"}, "form": {c.session.form}}, header: own, in: true},
	} {
		a.method, a.path = "POST", "/"
		a.header = maps.Clone(a.header)
		a.header[fetched] = "1"
		if w := c.ask(a); w.Code/100 != 4 || !clk.Now().Equal(was) {
			t.Errorf("%s: got %d and the time %s, want a refusal and no jump", name, w.Code, clk.Now())
		}
	}
	w := c.ask(ask{method: "POST", path: "/", form: good, header: own, in: true})
	if w.Code != http.StatusSeeOther || !clk.Now().Equal(was.Add(time.Hour)) {
		t.Fatalf("our own form: got %d %s and the time %s, want 303 and an hour later", w.Code, w.Body, clk.Now())
	}
	r := httptest.NewRequest("GET", "http://127.0.0.1:8081/", nil)
	for _, k := range w.Result().Cookies() {
		r.AddCookie(k)
	}
	r.AddCookie(&http.Cookie{Name: "doorlab_console_8081", Value: c.session.cookie})
	next := httptest.NewRecorder()
	c.ServeHTTP(next, r)
	if !strings.Contains(next.Body.String(), "It is 2026-11-02 04:04:05 UTC now.") {
		t.Errorf("the page after the form doesn't say what came of it: %.900s", next.Body)
	}
}

// TestLabStays: with the console, the control API still answers in its own envelope.
func TestLabStays(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	for path, want := range map[string]int{"/lab/v1/clock": http.StatusUnauthorized, "/lab/v1/nothing": http.StatusNotFound, "/nothing": http.StatusNotFound} {
		w := c.ask(ask{method: "GET", path: path, in: true})
		if w.Code != want || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			t.Errorf("%s with the cookie: got %d %s, want %d in JSON", path, w.Code, w.Header().Get("Content-Type"), want)
		}
	}
}

// TestNowhere: a browser at an address that isn't a page gets a page that leads back, in its language.
func TestNowhere(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	for language, want := range map[string]string{"en": "There is no page at", "ko": "페이지가 없습니다"} {
		for _, path := range []string{"/nothing", "/runs/none"} {
			w := c.ask(ask{method: "GET", path: path, header: map[string]string{"Accept": "text/html,*/*", "Accept-Language": language}, in: true})
			if text := w.Body.String(); w.Code != http.StatusNotFound || !strings.Contains(text, want) || !strings.Contains(text, path) || !strings.Contains(text, `<a href="/">`) {
				t.Errorf("%s in %s: got %d %.900s, want 404 and a page that says %q and leads back", path, language, w.Code, text, want)
			}
		}
	}
}

// TestStream: a viewer gets the page's parts, and every change.
func TestStream(t *testing.T) {
	t.Parallel()
	c, clk := newTestConsole(t)
	s := httptest.NewServer(c)
	defer s.Close()
	defer c.Stop() // otherwise Close would wait for the stream
	r := must.Get(http.NewRequest("GET", s.URL+"/", nil))(t)
	r.Header.Set("Accept", "text/event-stream")
	r.AddCookie(&http.Cookie{Name: c.session.name(r), Value: c.session.cookie})
	res, err := http.DefaultClient.Do(r)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the stream: got %v, %v, want StatusCode %v and no error", res, err, http.StatusOK)
	}
	var all strings.Builder
	until := func(want string) {
		t.Helper()
		for b := make([]byte, 4096); !strings.Contains(all.String(), want); {
			n, err := res.Body.Read(b)
			all.Write(b[:n])
			if err == io.EOF || err != nil {
				t.Fatalf("the stream ended (%v) without %q: %s", err, want, all.String())
			}
		}
	}
	until("2026-11-02 03:04:05")
	must.OK(t, clk.Advance(clk.Now().Add(time.Hour)))
	until("2026-11-02 04:04:05")
}
