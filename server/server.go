// Package server is the API server put together: store, rules, gateway, sync,
// edges. Composition only: it holds no rule. internal/testbed starts it.
package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/control"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/sip"
	"github.com/doorlab/doorlab/server/store"
)

// ErrOtherWorld: the data directory was made from another world.
var ErrOtherWorld = store.ErrOtherWorld

// Config of a Server. DataDir, World, Clock and LinkURL are required.
type Config struct {
	DataDir        string
	World          *world.World
	Clock          clock.Clock
	Flight         *clock.Flight       // nil = nothing is counted
	History        func(history.Event) // nil = none
	LinkURL        string              // base of entry links
	TrustedProxies []string            // CIDR; whose X-Forwarded-For counts
	// Counted: whether a board of this process is at the other end, see gateway.Config.
	Counted     func(boardID string) bool
	SIP         string // address of phone entry over SIP; "" = off
	CrashPoints bool
	Log         *slog.Logger // nil = discard
}

// Server is a composed server. ServeMQTT and Handler may be used at once.
type Server struct {
	cfg     Config
	store   *store.Store
	auth    *auth.Service
	places  *place.Service
	grants  *grant.Service
	entry   *entry.Service
	device  *device.Service
	gateway *gateway.Gateway
	sync    *boardsync.Service
	public  http.Handler
	metrics *metrics
	crash   *crashPoints
	sip     *sip.Server
}

// New opens the data directory, seeds the world, settles what an earlier life
// left, and composes the services. Errors: ErrOtherWorld, store.ErrNewer, the
// file system's.
func New(cfg Config) (_ *Server, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, metrics: newMetrics()}
	defer func() {
		if err != nil {
			_ = s.Stop()
		}
	}()
	if cfg.CrashPoints {
		s.crash = &crashPoints{}
	}
	if cfg.History != nil {
		cfg.History(history.Event{Kind: history.Started, At: cfg.Clock.Now().UnixMilli(), Text: "server"})
	}
	if s.store, err = store.Open(cfg.DataDir, store.Options{Clock: cfg.Clock}); err != nil {
		return nil, err
	}
	if err := s.store.Seed(cfg.World); err != nil {
		return nil, err
	}
	if err := s.store.SetHistory(cfg.History); err != nil {
		return nil, err
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
	if cfg.SIP != "" {
		if s.sip, err = sip.Start(sip.Config{Addr: cfg.SIP, Caller: s.entry, Log: cfg.Log}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Server) rules() (err error) {
	s.auth, err = auth.New(auth.Config{Clock: s.cfg.Clock, Store: s.store, Pepper: s.store.Secret("api keys"), SigningKey: s.store.Secret("tokens")})
	if err != nil {
		return err
	}
	s.places = place.New(place.Config{Clock: s.cfg.Clock, Store: s.store})
	s.grants = grant.New(grant.Config{Clock: s.cfg.Clock, Store: s.store, Secret: s.store.Secret("entry links"),
		LinkURL: strings.TrimRight(s.cfg.LinkURL, "/"),
		Applied: func(boardID string) (int64, time.Time) {
			b := s.gateway.Status(boardID)
			return b.AppliedRevision, b.AppliedAt
		}})
	return nil
}

// prefixes reads the trusted proxies: CIDR or single addresses.
func prefixes(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q is neither an address nor a CIDR prefix", s)
		}
		out = append(out, p)
	}
	return out, nil
}

func (s *Server) edge() error {
	proxies, err := prefixes(s.cfg.TrustedProxies)
	if err != nil {
		return err
	}
	s.public, err = api.New(api.Config{
		Keys: s.auth, Directory: s.store, Places: s.places, Grants: s.grants, Entry: s.entry, Commands: s.device, Boards: s.gateway,
		Audit: s.store.AddAudit, Ready: s.store.Ping,
		Unavailable: func(err error) bool { return errors.Is(err, store.ErrUnavailable) },
		LinkURL:     s.cfg.LinkURL, Proxies: proxies, Log: s.cfg.Log, Observe: s.metrics.request,
	})
	return err
}

// Handler is the public API.
func (s *Server) Handler() http.Handler { return s.public }

// ServeMQTT accepts boards from a listener until Stop.
func (s *Server) ServeMQTT(l net.Listener) error { return s.gateway.Serve(l) }

// Metrics is the Prometheus page.
func (s *Server) Metrics() http.Handler { return s.metrics.handler() }

// ControlToken is the control API's token unless another is given: the same
// for every start on the same data.
func (s *Server) ControlToken() string { return fmt.Sprintf("%x", s.store.Secret("control")[:24]) }

// ControlHooks are what the composition above adds to the control routes.
type ControlHooks struct {
	Ready        func() any
	Moved        func(now time.Time)
	WriteHistory func(w io.Writer, since int64) error
}

// Control mounts the server's control routes; r is at /lab/v1.
func (s *Server) Control(r chi.Router, h ControlHooks) {
	c := control.Config{Clock: s.cfg.Clock, Keys: s.auth, Places: s.places, Grants: s.grants, Entry: s.entry,
		Ready: h.Ready, Moved: h.Moved, WriteHistory: h.WriteHistory}
	if s.crash != nil {
		c.Crash = s.crash.arm
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

// KeyRevoked reports whether a key is revoked.
func (s *Server) KeyRevoked(keyID string) (bool, error) {
	k, err := s.store.Key(keyID)
	return !k.RevokedAt.IsZero(), err
}

// Desired is the revision that a board should have applied.
func (s *Server) Desired(boardID string) int64 {
	rev, err := s.store.Revision(s.gateway.Status(boardID).PlaceID)
	if err != nil {
		return 0
	}
	return rev
}

// Stop ends everything in the order in which work flows; what was answered is durable.
func (s *Server) Stop() error {
	var errs []error
	if s.sip != nil {
		errs = append(errs, s.sip.Stop())
	}
	if s.device != nil {
		s.device.Stop()
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
