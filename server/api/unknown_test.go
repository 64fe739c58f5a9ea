package api

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/fail"
)

// TestUnknownPress: where a door may have opened, the page doesn't say that it didn't; where it surely stayed closed, the
// page says so.
func TestUnknownPress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.permit(permitBody).data()["entryToken"].(string)
	press := func(language string, status int, want ...string) {
		t.Helper()
		r := h.want(status, "", request{method: "POST", path: "/entry/open", body: "t=" + token + "&doorId=dor_1",
			header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Accept-Language": language}})
		for _, w := range want {
			if !strings.Contains(r.Body.String(), w) {
				t.Errorf("a press answered %d: the page lacks %s:\n%s", status, w, r.Body)
			}
		}
		h.tick(10 * time.Second)
	}
	h.boards.set("silent")
	press("en", 504, "<h1>No answer</h1>", "may have opened")
	press("ko", 504, "<h1>응답 없음</h1>", "열렸을 수도 있습니다")
	h.boards.set("busy")
	press("en", 502, "<h1>Not opened</h1>", "refused")
	for _, code := range []string{fail.StorageUnavailable, fail.InternalError} {
		if heading, sentence := english.failed(fail.New(code, "")); heading != "No answer" || !strings.Contains(sentence, "may have opened") {
			t.Errorf("a press answered %s: %q, %q; want that the door may have opened", code, heading, sentence)
		}
	}
	must.OK(t, h.store.Close())
	r := h.do(request{method: "GET", path: "/entry?t=" + token, header: map[string]string{"Accept": "text/html"}})
	if r.Code < 500 || strings.Contains(r.Body.String(), "opened") {
		t.Errorf("a page that can't be shown, %d, talks of opening: nobody has pressed a button:\n%s", r.Code, r.Body)
	}
}

// TestUnknownPressInBrowser: the start page doesn't say "not opened" after an opening without an answer, either, and a
// button of the entry page whose request was stopped can be pressed again after a while.
func TestUnknownPressInBrowser(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	var example Example
	h := newHouse(t, func(c *Config) { c.Example = func() Example { return example } })
	example = Example{Key: h.keys["key_a"], DoorID: "dor_1"}
	token := h.permit(permitBody).data()["entryToken"].(string)
	url := h.serve()

	p := b.Page(browser.Look{Language: "en"})
	p.Open(url + "/")
	for reply, want := range map[string]string{
		`{error: "device_no_response"}`:   "It may have opened:",
		`{error: "storage_unavailable"}`:  "It may have opened:",
		`{error: "device_refused"}`:       "Not opened:",
		`{data: {}, ok: true, hup: true}`: "It may have opened:",
	} {
		p.Eval(`window.fetch = async path => {
			const a = path.endsWith("/token") ? {ok: true, data: {accessToken: "x"}} : `+reply+`;
			if (a.hup) throw new TypeError("Failed to fetch");
			return {ok: a.ok, status: 500, json: async () => a};
		}`, nil)
		p.Press(`document.querySelector("#try")`)
		if !p.Within(10*time.Second, `document.querySelector("#said").textContent.startsWith("`+want+`")`) {
			var said string
			p.Eval(`document.querySelector("#said").textContent`, &said)
			t.Errorf("%s: the start page says %q, want %q", reply, said, want)
		}
	}

	p.Open(url + "/entry?t=" + token)
	p.Eval(`addEventListener("submit", e => e.preventDefault()); // as if it had been stopped
		const wait = setTimeout; window.setTimeout = (f, ms, x) => { if (!x) return wait(f, ms); window.late = () => f(x); window.after = ms }`, nil)
	p.Press(`document.querySelector("button")`)
	p.Await(`document.querySelector("button").getAttribute("aria-busy") && window.after === 30000`)
	p.Eval(`window.late()`, nil)
	p.Await(`!document.querySelector("button").getAttribute("aria-busy") && document.querySelector("[data-busy]").textContent === "Open"`)
}
