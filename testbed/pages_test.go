package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
)

// signIn opens the console as a person does: with the token, typed in.
func signIn(t *testing.T, tb *Testbed, p *browser.Page) {
	t.Helper()
	p.Open(tb.Ready.Control + "/")
	p.Press(`document.querySelector("input[name=token]")`)
	p.Type(tb.Ready.ControlToken)
	p.PressTo(`document.querySelector("main button")`)
}

// snap keeps a picture where DOORLAB_PICTURES says so.
func snap(t *testing.T, name string, p *browser.Page) {
	t.Helper()
	if dir := os.Getenv("DOORLAB_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), p.Picture(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// clean: the page asked nobody else, and the browser complained of nothing.
func clean(t *testing.T, p *browser.Page, urls ...string) {
	t.Helper()
	for _, r := range p.Requests() {
		own := false
		for _, u := range urls {
			own = own || strings.HasPrefix(r.URL, u+"/")
		}
		if !own {
			t.Errorf("a foreign request: %s %s", r.Method, r.URL)
		}
	}
	for _, line := range p.Console() {
		if !strings.Contains(line, "favicon.ico") {
			t.Errorf("the browser complains: %s", line)
		}
	}
}

// fits: nothing is wider than the screen.
func fits(t *testing.T, name string, p *browser.Page) {
	t.Helper()
	var wide int
	if p.Eval(`document.documentElement.scrollWidth - innerWidth`, &wide); wide > 0 {
		var who string
		p.Eval(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".wide,.hide")).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join("\n")`, &who)
		t.Errorf("%s: %d px wider than the screen: %s", name, wide, who)
	}
}

// looks are the ways in which every page is looked at.
var looks = map[string]browser.Look{
	"phone": {Width: 390, Height: 844, Mobile: true, Language: "ko"}, "phone-dark": {Width: 390, Height: 844, Mobile: true, Dark: true},
	"desk": {Width: 1280, Height: 800}, "desk-plain": {Width: 1280, Height: 800, NoScript: true},
}

// TestConsolePages: every page is there in each look, fits, and asks nobody else.
func TestConsolePages(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Fleet: true, Virtual: true, Control: "127.0.0.1:0"})
	for name, look := range looks {
		p := b.Page(look)
		signIn(t, tb, p)
		var links []string
		p.Eval(`[...document.querySelectorAll("nav a")].map(a => a.getAttribute("href"))`, &links)
		if len(links) == 0 {
			t.Fatalf("%s: no menu", name)
		}
		for _, path := range links {
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
