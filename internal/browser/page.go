package browser

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
)

// Look is how a page is viewed. The zero value is a desktop of 1280 x 800.
type Look struct {
	Width, Height int
	Mobile        bool   // a touch screen, and the viewport of the page counts
	Language      string // Accept-Language; "" = en
	NoScript      bool   // JavaScript is off
	Dark          bool   // prefers-color-scheme
}

// Page is one tab.
type Page struct {
	b       *Browser
	session string
	plain   bool // without JavaScript
	width   int

	mu       sync.Mutex
	requests []Request
	console  []string
	loads    chan struct{}
}

// Request is one that the page made or tried to make.
type Request struct {
	ID, Method, URL string
	Status          int
	Body            string // that was sent
}

// Page opens an empty tab.
func (b *Browser) Page(l Look) *Page {
	b.tb.Helper()
	if l.Width == 0 {
		l.Width, l.Height = 1280, 800
	}
	l.Language = cmp.Or(l.Language, "en")
	var ctx, target, attached struct{ BrowserContextID, TargetID, SessionID string }
	b.must("", "Target.createBrowserContext", nil, &ctx)
	b.must("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": ctx.BrowserContextID}, &target)
	b.must("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{b: b, session: attached.SessionID, plain: l.NoScript, width: l.Width, loads: make(chan struct{}, 64)}
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		p.do(domain+".enable", nil, nil)
	}
	scheme := "light"
	if l.Dark {
		scheme = "dark"
	}
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": l.Width, "height": l.Height, "deviceScaleFactor": 1, "mobile": l.Mobile}, nil)
	p.do("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": l.Mobile}, nil)
	p.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme},
		map[string]any{"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
	p.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": l.NoScript}, nil)
	p.do("Network.setExtraHTTPHeaders", map[string]any{"headers": map[string]any{"Accept-Language": l.Language}}, nil)
	return p
}

func (b *Browser) must(session, method string, params, out any) {
	b.tb.Helper()
	raw, err := b.call(session, method, params)
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		b.tb.Fatalf("%s: %v", method, err)
	}
}

func (p *Page) do(method string, params, out any) {
	p.b.tb.Helper()
	p.b.must(p.session, method, params, out)
}

// event records what a page requested and complained about.
func (p *Page) event(m message) {
	var v struct {
		RequestID string
		Request   struct{ URL, Method, PostData string }
		Response  struct{ Status int }
		Entry     struct{ Source, Level, Text, URL string }
		Type      string
		Args      []struct {
			Value       any
			Description string
		}
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if json.Unmarshal(m.Params, &v) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "Page.loadEventFired":
		select {
		case p.loads <- struct{}{}:
		default:
		}
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, Request{ID: v.RequestID, Method: v.Request.Method, URL: v.Request.URL, Body: v.Request.PostData})
	case "Network.responseReceived":
		for i := range p.requests {
			if p.requests[i].ID == v.RequestID {
				p.requests[i].Status = v.Response.Status
			}
		}
	case "Log.entryAdded":
		p.console = append(p.console, strings.TrimSpace(v.Entry.Source+" "+v.Entry.Level+": "+v.Entry.Text+" "+v.Entry.URL))
	case "Runtime.consoleAPICalled":
		if v.Type == "error" || v.Type == "warning" || v.Type == "assert" {
			line := "console " + v.Type + ":"
			for _, a := range v.Args {
				line += fmt.Sprint(" ", a.Value, a.Description)
			}
			p.console = append(p.console, line)
		}
	case "Runtime.exceptionThrown":
		p.console = append(p.console, "exception: "+v.ExceptionDetails.Text+" "+v.ExceptionDetails.Exception.Description)
	}
}

// Requests are the requests so far, except to data and blob addresses.
func (p *Page) Requests() (out []Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if !strings.HasPrefix(r.URL, "data:") && !strings.HasPrefix(r.URL, "blob:") {
			out = append(out, r)
		}
	}
	return out
}

// Console is what the browser complained about: blocked by a policy, failed to load, thrown, warned.
func (p *Page) Console() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.console)
}

// Open navigates to an address and waits until it is loaded.
func (p *Page) Open(url string) {
	p.b.tb.Helper()
	var nav struct{ ErrorText string }
	p.drain()
	p.do("Page.navigate", map[string]any{"url": url}, &nav)
	if nav.ErrorText != "" {
		p.b.tb.Fatalf("%s: %s", url, nav.ErrorText)
	}
	p.loaded()
}

// loaded waits, a minute at most, until the page is there.
func (p *Page) loaded() {
	p.b.tb.Helper()
	late := make(chan struct{})
	defer clock.WallAfter(time.Minute, func() { close(late) }).Stop()
	select {
	case <-p.loads:
	case <-late:
		p.b.tb.Fatalf("no page within a minute; console: %q", p.Console())
	}
}

func (p *Page) drain() {
	for len(p.loads) > 0 {
		<-p.loads
	}
}

// Eval evaluates an expression, awaits it if it is a promise, and decodes its value.
func (p *Page) Eval(js string, out any) {
	p.b.tb.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.do("Runtime.evaluate", map[string]any{"expression": js, "awaitPromise": true, "returnByValue": true}, &r)
	if e := r.ExceptionDetails; e != nil {
		p.b.tb.Fatalf("%.200s: %s %s", js, e.Text, e.Exception.Description)
	}
	if out != nil && len(r.Result.Value) > 0 {
		if err := json.Unmarshal(r.Result.Value, out); err != nil {
			p.b.tb.Fatalf("%.200s: %v in %s", js, err, r.Result.Value)
		}
	}
}

// Await waits, 30 s at most, until an expression is true; it is evaluated again whenever the page changes. Requires
// JavaScript.
func (p *Page) Await(js string) {
	p.b.tb.Helper()
	if p.Within(30*time.Second, js) {
		return
	}
	if dir := os.Getenv("DOORLAB_PICTURES"); dir != "" {
		_ = os.WriteFile(filepath.Join(dir, "failed.png"), p.Picture(), 0o600)
	}
	p.b.tb.Fatalf("never became true: %s; console: %q", js, p.Console())
}

// Within waits like Await and reports whether the expression became true.
func (p *Page) Within(d time.Duration, js string) (ok bool) {
	p.b.tb.Helper()
	p.Eval(`new Promise(done => {
	const ask = () => { try { return !!(`+js+`) } catch { return false } };
	if (ask()) return done(true);
	const end = v => { o.disconnect(); clearInterval(i); clearTimeout(t); done(v) };
	const o = new MutationObserver(() => ask() && end(true));
	o.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
	const i = setInterval(() => ask() && end(true), 100), t = setTimeout(() => end(false), `+strconv.FormatInt(d.Milliseconds(), 10)+`);
})`, &ok)
	return ok
}

// Press clicks in the middle of the element that an expression finds; with JavaScript, once it has stopped moving and
// nothing covers it.
func (p *Page) Press(js string) {
	p.b.tb.Helper()
	const where = `const where = () => {
	const e = find(); if (!e) return null;
	e.scrollIntoView({block: "center", behavior: "instant"});
	const r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);
	return {x, y, free: !!top && (e.contains(top) || top.contains(e))};
};`
	js = `const find = () => ` + js + `;` + where
	if p.plain {
		js = `(() => { ` + js + ` return where() })()`
	} else {
		js = `new Promise(done => { ` + js + `
	let last, left = 3600;
	const look = () => {
		const at = where();
		if (at && last && at.free && at.x === last.x && at.y === last.y || left-- === 0) return done(at);
		last = at;
		requestAnimationFrame(look);
	};
	look();
})`
	}
	var at *struct{ X, Y float64 }
	if p.Eval(js, &at); at == nil {
		p.b.tb.Fatalf("nothing to press: %.300s", js)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// PressTo clicks and waits for the page it leads to.
func (p *Page) PressTo(js string) {
	p.b.tb.Helper()
	p.drain()
	p.Press(js)
	p.loaded()
}

// Type types into the focused element.
func (p *Page) Type(text string) {
	p.b.tb.Helper()
	p.do("Input.insertText", map[string]any{"text": text}, nil)
}

// Key presses a key with modifiers (2 = control).
func (p *Page) Key(key, code string, number, modifiers int) {
	p.b.tb.Helper()
	text := ""
	if key == "Enter" {
		text = "\r" // without it, Enter presses no button
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		p.do("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers, "text": text}, nil)
	}
}

// Picture is a PNG of the visible page.
func (p *Page) Picture() []byte {
	p.b.tb.Helper()
	var shot struct{ Data string }
	p.do("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	b := must.Get(base64.StdEncoding.DecodeString(shot.Data))(p.b.tb)
	return b
}
