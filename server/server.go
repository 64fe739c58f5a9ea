// Package server is the API server put together: store, rules, gateway, sync,
// edges. Composition only: it holds no rule. testbed starts it.
package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/why"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/console"
	"github.com/doorlab/doorlab/server/disk"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/sip"
	"github.com/doorlab/doorlab/server/spans"
	"github.com/doorlab/doorlab/server/store"
)

// ErrOtherWorld means that the data was made from a world incompatible with Config.World.
var ErrOtherWorld = store.ErrOtherWorld

// ErrForeign means that the database was made with another secret.
var ErrForeign = store.ErrForeign

// Config of a Server. DataDir, World, Clock and LinkURL are required.
type Config struct {
	DataDir        string
	World          *world.World // with its secrets
	Clock          clock.Clock
	Flight         *clock.Flight       // nil = nothing is counted
	History        func(history.Event) // nil = none
	Retention      record.Retention
	Recording      func() bool // whether History keeps what it is told; nil = always
	Version        string      // shown at /version; "" = of the build
	Console        string      // address of the web console, linked from the start page; "" = none
	LinkURL        string      // base of entry links
	BaseURL        string      // in the OpenAPI documents; "" = relative to them
	TrustedProxies []string    // CIDR; whose X-Forwarded-For counts
	// Counted: whether a board of this process is at the other end, see gateway.Config.
	Counted func(boardID string) bool
	// Simulated: whether this process simulates a board of a place of that kind, with the password in World; nil = none.
	Simulated func(kind, boardID string) bool
	// Watch sees what passes; nil = nobody looks.
	Watch Watch
	// Spans tells OpenTelemetry of requests and commands; nil = nobody.
	Spans *spans.Tracer
	// Rotated is called with the new password of a board that was rotated, by this
	// process or another; nil = nobody simulates boards.
	Rotated     func(boardID, password string)
	SIP         string        // address of phone entry over SIP; "" = off
	Greet       int           // boards that may be unfinished at one time; 0 = gateway's default
	Wait        time.Duration // for a board's report; 0 = 8 s
	NotAfter    time.Duration // how long after a request was accepted a board may begin to act; 0 = 5 s
	Coalesce    time.Duration // changes of a place within it go to its boards together, of a busy one those of four times as long; 0 = 250 ms
	Unchecked   bool          // skip the check for a damaged database: this process has had it open
	SIPPeers    []string      // CIDR; who may call; nil = this machine only
	Failed      func(error)   // told when phone entry ends by itself; nil = only logged
	CrashPoints bool
	Inbox       *inbox.Recorder // of each place's requests; nil = none
	Before      *Server         // the previous one on the same data, which has ended; nil = none in this process
	Log         *slog.Logger    // nil = discard
}

// Server is a composed server. ServeMQTT and Handler may be used at once.
type Server struct {
	cfg      Config
	store    *store.Store
	secret   datadir.Secret
	openings place.Openings
	auth     *auth.Service
	places   *place.Service
	grants   *grant.Service
	entry    *entry.Service
	device   *command.Service
	gateway  *gateway.Gateway
	sync     *boardsync.Service
	public   http.Handler
	metrics  *metrics
	crash    crashPoints
	disk     *disk.Disk
	sip      *sip.Server
	rotated  map[string]int64 // generation of the boards that were rotated; only watch uses it
	watching clock.Timer

	dead      atomic.Bool // killed: it logs nothing more
	unwatched atomic.Bool
	sweeper   *record.Sweeper
}

// New opens the data directory, seeds the world, settles what the previous run left unfinished, and puts the services
// together. Errors: ErrOtherWorld, store.ErrNewer, and those of the file system.
func New(cfg Config) (_ *Server, err error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	s := &Server{metrics: newMetrics()}
	if s.disk = disk.New(); cfg.Before != nil {
		s.disk = cfg.Before.disk.Next()
	}
	cfg.Before = nil // or each would keep all before it
	cfg.Log = slog.New(mortal{cfg.Log.Handler(), &s.dead, s.disk})
	s.cfg = cfg
	defer func() {
		if err != nil {
			_ = s.Stop()
		}
	}()
	if cfg.History != nil {
		cfg.History(history.Event{Kind: history.Started, At: cfg.Clock.Now().UnixMilli(), Text: "server",
			NotAfterMs: cfg.NotAfter.Milliseconds()})
	}
	if s.secret, err = datadir.OpenSecret(cfg.DataDir); err != nil { // before there is a database: each is missed without the other
		return nil, fmt.Errorf("server: %w", err)
	}
	if s.store, err = store.Open(cfg.DataDir, plant(store.Options{Clock: cfg.Clock, Log: cfg.Log, Phones: s.secret.Of("phones"), Committed: s.metrics.commit, Commit: s.disk.Commit, Unchecked: s.cfg.Unchecked})); err != nil {
		return nil, err
	}
	if err := s.store.Claim(s.secret.ID()); err != nil {
		return nil, err
	}
	if err := s.passwords(); err != nil { // before the world changes anything
		return nil, err
	}
	unchanged, err := s.store.Seed(cfg.World, s.pepper())
	if err != nil {
		return nil, err
	}
	for _, what := range unchanged {
		cfg.Log.Warn("world: " + what)
	}
	if cfg.Recording == nil || cfg.Recording() {
		if err := s.Record(true); err != nil {
			return nil, err
		}
	}
	if err := s.rules(); err != nil {
		return nil, err
	}
	if err := s.boards(); err != nil {
		return nil, err
	}
	if err := s.edge(); err != nil {
		return nil, err
	}
	if err := s.watch(); err != nil {
		return nil, err
	}
	if cfg.SIP != "" {
		peers, err := listen.Prefixes(cfg.SIPPeers)
		if err != nil {
			return nil, fmt.Errorf("--sip-peers: %w", err)
		}
		if s.sip, err = sip.Start(plant(sip.Config{Addr: cfg.SIP, Peers: peers, Caller: s.entry, Failed: cfg.Failed, Log: cfg.Log})); err != nil {
			return nil, err
		}
		s.metrics.watchCalls(s.sip)
	}
	return s, nil
}

func (s *Server) rules() (err error) {
	s.auth, err = auth.New(plant(auth.Config{Clock: s.cfg.Clock, Store: s.store, Pepper: s.pepper(), SigningKey: s.secret.Of("tokens")}))
	if err != nil {
		return err
	}
	s.places = place.New(plant(place.Config{Clock: s.cfg.Clock, Store: s.store, Openings: &s.openings}))
	s.grants = grant.New(plant(grant.Config{Clock: s.cfg.Clock, Store: s.store, Secret: links(s.secret), Openings: &s.openings,
		LinkURL: strings.TrimRight(s.cfg.LinkURL, "/"),
		Applied: func(boardID string) (int64, time.Time) {
			b := s.gateway.Status(boardID)
			return b.AppliedRevision, b.AppliedAt
		}}))
	return nil
}

func (s *Server) edge() error {
	proxies, err := listen.Prefixes(s.cfg.TrustedProxies)
	if err != nil {
		return fmt.Errorf("trusted proxies: %w", err)
	}
	s.public, err = api.New(plant(api.Config{
		Keys: s.auth, Directory: s.store, Places: s.places, Grants: s.grants, Entry: s.entry, Commands: s.device, Boards: s.gateway,
		Audit: s.store.AddAudit, Ready: s.store.Ping,
		Unavailable: func(err error) bool { return errors.Is(err, store.ErrUnavailable) },
		LinkURL:     s.cfg.LinkURL, BaseURL: s.cfg.BaseURL, Proxies: proxies, Log: s.cfg.Log, Observe: s.request, Inbox: s.cfg.Inbox,
		Console: s.cfg.Console, Example: s.example, Version: s.cfg.Version,
	}))
	if s.public = plant(s.public); s.cfg.Spans != nil && err == nil {
		s.public = s.cfg.Spans.Handler(s.public)
	}
	return err
}

// request observes a finished request.
func (s *Server) request(o api.Observation) {
	s.metrics.request(o)
	if s.cfg.Spans != nil {
		s.cfg.Spans.Request(o.Context, o.Route, o.Method, o.Status, o.Code)
	}
}

// example is a key and a door of the test place, so that trying the examples moves nothing real.
func (s *Server) example() api.Example {
	for _, p := range s.cfg.World.Places {
		key := p.MainKey()
		if p.Kind != world.Test || key.Secret == "" || len(p.Boards) == 0 || len(p.Boards[0].Doors) == 0 {
			continue
		}
		if revoked, err := s.KeyRevoked(key.ID); err != nil || revoked {
			continue
		}
		return api.Example{Key: key.Secret, PlaceID: p.ID, DoorID: p.Boards[0].Doors[0].ID, BoardID: p.Boards[0].ID, Now: s.cfg.Clock.Now()}
	}
	return api.Example{}
}

// Record starts or stops telling Config.History about commits. A recording starts with the content of every place.
func (s *Server) Record(on bool) error {
	if !on {
		return s.store.SetHistory(nil)
	}
	return s.store.SetHistory(s.cfg.History)
}

// Handler is the public API.
func (s *Server) Handler() http.Handler { return s.public }

// Away is the public API once the server has stopped: each request is answered 503.
func (s *Server) Away() http.Handler { return api.Away(s.public) }

// ServeMQTT accepts boards from a listener until Stop.
func (s *Server) ServeMQTT(l net.Listener) error { return s.gateway.Serve(l) }

// Metrics are the server's, for a page that may show others beside them.
func (s *Server) Metrics() prometheus.Gatherer { return s.metrics.registry }

// ControlToken is the control API's token unless another is given: the same at every start on the same data.
func (s *Server) ControlToken() string { return fmt.Sprintf("%x", s.secret.Of("control")[:24]) }

// ControlHooks are what the composition above adds to the control routes.
type ControlHooks struct {
	Ready        func() ([]any, error)
	Moved        func(now time.Time)
	WriteHistory func(w io.Writer, since int64) error
	Record       func(on bool) (history.Position, error)
	Timeline     func(placeID string, until *why.Line) (*why.Timeline, error) // the recording of a place
	Inbox        console.Inbox
}

// Control mounts the server's control routes; r is at /lab/v1.
func (s *Server) Control(r chi.Router, h ControlHooks) {
	c := plant(console.Config{Clock: s.cfg.Clock, Audits: s.store.Audits, Keys: s.auth, Places: s.places, Grants: s.grants, Entry: s.entry,
		Rotate: s.rotateBoard, Ready: h.Ready, Moved: h.Moved, WriteHistory: h.WriteHistory, Record: h.Record, Explain: s.explain(h), Inbox: h.Inbox, Disk: s.disk, SIP: s.sip})
	if s.cfg.CrashPoints {
		c.Crash = func(at string) error { return s.crash.arm(at, killProcess) }
	}
	c.Routes(r)
}

// SIP is the address of phone entry, "" when it is off.
func (s *Server) SIP() string {
	if s.sip == nil {
		return ""
	}
	return s.sip.Addr()
}

// Place is a place with the operator's settings. Error: fail.ErrNotFound for an unknown one.
func (s *Server) Place(id string) (place.Place, error) { return s.store.Place(id) }

// KeyRevoked reports whether a key is revoked. Error: fail.ErrNotFound for an unknown one.
func (s *Server) KeyRevoked(keyID string) (bool, error) {
	k, err := s.store.Key(keyID)
	return !k.RevokedAt.IsZero(), err
}

// Board is the server's view of a board.
func (s *Server) Board(boardID string) board.Status { return s.gateway.Status(boardID) }

// Behind is, for each connected board that lacks a change, how long it has been lacking it.
func (s *Server) Behind() map[string]time.Duration { return s.sync.Behind() }

// Holder is whom a grant of a place lets in: the phone and, of a permit, the entry token. Errors: not_found; the store's.
func (s *Server) Holder(placeID, grantID string) (phone, token string, err error) {
	return s.grants.Holder(placeID, grantID)
}

// Desired is the revision that a board should have reached.
func (s *Server) Desired(boardID string) int64 {
	rev, err := s.store.Revision(s.gateway.Status(boardID).PlaceID)
	if err != nil {
		return 0
	}
	return rev
}

// Answer answers all callers who are waiting for a door, and accepts no more commands.
func (s *Server) Answer() { s.device.Stop() }

// Hurry answers all callers who are waiting for the disk.
func (s *Server) Hurry() { s.store.Hurry() }

// Stop stops the services from the edges inwards. Whatever was answered is durable.
func (s *Server) Stop() error {
	var errs []error
	s.disk.Set(disk.OK, 0) // a laboratory's disk must not keep anybody from stopping
	s.unwatch()
	if s.sip != nil {
		errs = append(errs, s.sip.Stop())
	}
	if s.device != nil {
		s.device.Stop()
	}
	if s.sweeper != nil {
		s.sweeper.Stop()
	}
	if s.sync != nil {
		s.sync.Stop()
	}
	if s.gateway != nil {
		s.gateway.Stop()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}
