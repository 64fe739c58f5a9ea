package testbed

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/must"
)

// signIn signs in to the console like a person, by typing the token.
func signIn(t *testing.T, tb *Testbed, p *browser.Page) {
	t.Helper()
	p.Open(tb.Ready.Control + "/")
	p.Press(`document.querySelector("input[name=token]")`)
	p.Type(tb.Ready.ControlToken)
	p.PressTo(`document.querySelector("main button")`)
}

// snap saves a picture of the page in DOORLAB_PICTURES, if set.
func snap(t *testing.T, name string, p *browser.Page) {
	t.Helper()
	if dir := os.Getenv("DOORLAB_PICTURES"); dir != "" {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), p.Picture(), 0o600))
	}
}

// clean: the page made requests only to us, and the browser reported no problem.
func clean(t *testing.T, p *browser.Page, urls ...string) {
	t.Helper()
	for _, r := range p.Requests() {
		own := false
		for _, u := range urls {
			own = own || strings.HasPrefix(r.URL, u+"/")
		}
		if !own {
			t.Errorf("the page made a request elsewhere: %s %s", r.Method, r.URL)
		}
	}
	for _, line := range p.Console() {
		t.Errorf("the browser complains: %s", line)
	}
}

// fits: nothing is wider than the screen, and all text is readable.
func fits(t *testing.T, name string, p *browser.Page) {
	t.Helper()
	if wide := p.Wide(); wide != "" {
		t.Errorf("%s is wider than the screen by %s", name, wide)
	}
	if faint := p.Faint(); len(faint) > 0 {
		t.Errorf("%s: texts of too little contrast: %q", name, faint)
	}
}

// looks are the screen sizes and modes in which every page is viewed.
var looks = map[string]browser.Look{
	"phone": {Width: 390, Height: 844, Mobile: true, Language: "ko"}, "phone-dark": {Width: 390, Height: 844, Mobile: true, Dark: true},
	"desk": {Width: 1280, Height: 800}, "desk-dark-plain": {Width: 1280, Height: 800, NoScript: true, Dark: true},
}

// TestConsolePages: every page loads in each look, fits, and makes requests only to us.
func TestConsolePages(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Fleet: true, Virtual: true, Control: "127.0.0.1:0"})
	for name, look := range looks {
		p := b.Page(look)
		p.Open(tb.Ready.Control + "/login")
		fits(t, name+" sign-in", p)
		signIn(t, tb, p)
		var links []string
		p.Eval(`[...document.querySelectorAll("nav a[href^='/']")].map(a => a.getAttribute("href"))`, &links)
		if len(links) == 0 {
			t.Fatalf("%s: no menu", name)
		}
		for _, path := range append(links, "/boards/"+tb.cfg.World.Places[1].Boards[0].ID, "/faults?fault=slow") {
			p.Open(tb.Ready.Control + path)
			fits(t, name+" "+path, p)
			var h1 string
			if p.Eval(`document.querySelector("h1")?.innerText || ""`, &h1); h1 == "" {
				t.Errorf("%s %s: no heading", name, path)
			}
			snap(t, "console-"+strings.ReplaceAll(strings.Trim(path, "/")+"-"+name, "/", "-")+".png", p)
		}
		clean(t, p, tb.Ready.Control)
	}
}

// TestDoorInConsole: a door opened in the console appears in the journal and in the feed, and its trace has every
// step and the raw messages without secrets.
func TestDoorInConsole(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	board := tb.cfg.World.Places[1].Boards[0]
	p, plain := b.Page(browser.Look{}), b.Page(browser.Look{NoScript: true})
	signIn(t, tb, p)
	p.Open(tb.Ready.Control + "/boards/" + board.ID)
	p.Press(`document.querySelector("#board\\.doors button.main")`)
	p.Await(`[...document.querySelectorAll("#board\\.journal tbody tr")].some(r => r.innerText.includes("pulse") && r.innerText.includes("command"))`)
	if got := openings(t, tb, board.ID); got != 1 {
		t.Errorf("the journal has %d openings, want 1", got)
	}
	p.Open(tb.Ready.Control + "/")
	p.PressTo(`document.querySelector("#now\\.feed td a[href^='/commands/']")`)
	var secrets int
	p.Await(`document.querySelectorAll(".fall rect").length === 7`) // every step; the last ones come after the pulse
	p.Await(`document.querySelectorAll("#now\\.command\\.way pre").length >= 3`)
	if p.Eval(`[...document.querySelectorAll("pre")].filter(e => /sac[tl]_|eyJ|"phoneKey": "[^…]/.test(e.textContent)).length`, &secrets); secrets != 0 {
		t.Errorf("%d messages show a secret, want 0", secrets)
	}
	snap(t, "console-command.png", p)
	clean(t, p, tb.Ready.Control)

	signIn(t, tb, plain)
	plain.Open(tb.Ready.Control + "/boards/" + board.ID)
	plain.PressTo(`document.querySelector("#board\\.doors button.main")`)
	var said string
	if plain.Eval(`document.querySelector(".said")?.innerText || ""`, &said); !strings.Contains(said, "opened") {
		t.Errorf("without JavaScript the page says %q, want that the door opened", said)
	}
	if got := openings(t, tb, board.ID); got != 2 {
		t.Errorf("the journal has %d openings, want 2", got)
	}
	clean(t, plain, tb.Ready.Control)
}

// openings counts the openings in a board's journal.
func openings(t *testing.T, tb *Testbed, boardID string) (n int) {
	t.Helper()
	var lines []struct{ Action string }
	clienttest.Do(t, tb.lab(), http.MethodGet, "/lab/v1/boards/"+boardID+"/journal", nil, &lines)
	for _, l := range lines {
		if l.Action == "pulse" {
			n++
		}
	}
	return n
}

// TestJumpInConsole: a disconnected board stops deciding during a 36 h jump, the page says so, and the board recovers
// when its line is back.
func TestJumpInConsole(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	board := tb.cfg.World.Places[1].Boards[0]
	one, now, fleet := b.Page(browser.Look{}), b.Page(browser.Look{}), b.Page(browser.Look{})
	for _, p := range []*browser.Page{one, now, fleet} {
		signIn(t, tb, p)
	}
	square := `document.querySelector('#boards\\.data a[href="/boards/` + board.ID + `"]').className`
	fleet.Open(tb.Ready.Control + "/boards")
	fleet.Await(square + ` === "o"`)
	one.Open(tb.Ready.Control + "/boards/" + board.ID)
	button := func(do string) string {
		return `[...document.querySelectorAll("#board\\.state form")].find(f => f.elements.do.value === "` + do + `").querySelector("button")`
	}
	one.Await(button("cut"))
	one.Press(button("cut"))
	one.Await(`document.querySelector("#board\\.state b").innerText.includes("grace")`)
	fleet.Await(square + ` === "g"`)
	now.Open(tb.Ready.Control + "/")
	now.Press(`[...document.querySelectorAll("#now\\.clock button")].find(b => b.innerText === "+36 h")`)
	now.Await(`document.querySelector(".due")?.innerText.includes("stopped")`)
	snap(t, "console-jump.png", now)
	one.Await(`document.querySelector("#board\\.state b").innerText.includes("stopped")`)
	fleet.Await(square + ` === "s"`)
	snap(t, "console-stopped.png", fleet)
	one.Await(button("reconnect"))
	one.Press(button("reconnect"))
	one.Await(`document.querySelector("#board\\.state b").innerText.includes("online")`)
	fleet.Await(square + ` === "o"`)
	now.Press(`document.querySelector("#now\\.clock [name=do][value=freeze]").form.querySelector("button")`)
	now.Await(`document.querySelector("#now\\.clock [name=do][value=run]")`) // so that no time passes between naming the moment and the jump
	type field struct{ name, text string }
	for _, f := range []field{{"label", "back"}, {"to", "back+40h"}} { // up to a named moment plus 40 h
		const form = `document.querySelector("#now\\.clock [name=%s]")`
		input := fmt.Sprintf(form, f.name)
		now.Await(input)
		now.Press(input)
		now.Type(f.text)
		now.Press(input + `.form.querySelector("button")`)
		now.Await(`document.querySelector("#now\\.clock option[value=back]")`)
	}
	now.Await(`document.querySelector(".due")?.innerText.includes("40 h")`)
	for _, p := range []*browser.Page{one, now, fleet} {
		clean(t, p, tb.Ready.Control)
	}
}

// TestStartPage: the public start page opens the test place's door on its own, fits, and leads to the console.
func TestStartPage(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	for name, look := range looks {
		p := b.Page(look)
		p.Open(tb.Ready.HTTP + "/")
		fits(t, "start page, "+name, p)
		snap(t, "start-"+name+".png", p)
		var to string
		if p.Eval(`document.querySelector('a[href="`+tb.Ready.Control+`/"]')?.innerText || ""`, &to); to == "" {
			t.Errorf("%s: no link to the console at %s", name, tb.Ready.Control)
		}
		clean(t, p, tb.Ready.HTTP)
	}
	p := b.Page(browser.Look{})
	p.Open(tb.Ready.HTTP + "/")
	p.Press(`document.querySelector("#try")`)
	p.Await(`document.querySelector("#said").innerText === "The door opened."`)
	if got := openings(t, tb, tb.cfg.World.Places[0].Boards[0].ID); got != 1 {
		t.Errorf("the test board's journal has %d openings, want 1", got)
	}
	clean(t, p, tb.Ready.HTTP)
}

// TestClickOutlivesRendering: if a part is re-rendered between pressing and releasing a button, the click still
// works, and the part is updated afterwards.
func TestClickOutlivesRendering(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	p := b.Page(browser.Look{})
	signIn(t, tb, p)
	p.Await(`document.querySelector("#stream").dataset.state === "on"`)
	const now = `document.querySelector("#now\\.clock time").innerText`
	p.Eval(`window.button = document.querySelector("#now\\.clock button"); window.was = `+now+`;
		button.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
		window.seen = 0; new EventSource(location.href).addEventListener("part", e => { if (JSON.parse(e.data).id === "now.clock") window.seen++ })`, nil)
	p.Await(`window.seen >= 3`)
	var kept bool
	if p.Eval(`button.isConnected && `+now+` === was`, &kept); !kept {
		t.Error("the button that is pressed was replaced")
	}
	p.Eval(`button.dispatchEvent(new PointerEvent("pointerup", {bubbles: true}))`, nil)
	p.Await(now + ` !== was`)
	clean(t, p, tb.Ready.Control)
}

// TestEntryOnPhone: an entry link opened in a browser on a phone opens its door.
func TestEntryOnPhone(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	link := must.Get(tb.ExampleLink(t.Context(), *tb.Ready.Places[1].APIKey))(t)
	p := b.Page(browser.Look{Width: 390, Height: 844, Mobile: true})
	p.Open(link)
	fits(t, "the entry page", p)
	p.PressTo(`document.querySelector("button")`)
	var said string
	if p.Eval(`document.querySelector("[role=status]").innerText`, &said); said != "The door opened." {
		t.Errorf("the page says %q, want that the door opened", said)
	}
	n := 0
	for _, x := range tb.cfg.World.Places[1].Boards {
		n += openings(t, tb, x.ID)
	}
	if n != 1 {
		t.Errorf("the place's journals have %d openings, want 1", n)
	}
	clean(t, p, tb.Ready.HTTP)
}

// TestCallsPage: every call of the control API is listed, and object types link to their fields.
func TestCallsPage(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	p := b.Page(browser.Look{})
	signIn(t, tb, p)
	p.Open(tb.Ready.Control + "/calls")
	var text string
	p.Eval(`document.querySelectorAll("details").forEach(d => d.open = true); document.querySelector("main").innerText`, &text)
	doc := must.Get(openapi.Load(openapi.Server))(t)
	links := regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if !strings.Contains(text, method+" "+path+" "+links.ReplaceAllString(strings.ReplaceAll(op.Summary, "`", ""), "$1")) {
				t.Errorf("%s %s %q isn't on the page", method, path, op.Summary)
			}
		}
	}
	var astray []string
	if p.Eval(`[...document.querySelectorAll("main a[href^='#']")].map(a => a.hash.slice(1)).filter(id => !document.getElementById(id))`, &astray); len(astray) > 0 {
		t.Errorf("type names whose link leads nowhere: %q", astray)
	}
	fits(t, "the reference", p)
	snap(t, "console-calls.png", p)
	clean(t, p, tb.Ready.Control)
}

// TestConsoleByKeyboard: a door is opened without a mouse, every control reachable with Tab has a name, and the
// lists' keys work.
func TestConsoleByKeyboard(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	board := tb.cfg.World.Places[1].Boards[0]
	p := b.Page(browser.Look{})
	press := map[string]func(){"tab": func() { p.Key("Tab", "Tab", 9, 0) }, "j": func() { p.Key("j", "KeyJ", 74, 0) }, "/": func() { p.Key("/", "Slash", 191, 0) },
		"esc": func() { p.Key("Escape", "Escape", 27, 0) }}
	signIn(t, tb, p)
	for _, path := range []string{"/", "/boards", "/boards/" + board.ID, "/faults", "/runs", "/calls"} {
		p.Open(tb.Ready.Control + path)
		var unnamed []string
		p.Eval(`document.querySelectorAll("details").forEach(d => d.open = true);
			[...document.querySelectorAll("a,button,input:not([type=hidden]),select,summary")].filter(e =>
			e.tabIndex >= 0 && e.checkVisibility() && !(e.matches("a,button,summary") && e.textContent.trim() || e.getAttribute("aria-label") || e.title || e.labels?.length)).map(e => e.outerHTML.slice(0, 120))`, &unnamed)
		if len(unnamed) > 0 {
			t.Errorf("%s: controls without a name: %q", path, unnamed)
		}
	}
	p.Open(tb.Ready.Control + "/boards")
	press["/"]()
	p.Await(`document.activeElement.name === "q"`)
	press["esc"]()
	press["j"]()
	p.Await(`document.activeElement.closest("[data-row]") === document.querySelector("[data-row]")`)
	p.Open(tb.Ready.Control + "/boards/" + board.ID)
	opens := `document.activeElement.matches("#board\\.doors button.main")`
	for range 60 {
		press["tab"]()
		var there bool
		if p.Eval(opens, &there); there {
			break
		}
	}
	p.Await(opens)
	p.Key("Enter", "Enter", 13, 0)
	p.Await(`[...document.querySelectorAll("#board\\.journal tbody tr")].some(r => r.innerText.includes("pulse"))`)
	p.Await(opens) // the focus stays although the page is updated
	if got := openings(t, tb, board.ID); got != 1 {
		t.Errorf("the journal has %d openings, want 1", got)
	}
	clean(t, p, tb.Ready.Control)
}
