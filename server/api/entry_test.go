package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"image/png"
	"maps"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

func TestEntry(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.permit(permitBody).data()["entryToken"].(string)
	browser := map[string]string{"Accept": "text/html,*/*", "Accept-Language": "ko-KR,ko;q=0.9,en;q=0.5"}
	page := h.want(200, "", request{method: "GET", path: "/entry?t=" + token, header: browser})
	body := page.Body.String()
	for _, s := range []string{"Here &lt;b&gt;", "Front</span>", ">열기</span>", `lang="ko"`, `name="t" value="` + token + `"`} {
		if !strings.Contains(body, s) {
			t.Errorf("the page lacks %s: %s", s, body)
		}
	}
	if strings.Contains(body, "Back") {
		t.Error("a door out of scope is shown")
	}
	checkPage(t, page)
	for accept, lang := range map[string]string{"": "en", "fr": "en", "*": "en", "en-US": "en", "KO": "ko", "ja, ko ; q=0.5": "ko",
		"en;q=0.1,ko;q=0.9": "ko", "ko;q=0.1,en": "en", "en,ko": "en", "ko,en": "ko", "ko;q=0": "en", "kok": "en"} {
		r := h.want(200, "", request{method: "GET", path: "/entry?t=" + token, header: map[string]string{"Accept": "text/html", "Accept-Language": accept}})
		if !strings.Contains(r.Body.String(), `lang="`+lang+`"`) {
			t.Errorf("%q isn't answered in %s", accept, lang)
		}
	}
	h.want(200, "", request{method: "HEAD", path: "/entry?t=" + token})
	if h.boards.count() != 0 {
		t.Error("looking opened a door")
	}
	svg := h.want(200, "", request{method: "GET", path: "/entry/qr.svg?t=" + token})
	if !strings.HasPrefix(svg.Body.String(), "<svg ") || svg.Header().Get("Content-Type") != "image/svg+xml" {
		t.Errorf("got %s: %.80s, want an SVG", svg.Header().Get("Content-Type"), svg.Body)
	}
	if _, err := png.Decode(h.want(200, "", request{method: "GET", path: "/entry/qr.png?t=" + token}).Body); err != nil {
		t.Error(err)
	}
}

// TestPendingLink: who comes too early learns when the doors open, by the clocks of the store.
func TestPendingLink(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.permit(strings.Replace(permitBody, "2026-11-01T00:00:00Z", "2026-11-01T15:30:00Z", 1)).data()["entryToken"].(string)
	for lang, want := range map[string]string{
		"en": "This permit has not started yet. It starts on 2 November 2026 at 00:30 (store time).",
		"ko": "아직 이용 시작 전입니다. 2026년 11월 2일 00:30(매장 현지 시각)부터 이용하실 수 있습니다.",
	} {
		r := h.want(200, "", request{method: "GET", path: "/entry?t=" + token, header: map[string]string{"Accept": "text/html", "Accept-Language": lang}})
		if body := r.Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s: want %q in %s", lang, want, body)
		}
	}
}

func TestEntryOpens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.permit(permitBody).data()["entryToken"].(string)
	browser := map[string]string{"Accept": "text/html,*/*", "Accept-Language": "ko-KR,ko;q=0.9,en;q=0.5"}
	open := request{method: "POST", path: "/entry/open", body: `{"t":"` + token + `","doorId":"dor_1"}`}
	if d := h.want(200, "", open).data(); d["result"] != "opened" || d["doorName"] != "Front" {
		t.Errorf(`got %v, want d["result"] = "opened", d["doorName"] = "Front"`, d)
	}
	h.tick(10 * time.Second)
	form := request{method: "POST", path: "/entry/open", body: "t=" + token + "&doorId=dor_1", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
	if d := h.want(200, "", form).data(); d["result"] != "opened" {
		t.Errorf(`got %v, want d["result"] = "opened"`, d)
	}
	h.tick(10 * time.Second)
	maps.Copy(form.header, browser)
	if r := h.want(200, "", form); !strings.Contains(r.Body.String(), "문이 열렸습니다") {
		t.Errorf(`got %s, want "문이 열렸습니다" in r.Body.String()`, r.Body)
	} else {
		checkPage(t, r)
	}
	h.tick(10 * time.Second)
	for behave, want := range map[string]string{vocab.Offline: "503 store_offline offline", "busy": "502 device_refused refused", "silent": "504 device_no_response noResponse"} { // [ENT-3]
		h.boards.set(behave)
		f := strings.Fields(want)
		r := h.do(open)
		if got := strconv.Itoa(r.Code) + " " + r.code(); got != f[0]+" "+f[1] || r.details()["reason"] != f[2] {
			t.Errorf(`%s: got %d %s, want f[0]+" "+f[1], r.details()["reason"] = f[2]`, behave, r.Code, r.Body)
		}
		h.tick(10 * time.Second)
	}
	h.boards.set("")
	r := h.want(409, "entry_denied", request{method: "POST", path: "/entry/open", body: `{"t":"` + token + `","doorId":"dor_2"}`})
	if r.details()["rule"] != "door_out_of_scope" {
		t.Errorf(`got %s, want r.details()["rule"] = "door_out_of_scope"`, r.Body)
	}
	h.want(404, "device_not_found", request{method: "POST", path: "/entry/open", body: `{"t":"` + token + `","doorId":"dor_b"}`})
	for _, path := range []string{"/entry?t=none", "/entry?t=", "/entry", "/entry?t=" + strings.Repeat("x", 300), "/entry?t=%zz"} {
		r := h.do(request{method: "GET", path: path})
		if r.Code != 404 || !strings.HasPrefix(r.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: got %d %s, want a page with 404", path, r.Code, r.Body)
		}
		if text := r.Body.String(); strings.Contains(text, "Not opened") || !strings.Contains(text, "<h1>This link doesn&#39;t work</h1>") || !strings.Contains(text, "Ask the store for a new link.") {
			t.Errorf("%s: got %s, want no talk of opening: nobody has pressed a button", path, text)
		}
		checkPage(t, r)
		h.want(404, "link_invalid", request{method: "GET", path: path, header: map[string]string{"Accept": "application/json"}})
	}
	for _, dead := range []string{"", " ", "x", strings.Repeat("x", 10000)} {
		h.want(404, "link_invalid", request{method: "POST", path: "/entry/open", body: `{"t":"` + dead + `","doorId":"dor_x"}`})
		h.want(404, "device_not_found", request{method: "POST", path: "/entry/open", body: `{"t":"` + token + `","doorId":"` + dead + `"}`})
	}
	if log := h.log.String(); strings.Contains(log, token) || !strings.Contains(log, "route=/entry") {
		t.Error("the token is in the log, or there is no log")
	}
	used := h.want(200, "", request{method: "GET", path: "/core/v1/places/plc_a/events?kind=entry.permit.used,entry.denied&from=2026-10-31T12:00:00+09:00", token: "key_p"})
	if used.json["total"] != 4.0 {
		t.Errorf(`got %s, want used.json["total"] = 4.0`, used.Body)
	}
	h.want(400, "invalid_timestamp", request{method: "GET", path: "/core/v1/places/plc_a/events?from=yesterday", token: "key_p"})
	h.want(400, "invalid_query", request{method: "GET", path: "/core/v1/places/plc_a/events?kind=x", token: "key_p"})
	h.want(400, "invalid_query", request{method: "GET", path: "/core/v1/places/plc_a/events?from=2026-09-01T00:00:00Z", token: "key_p"})
}

func (h *house) tick(d time.Duration) {
	h.t.Helper()
	must.OK(h.t, h.clk.Advance(h.clk.Now().Add(d)))
}

// checkPage: the page loads nothing from elsewhere, isn't cached, and its policy matches its style.
func checkPage(t *testing.T, r response) {
	t.Helper()
	h := r.Header()
	if h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf(`got %v, want h.Get("Cache-Control") = "no-store", h.Get("Referrer-Policy") = "no-referrer", "frame-ancestors 'none'" in h.Get("Content-Security-Policy")`, h)
	}
	selfContained(t, r)
}

func selfContained(t *testing.T, r response) {
	t.Helper()
	body := r.Body.String()
	if f := foreign.FindString(body); f != "" {
		t.Errorf("the page loads %s from elsewhere", f)
	}
	m := style.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("the page has no style: %s", body)
	}
	sum := sha256.Sum256([]byte(m[1]))
	if !strings.Contains(r.Header().Get("Content-Security-Policy"), base64.StdEncoding.EncodeToString(sum[:])) {
		t.Error("the policy does not let the style in")
	}
	if m := script.FindStringSubmatch(body); m != nil {
		sum := sha256.Sum256([]byte(m[1]))
		if !strings.Contains(r.Header().Get("Content-Security-Policy"), base64.StdEncoding.EncodeToString(sum[:])) {
			t.Error("the policy does not let the script in")
		}
	}
}

// TestDeniedForm: whoever presses a door that isn't theirs gets the status of a refusal with the page, too.
func TestDeniedForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.permit(permitBody).data()["entryToken"].(string)
	r := h.do(request{method: "POST", path: "/entry/open", body: "t=" + token + "&doorId=dor_2",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}})
	if kind := r.Header().Get("Content-Type"); r.Code != 409 || !strings.HasPrefix(kind, "text/html") {
		t.Errorf("a denied press by a form: %d %s, want a page with 409", r.Code, kind)
	}
}

// TestDeadLinkHasNoPicture: a revoked permit's link has no QR code, in either form.
func TestDeadLinkHasNoPicture(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit(permitBody).data()
	h.want(200, "", request{method: "POST", path: "/space/v1/partner/entry-permits/revoke", token: "key_a", body: `{"permitId":"` + p["permitId"].(string) + `"}`})
	for _, path := range []string{"/entry/qr.svg?t=", "/entry/qr.png?t="} {
		if r := h.do(request{method: "GET", path: path + p["entryToken"].(string)}); r.Code != 404 {
			t.Errorf("%s of a revoked permit: %d, want 404", path, r.Code)
		}
	}
}

// TestHangUpAtALink: a caller that hangs up doesn't cancel the opening, so pressing again is the same one.
func TestHangUpAtALink(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.permit(permitBody).data()["entryToken"].(string)
	h.boards.held = make(chan struct{})
	ctx, hangUp := context.WithCancel(t.Context())
	press := func(ctx context.Context) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, "POST", "/entry/open", strings.NewReader(`{"t":"`+token+`","doorId":"dor_1"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.http.ServeHTTP(w, r)
		return w
	}
	hangUp()
	close(h.boards.held)
	press(ctx)
	if again := press(t.Context()); again.Code != 200 || h.boards.count() != 1 {
		t.Errorf("pressed again: %d %s, %d commands sent; want 200 and 1", again.Code, again.Body, h.boards.count())
	}
}
