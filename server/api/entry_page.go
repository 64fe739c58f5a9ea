package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
)

//go:embed pages
var pageFiles embed.FS

var (
	pages       = template.Must(template.ParseFS(pageFiles, "pages/*.html"))
	entryCSS    = mustFile("pages/entry.css")
	entryJS     = mustFile("pages/entry.js")
	docsCSS     = mustFile("pages/docs.css")
	docsMenuCSS = mustFile("pages/docs-menu.css")
	entryWith   = policyFor(entryCSS, entryJS)
)

func mustFile(name string) string {
	b, err := pageFiles.ReadFile(name)
	if err != nil {
		panic("api: " + err.Error())
	}
	return string(b)
}

// hashOf is the hash by which a content security policy names an inline style or script.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// policyFor lets a page use its own style, script and pictures and nothing else.
func policyFor(css, js string) string {
	return "default-src 'none'; style-src '" + hashOf(css) + "'; script-src '" + hashOf(js) + "'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// wantsPage reports whether /entry answers with a page: if the client names it and doesn't like JSON better. A GET that
// names neither gets the page, too.
func wantsPage(r *http.Request, op *openapi.Operation) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	page, named := quality(accept, "text/html")
	data, other := quality(accept, typeJSON)
	if named {
		return page > 0 && page >= data
	}
	return op.Method == http.MethodGet && !(other && data > 0)
}

// quality is how much a client likes a media type or a coding that its Accept header names, 0 to 1.
func quality(accept, kind string) (q float64, named bool) {
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), kind) {
			continue
		}
		q, named = 1, true
		for param := range strings.SplitSeq(params, ";") {
			if k, v, _ := strings.Cut(strings.TrimSpace(param), "="); strings.EqualFold(k, "q") {
				if n, err := strconv.ParseFloat(v, 64); err == nil {
					q = n
				}
			}
		}
	}
	return q, named
}

// entryView is what the entry page and its result page show.
type entryView struct {
	Lang  string
	T     words
	CSS   template.CSS
	JS    template.JS
	Title string
	Token string
	Place string
	State string // a line about the permit's period, "" while active
	Doors []entry.LinkDoor

	Message string // result page
	OK      bool
	Code    string
}

// entryPage shows the doors of a link, one button each. It opens nothing, see PERM-4.
func entryPage(c *call) (any, error) {
	t := c.query.Str("t")
	v, err := c.api.cfg.Entry.Link(t) // [PERM-4] looks, opens nothing
	if err != nil {
		return nil, err
	}
	lang, w := speak(c.r)
	return c.show("entry.html", http.StatusOK, entryView{Lang: lang, T: w, CSS: template.CSS(entryCSS), JS: template.JS(entryJS), Title: v.PlaceName,
		Token: t, Place: v.PlaceName, State: w.state(v), Doors: v.Doors}), nil
}

// entryOpen presses a button. Only this opens, and only by POST, see ENT-3.
func entryOpen(c *call) (any, error) {
	var b gen.EntryOpen
	err := c.readBody(&b)
	if c.token = b.T; err != nil { // a failure's page links back to the doors
		return nil, err
	}
	r, err := c.api.cfg.Entry.Open(context.WithoutCancel(c.r.Context()), b.T, b.DoorID)
	c.seen.doorID, c.seen.commandID = b.DoorID, r.Device.CommandID
	if err != nil {
		return nil, err
	}
	if e := r.Failure(); e != nil {
		return nil, e
	}
	if c.html {
		lang, w := speak(c.r)
		return c.show("result.html", http.StatusOK, entryView{Lang: lang, T: w, CSS: template.CSS(entryCSS), JS: template.JS(entryJS), Title: r.DoorName,
			Token: b.T, Message: w.Opened, OK: true}), nil
	}
	return gen.Opened{Result: string(r.Result), DoorID: r.DoorID, DoorName: r.DoorName}, nil
}

// failPage shows a failure to a person.
func (c *call) failPage(e *fail.Error) {
	lang, w := speak(c.r)
	v := entryView{Lang: lang, T: w, CSS: template.CSS(entryCSS), JS: template.JS(entryJS), Code: e.Code}
	switch v.Title, v.Message = w.failed(e); {
	case e.Code == fail.LinkInvalid: // the heading says it for every method
	case c.op.Method == http.MethodGet: // nobody has pressed a button
		v.Title, v.Message = w.Unshown, w.failure(e)
	case c.away(): // nothing was looked at, so nothing moved
		v.Title, v.Message = w.Failed, w.failure(e)
	}
	if e.Code != fail.LinkInvalid {
		v.Token = c.token
	}
	a := c.show("result.html", e.Status(), v)
	c.send(a.status, a.kind, a.body)
}

// show renders a page that must not be cached, framed, or leak its address as a referrer.
func (c *call) show(name string, status int, v any) answer {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, v); err != nil {
		panic("api: " + err.Error())
	}
	h := c.w.Header()
	h.Set("Content-Security-Policy", entryWith)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Vary", "Accept, Accept-Language")
	return answer{status: status, kind: typeHTML, body: b.Bytes()}
}

// link is the address of the entry page of a token.
func (c *call) link(token string) string {
	return strings.TrimSuffix(c.api.cfg.LinkURL, "/") + "/entry?t=" + url.QueryEscape(token)
}
