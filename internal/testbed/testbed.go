package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server"
)

// Testbed is a running world.
type Testbed struct {
	Ready   Ready
	History *history.Log

	cfg    Config
	clk    clock.Clock
	flight *clock.Flight
	memory *lab
	life   atomic.Pointer[life] // of the server; nil while it restarts
	fleet  *boardsim.Fleet
	boards atomic.Pointer[boardsim.Fleet] // fleet, once it is there
	public *http.Server
	ctl    *http.Server
	close  []func() error // in this order
	failed chan error

	restart sync.Mutex
}

// Bounds of the public listener: a command is answered after at most 8 s.
const (
	headerTimeout = 5 * time.Second
	writeTimeout  = 15 * time.Second
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 3 * time.Second
)

// Start brings the world up and returns when every board is connected. Errors:
// ErrOtherWorld, ErrInUse, a taken port, an unwritable directory, a newer database.
func Start(ctx context.Context, c Config) (_ *Testbed, err error) {
	t := &Testbed{cfg: c, failed: make(chan error, 4), flight: clock.NewFlight(), History: history.NewLog(wallNs)}
	defer func() {
		if err != nil {
			_ = t.Stop()
		}
	}()
	public, mqtt, ctl, err := t.listenAll(c) // before anything is written
	if err != nil {
		return nil, err
	}
	if t.memory, err = openLab(c.DataDir, labFile, c.World.Seed, c.FileSeed); err != nil {
		return nil, err
	}
	start := c.Start
	if start.IsZero() {
		start = clock.WallNow()
	}
	t.clk = newClock(c.Virtual, t.memory.start(start), t.flight)

	t.Ready.HTTP, t.Ready.MQTT = "http://"+public.Addr().String(), "tcp://"+mqtt.Addr().String()
	if err := t.begin(mqtt, c.SIP); err != nil {
		return nil, err
	}
	t.Ready.SIP = t.life.Load().server.SIP()
	if err := t.startFleet(ctx, mqtt.Addr().String()); err != nil {
		return nil, err
	}
	t.public = &http.Server{Handler: t.afterJump(t.now(func(l *life) http.Handler { return l.public })),
		ReadHeaderTimeout: headerTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout}
	t.serve("the API", func() error { return t.public.Serve(public) })
	if ctl != nil {
		t.startControl(c, ctl)
	}
	t.Ready.Ready = true
	t.Ready.Places, err = t.places()
	return t, err
}

func (t *Testbed) startFleet(ctx context.Context, broker string) (err error) {
	dial := dialTCP(broker)
	if t.cfg.Link != TCP {
		dial = t.dialMemory
	}
	kinds := []string{world.Test}
	if t.cfg.Fleet {
		kinds = append(kinds, world.Live)
	}
	t.fleet, err = boardsim.New(boardsim.Config{
		World: t.cfg.World, Kinds: kinds, Dial: dial, Clock: t.clk, Flight: t.flight, Synced: true, History: t.History.Append,
		DataDir: filepath.Join(t.cfg.DataDir, "boards"), Seed: t.cfg.World.Seed, Desired: t.desired,
		Addr: func() string { return t.Ready.MQTT }, Log: t.cfg.Log,
	})
	if err != nil {
		return err
	}
	t.boards.Store(t.fleet) // before the first board connects
	return connect(ctx, t.fleet, t.cfg.Progress)
}

func (t *Testbed) startControl(c Config, l net.Listener) {
	token := c.ControlToken
	if token == "" {
		token = t.life.Load().server.ControlToken()
	}
	t.Ready.Control, t.Ready.ControlToken = "http://"+l.Addr().String(), token
	t.life.Load().mountControl(t, token)
	mux := http.NewServeMux()
	mux.Handle("/metrics", t.now(func(l *life) http.Handler { return l.server.Metrics() }))
	lab := t.now(func(l *life) http.Handler { return l.control })
	mux.Handle("/", lab)
	mux.Handle(controlapi.Prefix+"/people/", t.afterJump(lab))
	t.ctl = &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout}
	t.serve("the control API", func() error { return t.ctl.Serve(l) })
}

func (t *Testbed) controlHooks() server.ControlHooks {
	return server.ControlHooks{
		Ready:        func() any { p, _ := t.places(); return p },
		Moved:        t.memory.remember,
		WriteHistory: t.History.WriteSince,
	}
}

// places lists the places with their keys, as the ready line does.
func (t *Testbed) places() ([]ReadyPlace, error) {
	l := t.life.Load()
	if l == nil {
		return nil, errRestarting
	}
	out := make([]ReadyPlace, 0, len(t.cfg.World.Places))
	for _, p := range t.cfg.World.Places {
		row := ReadyPlace{PlaceID: p.ID, Name: p.Name, Kind: p.Kind, EntryPhone: p.EntryPhone}
		key := p.MainKey()
		revoked, err := l.server.KeyRevoked(key.ID)
		if err != nil {
			return nil, err
		}
		if !revoked {
			row.APIKey = &key.Secret
		}
		out = append(out, row)
	}
	return out, nil
}

// serve runs a listener's loop; its end before Stop is a failure of the testbed.
func (t *Testbed) serve(what string, f func() error) {
	go func() {
		if err := f(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			select {
			case t.failed <- fmt.Errorf("%s ended: %w", what, err):
			default:
			}
		}
	}()
}

func (t *Testbed) onStop(f func() error) { t.close = append(t.close, f) }

// Failed says when a listener died under way.
func (t *Testbed) Failed() <-chan error { return t.failed }

// Boards is how many boards are simulated.
func (t *Testbed) Boards() int { return t.fleet.Len() }

// Stop ends it within seconds; nothing that was answered is lost.
func (t *Testbed) Stop() error {
	var errs []error
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	for _, s := range []*http.Server{t.ctl, t.public} {
		if s != nil {
			if err := s.Shutdown(ctx); err != nil { // commands still waiting for a board: their key answers later
				_ = s.Close()
			}
		}
	}
	if t.fleet != nil {
		errs = append(errs, t.fleet.Stop())
	}
	t.restart.Lock() // one that is under way comes back first
	defer t.restart.Unlock()
	if l := t.life.Swap(nil); l != nil {
		errs = append(errs, l.server.Stop())
	}
	for _, f := range t.close {
		errs = append(errs, f())
	}
	if t.memory != nil {
		if t.Ready.Ready { // a start that failed changes nothing
			t.memory.remember(t.clk.Now())
		}
		errs = append(errs, t.memory.Close())
	}
	return errors.Join(errs...)
}

// Example is a place to try things at: its boards are simulated and its key works; false without one.
func (t *Testbed) Example() (place ReadyPlace, doorID string, ok bool) {
	for i, p := range t.cfg.World.Places {
		if !t.cfg.Fleet && p.Kind != world.Test || t.Ready.Places[i].APIKey == nil || len(p.Boards) == 0 || len(p.Boards[0].Doors) == 0 {
			continue
		}
		return t.Ready.Places[i], p.Boards[0].Doors[0].ID, true
	}
	return ReadyPlace{}, "", false
}

// ExampleLink registers a permit for a week at a place and returns its entry link.
func (t *Testbed) ExampleLink(ctx context.Context, apiKey string) (string, error) {
	c := client.Client{Base: t.Ready.HTTP}
	token, _, err := c.Exchange(ctx, apiKey)
	if err != nil {
		return "", err
	}
	c.Token = token
	now := t.clk.Now()
	var out struct {
		URL string `json:"url"`
	}
	err = c.Do(ctx, http.MethodPost, "/space/v1/partner/entry-permits", map[string]string{
		"externalRef": "doorlab-example", "phone": "01012345678", "name": "Example",
		"startsAt": now.Add(-time.Hour).Format(time.RFC3339), "endsAt": now.Add(7 * 24 * time.Hour).Format(time.RFC3339),
	}, &out)
	return out.URL, err
}
