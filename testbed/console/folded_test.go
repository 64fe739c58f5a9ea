package console

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/inbox"
)

// TestFolded: equal requests in a row are one row with their number; a different one between them keeps them
// apart.
func TestFolded(t *testing.T) {
	t.Parallel()
	failed := func(seq int64) *request {
		return &request{Entry: inbox.Entry{Seq: seq, Method: "POST", Path: "/core/v1/auth/apikey/token", Status: 401, Code: "invalid_api_key"}}
	}
	got := folded([]*request{failed(9), failed(8), failed(7), {Entry: inbox.Entry{Seq: 6, Method: "GET", Path: "/device/v1/devices", Status: 200}}, failed(5)})
	if len(got) != 3 || got[0].Seq != 9 || got[0].First != 7 || got[0].Times != 3 || got[1].Times != 1 || got[2].Seq != 5 {
		t.Errorf("got %d rows, want 9 to 7 as one, 6, and 5", len(got))
	}
}

// TestFoldedByBody: permits for fifty people are fifty rows.
func TestFoldedByBody(t *testing.T) {
	t.Parallel()
	permit := func(seq int64, mark string) *request {
		return &request{Entry: inbox.Entry{Seq: seq, Method: "POST", Path: "/space/v1/partner/entry-permits", Status: 200, RequestMark: mark}}
	}
	if got := folded([]*request{permit(4, "b"), permit(3, "a"), permit(2, "a"), permit(1, "")}); len(got) != 3 || got[1].Times != 2 {
		t.Errorf("got %d rows, want 4, 3 and 2 as one, and 1", len(got))
	}
}

// TestClockLayout: the times of a list have no date if they are all of the lab's present day, and all have one otherwise.
func TestClockLayout(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		list []time.Time
		want []string
	}{
		{nil, []string{}},
		{[]time.Time{noon.Add(time.Hour), noon}, []string{"13:00:00", "12:00:00"}},
		{[]time.Time{noon.Add(36 * time.Hour), noon}, []string{"11-30 00:00:00", "11-28 12:00:00"}},
		{[]time.Time{noon.Add(-36 * time.Hour)}, []string{"11-27 00:00:00"}}, // the clock has jumped since
	} {
		layout := clockLayout(x.list, noon.Add(2*time.Hour))
		if got := each.Of(x.list, func(t time.Time) string { return t.Format(layout) }); !slices.Equal(got, x.want) {
			t.Errorf("%v: got %q, want %q", x.list, got, x.want)
		}
	}
}

// TestRefusal: a refused command shows the board's code, and no relay that moved.
func TestRefusal(t *testing.T) {
	t.Parallel()
	x := Chain{Action: "refuse", Relay: 2 * time.Second, Accepted: time.Second, Settled: 3 * time.Second, Outcome: "refused",
		Answer: []byte(`{"error":"device_refused","details":{"reason":"refused","deviceCode":"jammed"}}`)}
	at := slices.IndexFunc(waterfall(x), func(h hop) bool { return h.Word == "hop.refused" && h.Note == "jammed" && h.Reached })
	if x.refusal() != "jammed" || at != 4 || slices.ContainsFunc(waterfall(x), func(h hop) bool { return h.Word == "hop.relay" }) {
		t.Errorf("got %q and %+v, want that the board refused: jammed", x.refusal(), waterfall(x))
	}
	if got := (Chain{}).refusal(); got != "" {
		t.Errorf("in progress: got %q, want no code", got)
	}
}

// TestMarkdownLinks: texts of the documents are shown without links that lead nowhere here.
func TestMarkdownLinks(t *testing.T) {
	t.Parallel()
	if got, want := string(code("a [b](c.md#d) ([e.md](e.md)) `[f]`")), "a b (e.md) <code>[f]</code>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c, _ := newTestConsole(t)
	c.cfg.HTTP = "http://127.0.0.1:8080"
	page := c.ask(ask{method: http.MethodGet, path: "/calls", in: true}).Body.String()
	if strings.Contains(page, "](") || !strings.Contains(page, "computes the go-live checklist of a test place") {
		t.Error("the reference of the control API has Markdown links in it, want their text")
	}
	for _, name := range []string{"core", "space", "device"} {
		if !strings.Contains(page, `href="http://127.0.0.1:8080/`+name+`/v1/docs"`) {
			t.Errorf("no link to the partners' reference %s", name)
		}
	}
}

// TestJumpElsewhere: the start page says what happened during a jump made over the control API, but not after one that was
// refused.
func TestJumpElsewhere(t *testing.T) {
	t.Parallel()
	c, _ := newTestConsole(t)
	for _, x := range []struct {
		bearer string
		status int
		far    string
	}{{"wrong", http.StatusUnauthorized, ""}, {token, http.StatusOK, "36 h"}} {
		r := httptest.NewRequest(http.MethodPost, "/lab/v1/clock/advance", strings.NewReader(`{"by":"36h"}`))
		r.Header.Set("Authorization", "Bearer "+x.bearer)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		far := ""
		if v := c.jump.Load(); v != nil {
			far = v.Far
		}
		if w.Code != x.status || far != x.far {
			t.Errorf("%s: got %d %s and a jump of %q, want %d and %q", x.bearer, w.Code, w.Body, far, x.status, x.far)
		}
	}
	if page := c.ask(ask{method: http.MethodGet, path: "/", in: true}).Body.String(); !strings.Contains(page, "What happened during the 36 h jump") {
		t.Error("the start page says nothing about the jump")
	}
}
