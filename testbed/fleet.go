package testbed

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// FleetConfig is a fleet in a process of its own.
type FleetConfig struct {
	World        *world.World
	Version      string      // as in Config
	Broker       string      // host:port
	TLS          *tls.Config // for the broker, and for the server's control API; nil = MQTT in clear
	Client       string      // as in Config
	Slice        shard.Shard
	Control      string // "" = none
	ControlToken string // "" = a new one
	Server       string // control API of the server, which has the same token; "" = unknown until somebody tells (POST /server)
	SecretFile   string // shared with the server; "" = the passwords derive from the seed
	DataDir      string
	Virtual      bool
	Progress     func(online, boards int) // as in Config
	Log          *slog.Logger
}

// FleetReady describes a started fleet.
type FleetReady struct {
	Ready        bool   `json:"ready"`
	Boards       int    `json:"boards"`
	Control      string `json:"control,omitempty"`
	ControlToken string `json:"controlToken,omitempty"`
	Shard        string `json:"shard,omitempty"` // as in Ready
}

// Fleet is a running fleet with its control listener.
type Fleet struct {
	Ready   FleetReady
	fleet   *boardsim.Fleet
	control *http.Server
	routes  http.Handler // of the control API
	clk     clock.Clock
	memory  *lab
	started atomic.Bool // every board has been connected once
	failed  chan error
}

// StartFleet connects the boards and returns when all are connected. Errors:
// ErrOtherWorld, ErrInUse, a taken port, an unwritable directory, the context's.
func StartFleet(ctx context.Context, c FleetConfig) (_ *Fleet, err error) {
	f := &Fleet{failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			_ = f.Stop()
		}
	}()
	var ctl net.Listener
	if c.Control != "" { // before anything is written
		if ctl, err = net.Listen("tcp", c.Control); err != nil {
			return nil, taken("control", c.Control, err)
		}
		defer func() {
			if err != nil {
				_ = ctl.Close()
			}
		}()
	}
	if err := c.passwords(); err != nil {
		return nil, err
	}
	if f.memory, err = openLab(c.DataDir, fleetFile(c), c.World, 0); err != nil {
		return nil, err
	}
	flight := clock.NewFlight()
	f.clk = newClock(c.Virtual, f.memory.start(clock.WallNow()), flight)
	var spool *history.Spool
	var told func(history.Event) // without a control API nobody could read it
	if ctl != nil {
		spool = history.NewSpool(c.DataDir, wallNs)
		told = spool.Append
	}
	server := newPeer(c.World, c.TLS, flight)
	if c.Server != "" {
		server.know(c.Server, c.ControlToken)
	}
	f.fleet, err = boardsim.New(boardsim.Config{
		World: c.World, Kinds: []string{world.Live}, Slice: c.Slice, DataDir: c.DataDir, Seed: c.World.Seed,
		Dial: dialTCP(c.Broker, c.TLS), Client: c.Client,
		Clock: f.clk, Flight: flight, Apart: true, Synced: true, History: told, Log: c.Log, Desired: server.desired, Stale: server.isStale, Seat: server.seat,
		Addr: func() string { return c.scheme() + c.Broker },
	})
	if err != nil {
		return nil, err
	}
	if ctl != nil {
		f.startControl(ctl, c, spool, server)
	}
	if err := connect(ctx, f.fleet, c.Progress, 0); err != nil {
		return nil, err
	}
	f.Ready.Ready, f.Ready.Boards, f.Ready.Shard = true, f.fleet.Len(), partOf(c.World)
	f.started.Store(true)
	return f, nil
}

// passwords derives the boards' passwords as the server does.
func (c FleetConfig) passwords() error {
	shared, err := sharedSecret(c.SecretFile, false)
	if err != nil {
		return err
	}
	var root []byte // of the seed
	if shared != nil {
		root = shared.Of("world")
	}
	c.World.DeriveSecrets(root)
	return nil
}

// fleetFile is the lab file of one slice: several may share a data directory.
func fleetFile(c FleetConfig) string {
	if !c.Slice.Whole() {
		return fmt.Sprintf("fleet-%d-of-%d-lab.json", c.Slice.Index, c.Slice.Of)
	}
	return "fleet-lab.json"
}

func (f *Fleet) startControl(l net.Listener, c FleetConfig, spool *history.Spool, server *peer) {
	token := cmp.Or(c.ControlToken, newToken())
	f.Ready.Control, f.Ready.ControlToken = "http://"+l.Addr().String(), token
	mux := http.NewServeMux()
	mux.Handle("/metrics", metricsPage(ofProcess(c.Version), f.fleet.Metrics(), recordingMetrics(spool.Len, spool.Size)))
	mux.HandleFunc("/readyz", f.readyz)
	f.routes = control.Handler(token, func(r chi.Router) {
		openapi.Route(r, openapi.Fleet)
		control.ClockRoutes(r, f.clk, f.memory.remember)
		control.HistoryRoute(r, func(w io.Writer, since int64) error {
			if _, err := spool.Read(); err != nil {
				return err
			}
			return spool.WriteSince(w, since)
		}, func(on bool) (now history.Position, err error) {
			if on {
				_, err = spool.Start()
			} else {
				spool.Stop()
			}
			return spool.Position(), err
		})
		server.route(r)
		f.fleet.Routes(r.With(server.fresh))
	})
	mux.Handle("/", f.routes)
	f.control = listen.Server(listen.LoopbackHosts(l.Addr(), control.Exact(mux)))
	share := listen.Share(listen.Descriptors()).Control
	go f.serve(listen.NewCap(share, share/2).On(l))
}

// serve runs the control listener's loop; if it ends before Stop, the fleet has failed: nobody can steer it any more.
func (f *Fleet) serve(l net.Listener) {
	if err := listen.Serve(f.control, l); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		f.failed <- fmt.Errorf("the control API ended: %w", err)
	}
}

// Failed reports a control listener that died while running.
func (f *Fleet) Failed() <-chan error { return f.failed }

// readyz is 200 once every board has been connected, like the server's when it can serve: what 'doorlab wait' asks.
func (f *Fleet) readyz(w http.ResponseWriter, _ *http.Request) {
	if !f.started.Load() {
		w.Header().Set("Retry-After", "1")
		control.Fail(w, http.StatusServiceUnavailable, "unavailable", fmt.Sprintf("%d of %d boards are connected", f.fleet.Online(), f.fleet.Len()), nil)
		return
	}
	control.Data(w, map[string]string{"status": "ok"})
}

// Stop disconnects the boards and closes the listener.
func (f *Fleet) Stop() error {
	var errs []error
	if f.control != nil {
		errs = append(errs, f.control.Close())
	}
	if f.fleet != nil {
		errs = append(errs, f.fleet.Stop())
	}
	if f.memory != nil {
		if f.Ready.Ready {
			f.memory.remember(f.clk.Now())
		}
		errs = append(errs, f.memory.Close())
	}
	return errors.Join(errs...)
}

func newClock(virtual bool, start time.Time, flight *clock.Flight) clock.Clock {
	if virtual {
		return clock.NewVirtual(start, flight)
	}
	return clock.Real{}
}

func wallNs() int64 { return clock.WallNow().UnixNano() }

// dialTCP numbers its connections, so that their source addresses are spread. secure is nil for a broker without TLS.
func dialTCP(addr string, secure *tls.Config) func(context.Context, string) (net.Conn, error) {
	var n atomic.Int64
	return func(ctx context.Context, _ string) (net.Conn, error) {
		return link.Dial(ctx, addr, int(n.Add(1)), secure)
	}
}

func (c FleetConfig) scheme() string {
	if c.TLS == nil {
		return "tcp://"
	}
	return "mqtts://"
}

func newToken() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
