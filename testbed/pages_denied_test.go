package testbed

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestDeniedInNow: a call and a press of a link that were denied, for which there is no command, appear on the start page
// while somebody looks and after a reload, masked, each with a way to the reason.
func TestDeniedInNow(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	place := tb.cfg.World.Places[1]
	const phone, stranger = "01098761234", "01000009999"
	v := newVisitor(t, tb, 1)
	v.exchange(v.key)
	_, body := v.permit("order-1", phone, tb.clk.Now())
	var made struct {
		Data struct{ PermitID, URL string }
	}
	must.OK(t, json.Unmarshal([]byte(body), &made))
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/clock/advance", map[string]string{"by": "72h"}, nil)

	pages := map[string]*browser.Page{"en": b.Page(browser.Look{Width: 1280, Height: 900}), "ko": b.Page(browser.Look{Width: 390, Height: 844, Mobile: true, Language: "ko"})}
	for _, p := range pages {
		signIn(t, tb, p)
		p.Await(`document.querySelector("#stream").dataset.state === "on"`)
	}
	call := func(from string) {
		clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/people/call", map[string]string{"to": tb.Ready.Places[1].EntryPhone, "from": from}, nil)
	}
	call(phone)
	call(stranger)
	_, token, _ := strings.Cut(made.Data.URL, "t=")
	v.send(http.MethodPost, "/entry/open", "", `{"t":"`+token+`","doorId":"`+place.Boards[0].Doors[0].ID+`"}`)

	rows := `[...document.querySelectorAll("#now\\.feed tbody tr")].map(r => r.innerText.replace(/\s+/g, " "))`
	for language, want := range map[string][]string{
		"en": {"Open by call ✕ denied expired", "Open by call ✕ denied no_valid_grant", "Open by link ✕ denied expired"},
		"ko": {"열기 전화로✕ 거부됨", "열기 링크로✕ 거부됨"},
	} {
		p := pages[language]
		for _, way := range []string{"live", "reloaded"} {
			p.Await(rows + `.length >= 3`)
			var got []string
			p.Eval(rows, &got)
			text := strings.Join(got, "\n")
			for _, row := range want {
				if !strings.Contains(text, row) {
					t.Errorf("%s, %s: the start page shows %q, want a row with %q", language, way, text, row)
				}
			}
			if strings.Contains(text, phone) || !strings.Contains(text, "010-****-1234") {
				t.Errorf("%s, %s: the start page shows %q, want the phone masked", language, way, text)
			}
			fits(t, language+" start page", p)
			p.Open(tb.Ready.Control + "/")
		}
		p.PressTo(`document.querySelector("#now\\.feed td a[href*='` + made.Data.PermitID + `']")`)
		p.Await(`document.getElementById("why")`)
		clean(t, p, tb.Ready.Control)
	}
}

// TestSignInByAddress: the address that doorlab prints signs in, and the token is neither sent nor kept in the address; with
// another token the form says so, once. Whoever isn't signed in sees no menu.
func TestSignInByAddress(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	p, wrong := b.Page(browser.Look{}), b.Page(browser.Look{})
	p.Open(tb.Ready.Control + "/login#token=" + tb.Ready.ControlToken)
	p.Await(`document.querySelector("nav") && location.pathname === "/"`)
	for _, path := range []string{"", "/login#token=" + tb.Ready.ControlToken, "/inbox#token=" + tb.Ready.ControlToken} {
		p.Open(tb.Ready.Control + path)
		p.Await(`document.querySelector("nav") && !location.href.includes("token")`)
	}
	for _, r := range p.Requests() {
		if strings.Contains(r.URL, tb.Ready.ControlToken) {
			t.Errorf("the token is in the address of a request: %s", r.URL)
		}
	}
	wrong.Open(tb.Ready.Control + "/login#token=of-yesterday")
	wrong.Await(`document.querySelector("[role=alert]") && !location.href.includes("token")`)
	var menu bool
	if wrong.Eval(`!!document.querySelector("nav, form[action='/logout']")`, &menu); menu {
		t.Error("the page to sign in shows the menu, want only the form")
	}
}
