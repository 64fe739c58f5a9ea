// Package console is the web console on the control listener, server-rendered:
// pages to look at the lab, and forms whose buttons press the control API
// and the public API as anybody else would. It keeps no state of the lab;
// what it shows, Config gives it.
//
// A page is a Page: its path, the template that shows it, its View, what its
// forms do, and the parts of it that are kept up to date while somebody looks. To
// add one:
//
//  1. pages/NAME.html defines the template "NAME", and one template for each live
//     part. A template gets a *Look: .Data is what View returned, .T "key" a text,
//     .Form the hidden fields that every form needs. A live part stands as
//     <section id="NAME.part" data-live>{{template "NAME.part" .}}</section>.
//     No style attributes and no inline scripts: the policy refuses them.
//  2. words_NAME.go adds its texts, English and Korean; a test finds the missing ones.
//  3. NAME.go has the View and what the forms do, and all() in page.go lists
//     the Page; the menu shows the pages that have a Nav.
//
// With JavaScript a form is sent in the background and the answer is said in the
// corner; without it the browser comes back to the page, which says it on top.
package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/lang"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/internal/world"
)

// Config of a Console.
type Config struct {
	Token  string       // the control token: what a person signs in with
	World  *world.World // names of places, boards and doors
	Clock  clock.Clock
	Lab    http.Handler // the control API
	Public http.Handler // the public API
	HTTP   string       // its address
	// Boards returns the current state of all boards, in the order of the world.
	Boards func() []Board
	// Believes is what a simulated board bases its decisions on: its content as a snapshot, and its outage policy; false
	// for any other.
	Believes func(boardID string) (wire.Sync, wire.Netloss, bool)
	// Holder is whom a grant of a place lets in: the phone and, of a permit, its link's token. No page may show them.
	Holder func(placeID, grantID string) (phone, token string, err error)
	Feed   *Feed
	Runs   string // where run directories are; "" = nowhere
}

// Board is one board's current state.
type Board struct {
	ID, PlaceID string
	Simulated   bool // by this process; otherwise only the server's view exists
	Detached    bool // the simulated board was taken away
	Online      bool
	Phase       string        // online, grace, outage or stopped; of one not simulated online, offline or unknown
	OutageAge   time.Duration // -1 = the board lost its clock
	Behind      time.Duration // how long it has been missing a change; 0 = it has all
}

// Console serves the pages. Stop ends its viewers' streams.
type Console struct {
	cfg     Config
	session session
	menu    []Page
	pages   *template.Template
	live    *hub
	routes  chi.Router
	names   names

	partners partners
	jump     atomic.Pointer[jumpView]
	marks    marks
	ran      runCache
}

// New builds the pages. Config.Lab serves all other paths.
func New(cfg Config) (*Console, error) {
	if cfg.Runs != "" { // people see the whole path
		dir, err := filepath.Abs(cfg.Runs)
		if err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		cfg.Runs = dir
	}
	c := &Console{cfg: cfg, session: newSession(cfg.Token), names: namesOf(cfg.World)}
	c.live = newHub(c.parts)
	var err error
	if c.pages, err = template.New("").Funcs(functions).ParseFS(files, "pages/*.html"); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.routes = chi.NewRouter()
	c.routes.NotFound(c.nowhere)
	c.routes.MethodNotAllowed(cfg.Lab.ServeHTTP)
	c.routes.Get("/login", c.loginPage)
	c.routes.Post("/login", c.login)
	c.routes.Post("/logout", c.logout)
	c.routes.Get("/runs/{run}", c.report)
	for path, a := range assets {
		c.routes.Get(path, a.ServeHTTP)
	}
	for _, p := range c.all() {
		if p.Nav != "" {
			c.menu = append(c.menu, p)
		}
		if c.pages.Lookup(p.Name) == nil {
			return nil, fmt.Errorf("console: no template %q", p.Name)
		}
		c.routes.Get(p.Path, c.show(p))
		c.routes.Head(p.Path, c.show(p))
		if len(p.Do) > 0 {
			c.routes.Post(p.Path, c.do(p))
		}
	}
	return c, nil
}

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == control.Prefix+"/clock/advance" && r.Method == http.MethodPost && control.Bears(r, c.cfg.Token):
		_ = c.watch(func() error { // a jump made elsewhere is shown, too
			a := &answered{ResponseWriter: w}
			c.cfg.Lab.ServeHTTP(a, r)
			return a.refused
		})
		return
	case strings.HasPrefix(r.URL.Path, "/lab/"):
		c.cfg.Lab.ServeHTTP(w, r)
		return
	}
	c.routes.ServeHTTP(w, r)
}

// nowhere answers for an address that isn't a page: a person in a browser gets a page that leads back, a program the
// control API's envelope.
func (c *Console) nowhere(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		c.cfg.Lab.ServeHTTP(w, r)
		return
	}
	text := wordsOf(lang.Of(r.Header.Get("Accept-Language"))).text("trouble.nowhere", r.URL.Path)
	c.trouble(w, r, Page{Title: "trouble.title"}, &client.Error{Status: http.StatusNotFound, Code: "not_found", Message: text})
}

// answered notes that a call was refused.
type answered struct {
	http.ResponseWriter
	refused error
}

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) {
	if status != http.StatusOK {
		a.refused = errRefused
	}
	a.ResponseWriter.WriteHeader(status)
}

var errRefused = errors.New("refused")

// Stop ends the streams: a listener that shuts down waits for them.
func (c *Console) Stop() { c.live.stop() }
