package testbed

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestInboxPage: a new request appears on the open page, its own page has everything ready to copy, and the checklist
// links to the request that breaks a point.
func TestInboxPage(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	place := tb.cfg.World.Places[0]
	door := place.Boards[0].Doors[0].ID
	const phone = "01098761234"
	v := newVisitor(t, tb, 0)
	v.exchange(v.key)
	v.permit("order-1", phone, tb.clk.Now())

	p := b.Page(browser.Look{Width: 1280, Height: 900})
	signIn(t, tb, p)
	p.Open(tb.Ready.Control + "/inbox?place=" + place.ID)
	p.Await(`document.querySelectorAll("#inbox\\.rows tbody tr").length == 2`)
	p.Await(`document.getElementById("stream").dataset.state == "on"`)
	v.open(door, "front-1", "front desk") // while the page is open
	p.Await(`document.querySelector("#inbox\\.rows tbody tr").textContent.includes("pulse")`)
	v.send("POST", "/space/v1/partner/entry-permits", "", `{"externalRef":"b","phone":"`+phone+`","startsAt":"2026-10-05T00:00:00Z","endsAt":"2026-10-06T00:00:00Z","doorIds":[]}`)
	p.Await(`[...document.querySelectorAll("#inbox\\.checks li")].some(li => li.textContent.includes("broken") && li.textContent.includes("doorIds"))`)
	fits(t, "inbox", p)
	snap(t, "console-inbox.png", p)

	p.PressTo(`[...document.querySelectorAll("#inbox\\.checks li")].find(li => li.textContent.includes("broken")).querySelector("a")`) // the request that breaks the point
	var text string
	p.Eval(`document.body.textContent`, &text)
	for _, want := range []string{"empty_door_ids", "curl -sS", "name: \"POST /space/v1/partner/entry-permits answers 400\"", "010-****-1234"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of the request lacks %s:\n%s", want, text)
		}
	}
	p.Eval(`document.documentElement.outerHTML`, &text)
	for what, secret := range map[string]string{"phone": phone, "key": v.key, "token": v.token} {
		if strings.Contains(text, secret) {
			t.Errorf("the page shows the %s in full", what)
		}
	}
	fits(t, "a request", p)

	p.Open(tb.Ready.Control + "/")
	p.PressTo(`document.querySelector("#now\\.feed td a[href^='/commands/']")`)
	p.Await(`document.querySelector("#now\\.command\\.way a[href='/inbox/3']")`) // the request that the command came with

	v.send("GET", "/core/v1/places/"+place.ID+"/events?kind=entry.opened,entry.denied,entry.permit.used&doorId="+door+","+door+"&from=2026-10-05T00:00:00.000Z&limit=0", "", "")
	v.send("POST", "/device/v1/devices/"+door+"/commands", "", `{}`) // answered with the longest code
	p.Open(tb.Ready.Control + "/inbox?place=" + place.ID + "&status=4xx")
	p.Await(`document.querySelectorAll("#inbox\\.rows tbody tr").length == 3`)
	var beyond int
	if p.Eval(`(e => e.scrollWidth - e.clientWidth)(document.querySelector("#inbox\\.rows .wide"))`, &beyond); beyond > 0 {
		t.Errorf("a long query or code hides %d px of the table: the code, what moved", beyond)
	}
	p.Press(`document.querySelector("main form[method=post] button")`) // clears the inbox
	p.Await(`!document.querySelector("#inbox\\.rows tbody")`)
	clean(t, p, tb.Ready.Control)
}

// TestPeoplePage: a person gets access on the page, has it revoked and is refused. The page says why, and lists who
// entered on site after the revocation.
func TestPeoplePage(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	place := tb.cfg.World.Places[1]
	board := place.Boards[0].ID
	const phone = "01098761234"
	v := newVisitor(t, tb, 1)
	v.exchange(v.key)
	_, body := v.permit("order-1", phone, tb.clk.Now())
	var made struct {
		Data struct{ PermitID, URL string }
	}
	must.OK(t, json.Unmarshal([]byte(body), &made))
	lab := func(method, path string, body any) {
		t.Helper()
		clienttest.Do(t, tb.lab(), method, "/lab/v1"+path, body, nil)
	}
	lab("POST", "/clock/advance", map[string]string{"by": "1m"})

	p := b.Page(browser.Look{Width: 1280, Height: 900})
	signIn(t, tb, p)
	page := tb.Ready.Control + "/people?place=" + place.ID
	p.Open(page)
	p.Await(`document.querySelector("#people\\.grants tbody tr").textContent.includes("010-****-1234")`)
	try := func(person, how, want string) {
		t.Helper()
		p.Open(page)
		p.Press(`document.querySelector("form[method=post].stack input[name=person]")`)
		p.Type(person)
		p.Press(`document.querySelector("button[value=` + how + `]")`)
		p.Await(`document.getElementById("toast").textContent.includes("` + want + `")`)
	}
	try(phone, "present", "opened (onsite)")
	try("010-9876-1234", "call", "opened (phone)")
	lab("POST", "/clock/advance", map[string]string{"by": "1m"})
	try(made.Data.URL, "link", "opened (link)")
	try("01099990000", "present", "denied (no_valid_grant)")
	tryGrant(t, tb, p, page, phone)

	lab("POST", "/faults", map[string]any{"fault": "offline", "boards": []string{board}})
	v.send("POST", "/space/v1/partner/entry-permits/revoke", "", `{"externalRef":"order-1"}`)
	lab("POST", "/clock/advance", map[string]string{"by": "2m"})
	try(phone, "present", "opened (onsite)")
	try(phone, "call", "denied (revoked)")

	p.Open(page)
	p.Await(`[...document.querySelectorAll("td .tag.bad")].some(e => e.textContent == "revoked")`) // listed under exposure
	p.PressTo(`document.querySelector("#people\\.grants tbody a")`)                                // why, for the permit
	var text string
	p.Eval(`document.getElementById("why").textContent`, &text)
	for _, want := range []string{"010-****-1234", "the grant is revoked (permit " + made.Data.PermitID + ")", "opens the door: permit " + made.Data.PermitID, "offline for", "lacks changes"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page doesn't say %q:\n%s", want, text)
		}
	}
	fits(t, "people", p)
	snap(t, "console-people.png", p)

	text = whyNot(t, p, page, "01099990000", "")
	if !strings.Contains(text, "this person has no grant here") {
		t.Errorf("a stranger: got %s, want %q in it", text, "this person has no grant here")
	}
	text = whyNot(t, p, page, "01099990000", tb.clk.Now().Add(-24*time.Hour).Format(time.RFC3339))
	if !strings.Contains(text, "what the server would have decided about a call or link") {
		t.Errorf("before the recording: got %s, want %q in it", text, "what the server would have decided about a call or link")
	}
	clean(t, p, tb.Ready.Control)
}

// tryGrant presses the buttons of the only grant in the list, whose phone is nowhere in the page.
func tryGrant(t *testing.T, tb *Testbed, p *browser.Page, page, phone string) {
	t.Helper()
	for how, want := range map[string]string{"present": "opened (onsite)", "call": "opened (phone)", "link": "opened (link)"} {
		clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/clock/advance", map[string]string{"by": "1m"}, nil)
		p.Open(page)
		p.Press(`document.querySelector("#people\\.grants button[value=` + how + `]")`)
		p.Await(`document.getElementById("toast").textContent.includes("` + want + `")`)
		var shown bool
		if p.Eval(`document.documentElement.outerHTML.includes("`+phone+`")`, &shown); shown {
			t.Errorf("%s: the page contains %s, want it masked", how, phone)
		}
	}
}

// whyNot asks on the page about a person, who is then neither in it nor in its address.
func whyNot(t *testing.T, p *browser.Page, page, person, at string) (text string) {
	t.Helper()
	p.Open(page)
	for name, value := range map[string]string{"person": person, "at": at} {
		p.Press(`document.querySelector("form[data-page] input[name=` + name + `]")`)
		p.Type(value)
	}
	p.PressTo(`document.querySelector("form[data-page] button")`)
	p.Eval(`document.getElementById("why").textContent`, &text)
	var kept bool
	if p.Eval(`(location.href + document.documentElement.outerHTML).includes("`+person+`")`, &kept); kept {
		t.Errorf("%s is in the page or its address", person)
	}
	return text
}

// TestIgnoredFields: what a request says that the API doesn't know, and so ignores, stands on its page and in the list, with
// the name that was probably meant.
func TestIgnoredFields(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	door := tb.cfg.World.Places[0].Boards[0].Doors[0].ID
	v := newVisitor(t, tb, 0)
	v.exchange(v.key)
	v.send("POST", "/device/v1/devices/"+door+"/commands", "hold-1", `{"capability":"door","command":"hold","minutes":10}`)
	v.send("POST", "/device/v1/devices/"+door+"/commands", "hold-2", `{"capability":"door","command":"hold","args":{"minutes":10}}`)
	for look, how := range looks {
		p := b.Page(how)
		signIn(t, tb, p)
		p.Open(tb.Ready.Control + "/inbox?place=" + tb.cfg.World.Places[0].ID)
		var marked string
		p.Eval(`[...document.querySelectorAll("#inbox\\.rows tbody tr")].filter(r => r.querySelector(".wait")).map(r => r.querySelector("a").getAttribute("href")).join(" ")`, &marked)
		if marked != "/inbox/2" {
			t.Errorf("%s: the list marks %q, want the request whose minutes were ignored", look, marked)
		}
		p.Open(tb.Ready.Control + "/inbox/2")
		var said string
		p.Eval(`document.getElementById("ignored").innerText`, &said)
		if strings.TrimSpace(said) != `minutes, did you mean "args.minutes"?` {
			t.Errorf("%s: the page says %q, want minutes and what was meant", look, said)
		}
		fits(t, "a request with ignored fields, "+look, p)
		clean(t, p, tb.Ready.Control)
	}
}
