package testbed

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestPhoneShowsWhatMatters: on a phone, what failed, why a relay moved and the button of a row are visible without
// scrolling a table sideways.
func TestPhoneShowsWhatMatters(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	place := tb.cfg.World.Places[0]
	board, door := place.Boards[0].ID, place.Boards[0].Doors[0].ID
	v := newVisitor(t, tb, 0)
	v.exchange(v.key)
	_, permit := v.permit("a-rather-long-reference-of-a-booking-0001", "01098761234", tb.clk.Now())
	var link struct{ Data struct{ EntryToken string } }
	must.OK(t, json.Unmarshal([]byte(permit), &link))
	v.send("POST", "/entry/open", "", `{"t":"`+link.Data.EntryToken+`","doorId":"`+door+`"}`)
	v.open(door, "front-1", "sim:refused")
	v.open(door, "front-2", "")
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "slow", "boards": []string{tb.cfg.World.Places[1].Boards[0].ID}}, nil)

	for language, p := range map[string]*browser.Page{
		"en": b.Page(browser.Look{Width: 390, Height: 844, Mobile: true}), "ko": b.Page(browser.Look{Width: 390, Height: 844, Mobile: true, Dark: true, Language: "ko"}),
	} {
		signIn(t, tb, p)
		for _, x := range []struct{ path, what string }{
			{"/inbox?place=" + place.ID, `[...document.querySelectorAll("#inbox\\.rows td")].find(e => e.innerText.includes("device_refused"))`},
			{"/boards/" + board, `document.querySelector("#board\\.journal td[title=command]")`},
			{"/boards/" + board, `document.querySelector("#board\\.journal td a[href^='/commands/']")`},
			{"/boards/" + board, `[...document.querySelectorAll("#board\\.journal td:last-child code")].find(e => e.innerText.startsWith("pmt_"))`},
			{"/boards", `document.querySelector("#boards\\.table td:nth-child(3)")`},
			{"/people?place=" + place.ID, `document.querySelector("#people\\.grants td a")`},
			{"/faults", `document.querySelector("#faults\\.armed td button")`},
			{"/calls", `document.querySelector("summary")`},
		} {
			p.Open(tb.Ready.Control + x.path)
			var right float64 // right edge of the text, because a cell may be wider than its text
			p.Eval(`(e => { if (!e) return 0; const r = document.createRange(); r.selectNodeContents(e); return r.getBoundingClientRect().right })(`+x.what+`)`, &right)
			if right == 0 || right > 390-16 {
				t.Errorf("%s, %s: it ends %g px from the left, want it within the card of 374", language, x.path, right)
			}
			p.Eval(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil)
			fits(t, language+" "+x.path, p)
		}
		clean(t, p, tb.Ready.Control)
	}
}
