package testbed

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/world"
)

// FleetConfig is a fleet in a process of its own.
type FleetConfig struct {
	World          *world.World
	Broker         string // host:port
	SliceI, SliceN int
	Control        string // "" = none
	ControlToken   string // "" = a new one
	DataDir        string
	Virtual        bool
	Log            *slog.Logger
}

// FleetReady is what a started fleet says of itself.
type FleetReady struct {
	Ready        bool   `json:"ready"`
	Boards       int    `json:"boards"`
	Control      string `json:"control,omitempty"`
	ControlToken string `json:"controlToken,omitempty"`
}

// Fleet is a running fleet with its control listener.
type Fleet struct {
	Ready   FleetReady
	fleet   *boardsim.Fleet
	control *http.Server
}

// StartFleet connects the boards and returns when all are connected.
func StartFleet(ctx context.Context, c FleetConfig) (*Fleet, error) {
	flight := clock.NewFlight()
	clk := newClock(c.Virtual, clock.WallNow(), flight)
	log := history.NewLog(wallNs)
	fleet, err := boardsim.New(boardsim.Config{
		World: c.World, Kinds: []string{world.Live}, SliceI: c.SliceI, SliceN: c.SliceN, DataDir: c.DataDir, Seed: c.World.Seed,
		Dial:  dialTCP(c.Broker),
		Clock: clk, Flight: flight, History: log.Append, Log: c.Log,
		Addr: func() string { return "tcp://" + c.Broker },
	})
	if err != nil {
		return nil, err
	}
	f := &Fleet{fleet: fleet, Ready: FleetReady{Ready: true, Boards: fleet.Len()}}
	if c.Control != "" {
		l, err := net.Listen("tcp", c.Control)
		if err != nil {
			return nil, err
		}
		token := c.ControlToken
		if token == "" {
			token = newToken()
		}
		f.Ready.Control, f.Ready.ControlToken = "http://"+l.Addr().String(), token
		f.control = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: controlapi.Handler(token, func(r chi.Router) {
			controlapi.ClockRoutes(r, clk, nil)
			controlapi.HistoryRoute(r, log.WriteSince)
			fleet.Routes(r)
		})}
		go func() { _ = f.control.Serve(l) }()
	}
	if err := fleet.Start(ctx); err != nil {
		_ = f.Stop()
		return nil, err
	}
	return f, nil
}

// Stop disconnects the boards and closes the listener.
func (f *Fleet) Stop() error {
	if f.control != nil {
		_ = f.control.Close()
	}
	return f.fleet.Stop()
}

func newClock(virtual bool, start time.Time, flight *clock.Flight) clock.Clock {
	if virtual {
		return clock.NewVirtual(start, flight)
	}
	return clock.Real{}
}

func wallNs() int64 { return clock.WallNow().UnixNano() }

// dialTCP numbers its connections, so that their source addresses spread.
func dialTCP(addr string) func(context.Context, string) (net.Conn, error) {
	var n atomic.Int64
	return func(ctx context.Context, _ string) (net.Conn, error) { return link.DialTCP(ctx, addr, int(n.Add(1))) }
}

func newToken() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
