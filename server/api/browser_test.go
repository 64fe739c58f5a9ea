package api

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/browser"
)

// serve makes the house listen on a port of this machine.
func (h *house) serve() string {
	s := httptest.NewServer(h.http)
	h.t.Cleanup(s.Close)
	return s.URL
}

// clean: every request went to this server, and the browser reported no problem.
func clean(t *testing.T, p *browser.Page, url string) {
	t.Helper()
	for _, r := range p.Requests() {
		if !strings.HasPrefix(r.URL, url+"/") {
			t.Errorf("foreign request: %s %s, want it to begin with %q", r.Method, r.URL, url+"/")
		}
	}
	for _, line := range p.Console() {
		// A page that rendered itself again forgot what was typed: it sent the example first, and was refused.
		if strings.Contains(line, "status of 401") {
			continue
		}
		t.Errorf("the browser complains: %s", line)
	}
}

// The reference pages in a browser: rendered, plain without JavaScript, and tried out with a test key. They make no
// requests elsewhere and don't violate the policy.
func TestDocsInBrowser(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	h := newPatientHouse(t, time.Minute)
	url := h.serve()
	p, plain := b.Page(browser.Look{}), b.Page(browser.Look{NoScript: true})
	var token string
	for _, x := range []struct{ name, text string }{{"core", "Exchange an API key"}, {"space", "Register an entry permit"}, {"device", "List the doors of the place"}} {
		page := url + "/" + x.name + "/v1/docs"
		plain.Open(page)
		var text string
		if plain.Eval(`document.body.innerText`, &text); !strings.Contains(text, x.text) {
			t.Errorf("%s without JavaScript: got %.200q, want %q in it", x.name, text, x.text)
		}
		p.Open(page)
		p.Await(`document.querySelector("#reference").innerText.includes("` + x.text + `")`)
		if x.name != "space" {
			token = try(t, p, x.name, h.keys["key_a"], token)
		}
		snap(t, "docs-"+x.name+".png", p)
	}
	clean(t, p, url)
	clean(t, plain, url)
	t.Logf("%d requests, all to the server itself", len(p.Requests())+len(plain.Requests()))
}

// TestDocsFilledIn: readers on this machine see requests with the test place's key and door already filled in,
// rendered and plain. Programs get the document unchanged.
func TestDocsFilledIn(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	example := Example{Key: "sact_thekeyofthetestplace", PlaceID: "plc_a", DoorID: "dor_ofthetestplace"}
	url := newPatientHouse(t, time.Minute, func(c *Config) { c.Example = func() Example { return example } }).serve()
	p, plain := b.Page(browser.Look{}), b.Page(browser.Look{NoScript: true})
	for name, want := range map[string]string{"core": example.Key, "space": example.DoorID} {
		p.Open(url + "/" + name + "/v1/docs")
		p.Await(`document.querySelector("#reference").textContent.includes("` + want + `")`)
		plain.Open(url + "/" + name + "/v1/docs")
		var text string
		if plain.Eval(`document.body.innerText`, &text); !strings.Contains(text, want) {
			t.Errorf("%s without JavaScript doesn't show %s", name, want)
		}
		plain.Open(url + "/" + name + "/v1/openapi.json")
		if plain.Eval(`document.body.innerText`, &text); strings.Contains(text, want) {
			t.Errorf("%s: the document shows %s", name, want)
		}
	}
	clean(t, p, url)
}

// TestTryAsItStands: a reader on this machine who presses Test Request and Send, without typing anything, opens a
// door, reads a permit and gets a schedule.
func TestTryAsItStands(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	var example Example
	h := newPatientHouse(t, time.Minute, func(c *Config) { c.Example = func() Example { return example } })
	example = Example{Key: h.keys["key_a"], PlaceID: "plc_a", DoorID: "dor_1", BoardID: "brd_a", Now: h.clk.Now()}
	permit := h.permit(permitBody).data()["permitId"].(string)
	url, before := h.serve(), h.boards.count()
	p := b.Page(browser.Look{Width: 1280, Height: 900})
	for _, x := range []struct{ docs, tag, method, path, filled, answer string }{
		{"device", "devices", "POST", "/device/v1/devices/{id}/commands", "dor_1", "reported"},
		{"space", "entry-permits", "GET", "/space/v1/partner/entry-permits/{permitId}", permit, "syncedBoards"},
		{"core", "places", "GET", "/core/v1/public/places/{placeId}/schedule", "plc_a", "intervals"},
	} {
		p.Open(url + "/" + x.docs + "/v1/docs#tag/" + x.tag + "/" + x.method + x.path)
		const dialog = `document.querySelector("[role=dialog]")`
		test := `[...document.querySelectorAll("button")].find(b => b.textContent.includes("Test Request(` + strings.ToLower(x.method) + ` ` + x.path + `)"))`
		const send = `[...` + dialog + `.querySelectorAll("button")].find(b => b.innerText.includes("Send") && b.offsetParent)`
		p.Await(test)
		for tries := 0; tries < 4 && !p.Within(2*time.Second, dialog); tries++ { // it is rendered before it reacts to clicks
			p.Press(test)
		}
		p.Await(dialog + ` && ` + dialog + `.innerText.includes("` + x.filled + `") && ` + send)
		p.Press(send)
		p.Await(dialog + `.innerText.includes("200 OK") && ` + dialog + `.textContent.includes("` + x.answer + `")`)
	}
	if got := h.boards.count() - before; got != 1 {
		t.Errorf("the boards got %d commands, want 1", got)
	}
	clean(t, p, url)
}

// TestDocsLinkEachOther: each reference page, rendered or plain and scrolled however far, shows which page it is and
// links to the others.
func TestDocsLinkEachOther(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	url := newPatientHouse(t, time.Minute).serve()
	link := func(name string) string { return `document.querySelector("nav a[href='/` + name + `/v1/docs']")` }
	for look, l := range map[string]browser.Look{"desk": {Dark: true}, "phone": {Width: 390, Height: 844, Mobile: true}, "plain": {NoScript: true}} {
		p := b.Page(l)
		p.Open(url + "/core/v1/docs")
		for _, name := range []string{"space", "device", "core"} {
			drawn := `document.querySelectorAll("#reference h1, #reference h2").length > 2`
			if !l.NoScript {
				p.Await(drawn)
			}
			var top float64
			p.Eval(`scrollTo(0, 600), `+link(name)+`?.getBoundingClientRect().top ?? -1`, &top)
			if top < 0 || top > 60 {
				t.Fatalf("%s: the link to %s is %g px from the top after scrolling, want it there still", look, name, top)
			}
			p.PressTo(link(name))
			var current []string
			p.Eval(`[...document.querySelectorAll("nav [aria-current=page]")].map(a => a.innerText)`, &current)
			if len(current) != 1 || current[0] != name {
				t.Errorf("%s: the page of %s marks %q as the current page, want only itself", look, name, current)
			}
			var cut bool
			if p.Eval(`(e => e.scrollWidth > e.clientWidth)(document.querySelector("nav.menu"))`, &cut); cut {
				t.Errorf("%s: the menu on the page of %s is cut off", look, name)
			}
		}
		clean(t, p, url)
	}
}

// try sends the first request of a reference page from the page itself: core exchanges the test key, device lists the
// doors with that token.
func try(t *testing.T, p *browser.Page, name, key, token string) string {
	const dialog = `document.querySelector("[role=dialog]")`
	button := func(in, text string) string {
		return `[...` + in + `.querySelectorAll("button")].find(b => b.innerText.includes("` + text + `") && b.offsetParent)`
	}
	p.Await(button("document", "Test Request"))
	p.Press(button("document", "Test Request"))
	p.Await(dialog + ` && ` + button(dialog, "Send Request"))
	field, input := `input[placeholder=Token]`, token
	found := "dor_1"
	if name == "core" {
		field, input, found = `[contenteditable][role=textbox][data-language=json]`, `{"key": "`+key+`"}`, "accessToken"
	}
	p.Await(dialog + `.querySelector("` + field + `")`)
	done := false
	for tries := 0; !done && tries < 4; tries++ { // it re-renders itself now and then and loses what was typed
		p.Press(dialog + `.querySelector("` + field + `")`)
		p.Within(time.Second, `document.activeElement.matches("`+field+`")`)
		p.Key("a", "KeyA", 65, 2)
		p.Type(input)
		p.Press(dialog + `.querySelector("[data-addressbar-action=send]") && ` + button(dialog, "Send"))
		done = p.Within(8*time.Second, dialog+`.innerText.includes("200 OK") && `+dialog+`.textContent.includes("`+found+`")`)
	}
	if !done {
		t.Errorf("%s: the tried-out call never answered 200 with %s", name, found)
	}
	m := regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`)
	var text string
	p.Eval(dialog+`.textContent`, &text)
	return m.FindString(text)
}

// The entry page in a browser: viewing it opens nothing, its button opens the door, with and without JavaScript, on a
// phone and on a desktop.
func TestEntryInBrowser(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	h := newPatientHouse(t, time.Minute)
	url := h.serve()
	token := h.want(200, "", request{method: "POST", path: "/space/v1/partner/entry-permits", token: "key_b", body: permitBody}).data()["entryToken"].(string)
	phone, desk := browser.Look{Width: 390, Height: 844, Mobile: true}, browser.Look{Width: 1280, Height: 800}
	for _, x := range []struct {
		name, lang, says string
		look             browser.Look
		plain            bool
	}{
		{"entry-phone", "ko-KR,ko;q=0.9", "문이 열렸습니다.", phone, false},
		{"entry-phone-plain", "ko", "문이 열렸습니다.", phone, true},
		{"entry-desktop", "en", "The door opened.", desk, false},
		{"entry-desktop-plain", "en", "The door opened.", desk, true},
	} {
		x.look.Language, x.look.NoScript = x.lang, x.plain
		p := b.Page(x.look)
		before := h.boards.count()
		p.Open(url + "/entry?t=" + token)
		var fits bool
		if faint := p.Faint(); len(faint) > 0 {
			t.Errorf("%s: texts of too little contrast: %q", x.name, faint)
		}
		if wide := p.Wide(); wide != "" {
			t.Errorf("%s is wider than the screen by %s", x.name, wide)
		}
		if p.Eval(`[...document.querySelectorAll("button")].every(b => b.getBoundingClientRect().height >= 48)`, &fits); !fits {
			t.Errorf("%s: buttons are too small for a thumb, want at least 48 px", x.name)
		}
		snap(t, x.name+".png", p)
		p.Open(url + "/entry?t=" + token)
		if h.boards.count() != before {
			t.Fatalf("%s: viewing the page opened a door", x.name)
		}
		p.PressTo(`document.querySelectorAll("button")[0]`)
		var said string
		if p.Eval(`document.querySelector("[role=status]").innerText`, &said); said != x.says {
			t.Errorf("%s: the page says %q, want %q", x.name, said, x.says)
		}
		if got := h.boards.count(); got != before+1 {
			t.Errorf("%s: %d commands after one press, want 1", x.name, got-before)
		}
		snap(t, x.name+"-opened.png", p)
		p.PressTo(`document.querySelector("button")`) // back to the door's page
		var doors int
		if p.Eval(`document.querySelectorAll("form[action='/entry/open']").length`, &doors); doors != 2 {
			t.Errorf("%s: got %d doors after going back, want 2", x.name, doors)
		}
		clean(t, p, url)
		h.tick(10 * time.Second)
	}
	dead := b.Page(phone)
	dead.Open(url + "/entry?t=none")
	snap(t, "entry-dead.png", dead)
}
