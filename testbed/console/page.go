package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/lang"
)

// Page is one page of the console. The package comment says how one is added.
type Page struct {
	Name  string // of its template; "boards.one" for what belongs to boards in the menu
	Path  string // as chi has it: "/boards/{id}"
	Title string // key of its text
	Nav   string // key of its text in the menu; "" = not there
	// View is what the template shows. A *client.Error with 404 is the page "not here".
	View func(r *http.Request) (any, error)
	// Parts are the templates kept up to date while somebody looks, at most once a second.
	Parts []string
	// Data is a part that a script draws: sent as text to the element "NAME.data"
	// whenever it changes; nil = none.
	Data func(view any) string
	// Do are the actions of the page's forms by the value of their field "do". What
	// one returns is said to the person; the error is said in red.
	Do forms
}

// Said is the result of a form: a text with its arguments, and where to go next ("" = the same page).
type Said struct {
	Key  string
	Args []any
	Keep bool // it stays until dismissed, because it is shown only once
	Show any  // the form's answer is its own page with this as what View returned; the form is data-page
}

// coded is an argument of Said that is an API code; in Korean it is shown as a word.
type coded string

// in is the text in a language.
func (s Said) in(language string) string {
	args := slices.Clone(s.Args)
	for i, a := range args {
		if code, ok := a.(coded); ok {
			args[i] = (&Look{Lang: language}).Code(code)
		}
	}
	return wordsOf(language).text(s.Key, args...)
}

type forms map[string]func(*http.Request) (Said, error)

// all lists the pages in the order of the menu.
func (c *Console) all() []Page {
	return []Page{
		{Name: "now", Path: "/", Title: "now.title", Nav: "nav.now", View: c.now, Do: c.clockForms(),
			Parts: []string{"now.health", "now.clock", "now.faults", "now.feed"}},
		{Name: "now.command", Path: "/commands/{id}", Title: "command.title", View: c.command, Parts: []string{"now.command.way"}},
		{Name: "boards", Path: "/boards", Title: "boards.title", Nav: "nav.boards", View: c.boards,
			Parts: []string{"boards.counts", "boards.table"}, Data: func(v any) string { return v.(boardsView).code() }},
		{Name: "boards.one", Path: "/boards/{id}", Title: "board.title", View: c.board, Do: c.boardForms(),
			Parts: []string{"board.state", "board.doors", "board.faults", "board.journal", "board.messages", "board.beliefs"}},
		{Name: "inbox", Path: "/inbox", Title: "inbox.title", Nav: "nav.inbox", View: c.inbox, Do: forms{"clear": c.clearInbox},
			Parts: []string{"inbox.rows", "inbox.checks"}},
		{Name: "inbox.one", Path: "/inbox/{seq}", Title: "inbox.one.title", View: c.request},
		{Name: "people", Path: "/people", Title: "people.title", Nav: "nav.people", View: c.people, Parts: []string{"people.grants"},
			Do: forms{"try": c.try, "grant": c.tryGrant, "explain": c.asked}},
		{Name: "faults", Path: "/faults", Title: "faults.title", Nav: "nav.faults", View: c.faultsView, Parts: []string{"faults.armed", "faults.disk"},
			Do: forms{"add": c.addFault, "remove": c.removeFault, "reset": c.resetFaults, "disk": c.setDisk}},
		{Name: "runs", Path: "/runs", Title: "runs.title", Nav: "nav.runs", View: c.runsView},
		{Name: "calls", Path: "/calls", Title: "calls.title", Nav: "nav.calls", View: c.calls},
	}
}

// maxForm is the largest form that is read.
const maxForm = 64 << 10

// Look is what every template gets.
type Look struct {
	Lang  string
	Title string
	Page  Page
	Menu  []Page
	In    bool // signed in
	// Partners is the address of the partners' reference, "" = none.
	Partners string
	Said     *flash
	Data     any
	words    words
	form     string
}

// T is a text in the reader's language.
func (l *Look) T(key string, args ...any) string {
	if l.Lang == lang.Korean {
		args = each.Of(args, koreanSpan)
	}
	return l.words.text(key, args...)
}

// Form are the hidden fields of a form whose button does something.
func (l *Look) Form(do string) template.HTML {
	return template.HTML(`<input type="hidden" name="form" value="` + l.form + `"><input type="hidden" name="do" value="` + template.HTMLEscapeString(do) + `">`)
}

// Here reports whether the menu's page is the current one or above it.
func (l *Look) Here(p Page) bool {
	return p.Name == l.Page.Name || strings.HasPrefix(l.Page.Name, p.Name+".")
}

func (c *Console) look(r *http.Request, p Page, data any) *Look {
	l := &Look{Lang: lang.Of(r.Header.Get("Accept-Language")), Page: p, Menu: c.menu, In: c.session.open(r), Data: data}
	l.words = wordsOf(l.Lang)
	l.Title = l.T(p.Title)
	if l.In {
		l.form = c.session.form
	}
	if docs := c.partnerDocs(); len(docs) > 0 {
		l.Partners = docs[1].ID // what partners use most
	}
	return l
}

// streams reports whether a request is for a page's live parts.
func streams(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// show serves a page, or its live parts to whoever asks for a stream.
func (c *Console) show(p Page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stream := streams(r)
		switch {
		case !c.session.open(r) && stream:
			http.Error(w, "not signed in", http.StatusForbidden)
			return
		case !c.session.open(r):
			c.toLogin(w, r)
			return
		case stream:
			c.live.serve(w, r, p)
			return
		}
		data, err := p.View(r)
		if err != nil {
			c.trouble(w, r, p, err)
			return
		}
		l := c.look(r, p, data)
		l.Said = c.takeFlash(w, r)
		c.render(w, l, http.StatusOK)
	}
}

// trouble shows a page that says why the requested one can't be shown.
func (c *Console) trouble(w http.ResponseWriter, r *http.Request, p Page, err error) {
	c.render(w, c.look(r, Page{Name: "trouble", Title: p.Title}, err.Error()), statusOf(err))
}

func (c *Console) render(w http.ResponseWriter, l *Look, status int) {
	guard(w.Header())
	var b bytes.Buffer
	if err := c.pages.ExecuteTemplate(&b, "layout", struct {
		*Look
		Main template.HTML
	}{l, template.HTML(c.part(l, l.Page.Name))}); err != nil {
		panic("console: " + err.Error())
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// part renders one template.
func (c *Console) part(l *Look, name string) string {
	var b strings.Builder
	if err := c.pages.ExecuteTemplate(&b, name, l); err != nil {
		panic("console: " + err.Error())
	}
	return b.String()
}

// parts are the live parts of a page as they are now, by element.
func (c *Console) parts(r *http.Request, p Page) (map[string]string, error) {
	data, err := p.View(r)
	if err != nil {
		return nil, err
	}
	l := c.look(r, p, data)
	out := map[string]string{}
	for _, name := range p.Parts {
		out[name] = c.part(l, name)
	}
	if p.Data != nil {
		out[p.Name+".data"] = p.Data(data)
	}
	return out, nil
}

// do carries out what a form asks for.
func (c *Console) do(p Page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if !c.session.may(r) {
			c.answer(w, r, http.StatusForbidden, flash{Text: wordsOf(lang.Of(r.Header.Get("Accept-Language"))).text("said.forbidden"), Bad: true})
			return
		}
		act := p.Do[r.PostFormValue("do")]
		said, err := Said{}, badly("wrong.form")
		if act != nil {
			said, err = act(r)
		}
		if err != nil {
			text := err.Error()
			if ours, ok := errors.AsType[wrong](err); ok {
				text = Said(ours).in(lang.Of(r.Header.Get("Accept-Language")))
			}
			c.answer(w, r, statusOf(err), flash{Text: text, Bad: true})
			return
		}
		if said.Show != nil {
			c.render(w, c.look(r, p, said.Show), http.StatusOK)
			return
		}
		c.answer(w, r, http.StatusOK, flash{Text: said.in(lang.Of(r.Header.Get("Accept-Language"))), Keep: said.Keep})
	}
}

// flash is the message that the next page shows at the top.
type flash struct {
	Text string `json:"text"`
	Bad  bool   `json:"bad,omitempty"`
	Keep bool   `json:"keep,omitempty"`
}

// fetched marks forms that a script sends: they get JSON, the others a page.
const fetched = "X-Doorlab-Console"

func (c *Console) answer(w http.ResponseWriter, r *http.Request, status int, f flash) {
	guard(w.Header())
	if r.Header.Get(fetched) != "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(f)
		return
	}
	if f.Keep { // a secret: not through the browser's cookies
		c.render(w, c.look(r, Page{Name: "noted", Title: "noted.title"}, f), status)
		return
	}
	b, _ := json.Marshal(f)
	http.SetCookie(w, &http.Cookie{Name: c.session.name(r) + "_said", Value: url.QueryEscape(string(b)), Path: "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, inside(r.URL.RequestURI()), http.StatusSeeOther)
}

// takeFlash returns the last form's message, once.
func (c *Console) takeFlash(w http.ResponseWriter, r *http.Request) *flash {
	name := c.session.name(r) + "_said"
	k, err := r.Cookie(name)
	if err != nil {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	text, err := url.QueryUnescape(k.Value)
	var f flash
	if err != nil || json.Unmarshal([]byte(text), &f) != nil {
		return nil
	}
	return &f
}
