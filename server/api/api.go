// Package api is the HTTP edge: it knows requests and answers, and asks the
// rules for everything else. The three OpenAPI files under openapi/ are the
// source: routes, scopes, checks of parameters and bodies, and the codes of
// failures come from them when it starts, and the types of answers under gen/
// from make generate; a handler by operationId does the rest. A request
// flows: route, token, scope and place, path resource, header and query and
// body, handler, envelope. Only the composition (server) imports it.
package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Keys exchanges keys and verifies tokens: *auth.Service.
type Keys interface {
	Admit(addr string) error
	Issue(key string) (auth.Token, error)
	Verify(token string) (auth.Principal, error)
}

// Directory looks up what paths name: the store. Absent: rule.ErrNotFound.
type Directory interface {
	Place(id string) (place.Place, error)
	Door(id string) (place.Door, error)
	Doors(placeID string) ([]place.Door, error)
	Board(id string) (place.Board, error)
	Boards(placeID string) ([]place.Board, error)
}

// Places keeps hours and policies: *place.Service.
type Places interface {
	SetHours(placeID string, week place.Week) (place.Place, error)
	Schedule(placeID string, days int) (place.Schedule, error)
	GateConfig(placeID string) (place.GateConfig, error)
	Policies(placeID, doorID string) ([]place.PolicyView, error)
	SetPolicy(placeID, doorID string, r place.PolicyRequest) (place.PolicyView, error)
	DeletePolicies(placeID, doorID string, q place.PolicyQuery) (int, error)
}

// Grants keeps the entitlements: *grant.Service.
type Grants interface {
	Register(ctx context.Context, by grant.By, r grant.RegisterRequest) (grant.Registered, error)
	Revoke(ctx context.Context, by grant.By, r grant.RevokeRequest) (grant.Permit, error)
	List(ctx context.Context, placeID string, q grant.ListQuery) ([]grant.Permit, int, error)
	Get(ctx context.Context, placeID, permitID string) (grant.PermitDetail, error)
	CreateReservation(ctx context.Context, by grant.By, r grant.TermRequest) (grant.Term, error)
	CancelReservation(ctx context.Context, by grant.By, id string) (grant.Term, error)
	ListMemberships(ctx context.Context, placeID string, q grant.ListQuery) ([]grant.Term, int, error)
	ListReservations(ctx context.Context, placeID string, q grant.ListQuery) ([]grant.Term, int, error)
	ListCustomers(ctx context.Context, placeID string, q grant.ListQuery) ([]grant.Customer, int, error)
	ImportCustomers(ctx context.Context, by grant.By, r grant.ImportRequest) (grant.ImportResult, error)
	ImportMemberships(ctx context.Context, by grant.By, r grant.ImportRequest) (grant.ImportResult, error)
}

// Entry lets people in by link and shows what happened: *entry.Service.
type Entry interface {
	Link(token string) (entry.LinkView, error)
	Open(ctx context.Context, token, doorID string) (entry.OpenResult, error)
	Records(ctx context.Context, by entry.Reader, q entry.LogQuery) ([]record.Record, int, error)
	Events(ctx context.Context, placeID string, q record.EventQuery) ([]record.Event, int, error)
}

// Commands carries out door commands: *device.Service.
type Commands interface {
	Execute(ctx context.Context, r device.Request) (device.Answer, error)
}

// Boards says how boards are, and configures them: *gateway.Gateway.
type Boards interface {
	Status(boardID string) device.BoardStatus
	SetNetloss(ctx context.Context, boardID string, n wire.Netloss) (wire.Netloss, error)
}

// Observation is one finished request, for metrics: labels without an id.
type Observation struct {
	Route, Method string // the template, "" for an unknown path
	Status        int
	Code          string // of a failure
	Elapsed       time.Duration
}

// Config of the edge. The services are required, the rest has defaults.
type Config struct {
	Keys      Keys
	Directory Directory
	Places    Places
	Grants    Grants
	Entry     Entry
	Commands  Commands
	Boards    Boards

	Audit       func(record.Audit) error // what was refused before the device; nil = not kept
	Ready       func() error             // nil = always ready
	Unavailable func(error) bool         // is it the storage? nil = never
	LinkURL     string                   // base of entry links; "" = the request's own address
	BaseURL     string                   // in the documents; "" = the request's own address
	Proxies     []netip.Prefix           // whose X-Forwarded-For counts; nil = nobody's
	Version     string                   // "" = of the build
	Log         *slog.Logger             // nil = none
	Observe     func(Observation)        // nil = none
}

// API is the handler.
type API struct {
	cfg      Config
	docs     []*document
	handlers map[string]handler
	routes   http.Handler
	audits   chan struct{} // bounds the audit writes under way
}

// New builds the handler. It fails when documents and handlers disagree.
func New(cfg Config) (http.Handler, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	docs, err := loadDocuments()
	if err != nil {
		return nil, err
	}
	a := &API{cfg: cfg, docs: docs, audits: make(chan struct{}, 64)}
	a.handlers = a.table()
	if a.routes, err = a.router(); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return a, nil
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.routes.ServeHTTP(w, r) }
