// Package api is the HTTP edge: it knows requests and answers, and asks the rules for everything else. The three
// OpenAPI files under openapi/ are the source of truth: package openapi reads routes, scopes, checks and codes from
// them at startup, `make generate` writes the types of bodies and answers to gen/, and one handler per operationId does
// the rest. A request passes route, token, scope and place, path resource, headers, query and body, handler, envelope.
package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Keys exchanges keys for tokens and verifies tokens: *auth.Service.
type Keys interface {
	Admit(addr string) error
	Issue(key string) (auth.Token, error)
	Verify(token string) (auth.Principal, error)
}

// Directory looks up what paths name: the store. Missing: fail.ErrNotFound.
type Directory interface {
	Place(id string) (place.Place, error)
	Door(id string) (place.Door, error)
	Doors(placeID string) ([]place.Door, error)
	Board(id string) (place.Board, error)
	Boards(placeID string) ([]place.Board, error)
}

// Grants keeps the entitlements: *grant.Service.
type Grants interface {
	Register(by record.By, r grant.RegisterRequest) (grant.Permit, error)
	Revoke(by record.By, r grant.RevokeRequest) (grant.Permit, error)
	List(placeID string, q grant.ListQuery) ([]grant.Permit, int, error)
	Get(placeID, permitID string) (grant.Permit, error)
	CreateTerm(by record.By, kind string, r grant.TermRequest) (grant.Term, error)
	CancelTerm(by record.By, kind, id string) (grant.Term, error)
	ListTerms(placeID, kind string, q grant.ListQuery) ([]grant.Term, int, error)
	ListCustomers(placeID string, q grant.ListQuery) ([]grant.Customer, int, error)
	ImportCustomers(by record.By, r grant.ImportRequest) (grant.ImportResult, error)
	ImportMemberships(by record.By, r grant.ImportRequest) (grant.ImportResult, error)
}

// Entry lets people in by link and lists what happened: *entry.Service.
type Entry interface {
	Link(token string) (entry.LinkView, error)
	LinkPlace(token string) (string, error)
	Open(ctx context.Context, token, doorID string) (entry.OpenResult, error)
	Records(by record.By, q entry.LogQuery) ([]record.Record, int, error)
	Events(placeID string, q record.EventQuery) ([]record.Event, int, error)
}

// Commands carries out door commands: *command.Service.
type Commands interface {
	Execute(ctx context.Context, r command.Request) (command.Answer, error)
}

// Boards reports the boards' status and configures them: *gateway.Gateway.
type Boards interface {
	Status(boardID string) board.Status
	// SetNetloss lays the channels that n names over what the board confirmed last, and returns the whole.
	SetNetloss(ctx context.Context, by record.By, boardID string, n board.Policy) (board.Policy, error)
}

// Other is the label for every path or method that no operation has: clients must not be able to create labels.
const Other = "other"

// Observation is one finished request, for metrics. Its labels contain no ids.
type Observation struct {
	Route, Method string // the template and an operation's method; Other if no operation has it
	Status        int
	Code          string // of a failure
	Elapsed       time.Duration
	Context       context.Context // the request's
}

// Config of the edge. The services are required, the rest has defaults.
type Config struct {
	Keys      Keys
	Directory Directory
	Places    *place.Service
	Grants    Grants
	Entry     Entry
	Commands  Commands
	Boards    Boards

	Audit       func(record.Audit) error // commands refused before they reached the device; nil = not kept
	Ready       func() error             // nil = always ready
	Unavailable func(error) bool         // whether an error is the storage's; nil = never
	LinkURL     string                   // base of entry links
	BaseURL     string                   // in the documents; "" = relative to them
	Proxies     []netip.Prefix           // whose X-Forwarded-For is trusted; nil = nobody's
	Version     string                   // "" = of the build
	Console     string                   // address of the web console, for the start page; "" = none
	Example     func() Example           // what readers on this machine can try on the start page; nil = nothing
	Log         *slog.Logger             // nil = none
	Observe     func(Observation)        // nil = none
	Inbox       *inbox.Recorder          // of each place's requests; nil = none
}

// api is the handler.
type api struct {
	cfg      Config
	docs     []*openapi.Document
	handlers map[string]handler
	routes   http.Handler
	audits   chan struct{} // bounds the audit writes in progress
	said     atomic.Int64  // when "storage unavailable" was last logged, clock.Mono
}

// New builds the handler. It returns an error if documents and handlers disagree.
func New(cfg Config) (http.Handler, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	docs, err := openapi.Load()
	if err != nil {
		return nil, err
	}
	a := &api{cfg: cfg, docs: docs, audits: make(chan struct{}, 64)}
	a.handlers = a.table()
	if a.routes, err = a.router(); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return a, nil
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.routes.ServeHTTP(w, listen.PlainPath(r))
}

type awayKey struct{}

// Away answers every request with a 503 in the form of its operation, with the headers that every answer has; h is the
// edge of a server that has stopped. Only X-Place-Kind is missing, because there is nobody who could check a token.
func Away(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), awayKey{}, true)))
	})
}

// away reports whether the request came while there was no server.
func (c *call) away() bool { return c.r.Context().Value(awayKey{}) != nil }
