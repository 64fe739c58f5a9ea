package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server"
	"github.com/doorlab/doorlab/server/spans"
	"github.com/doorlab/doorlab/testbed/console"
)

// Testbed is a running world.
type Testbed struct {
	Ready   Ready
	History *history.Log // empty with Config.OnDemand or Config.Tell

	feed       *console.Feed  // with a control API
	consoleURL string         // ... its address
	spool      *history.Spool // with Config.OnDemand and a control API

	cfg    Config
	clk    clock.Clock
	flight *clock.Flight
	memory *lab
	life   atomic.Pointer[life]          // of the server; nil while it restarts
	away   atomic.Pointer[server.Server] // the last one, for callers during a restart
	fleet  *boardsim.Fleet
	boards atomic.Pointer[boardsim.Fleet] // fleet, once it exists
	public *http.Server
	ctl    *http.Server
	caps   caps
	beside beside
	spans  *spans.Tracer // with Config.OTLP
	inbox  *inbox.Recorder
	certs  shown
	close  []func() error // called in this order
	failed chan error

	restart  sync.Mutex
	lives    atomic.Int64
	stopping context.Context // over once Stop was called
	stop     context.CancelFunc

	detached []string // boards that real ones replaced when it started

	givenUp struct { // boards of other processes for which settle no longer waits
		sync.Mutex
		revision map[string]int64 // that they lack
	}
}

// Start brings the world up and returns when every board is connected. Errors:
// ErrOtherWorld, ErrInUse, a taken port, an unwritable directory, a newer database.
func Start(ctx context.Context, c Config) (_ *Testbed, err error) {
	t := &Testbed{cfg: c, failed: make(chan error, 4), flight: clock.NewFlight(), History: history.NewLog(wallNs)}
	t.stopping, t.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			_ = t.Stop()
		}
	}()
	if t.caps, err = newCaps(c); err != nil {
		return nil, err
	}
	if err := mayListen(c); err != nil {
		return nil, err
	}
	if err := t.openSpans(ctx, c.OTLP); err != nil {
		return nil, err
	}
	public, mqtt, ctl, err := t.listenAll(c) // before anything is written
	if err != nil {
		return nil, err
	}
	if err := t.listenBeside(c); err != nil {
		return nil, err
	}
	if err := t.prepare(c); err != nil {
		return nil, err
	}
	if c.OnDemand && ctl != nil {
		t.spool = history.NewSpool(c.DataDir, wallNs)
	} else if c.Long {
		t.History = history.NewLongLog(c.DataDir, wallNs)
		t.onStop(t.History.Close)
	}
	start := c.Start
	if start.IsZero() {
		start = clock.WallNow()
	}
	t.clk = newClock(c.Virtual, t.memory.start(start), t.flight)
	if ctl != nil {
		t.feed = console.NewFeed(t.clk)
		t.consoleURL = scheme(t.ofControl(ctl), "https://", "http://") + ctl.Addr().String()
	}

	t.inbox = inbox.New(inbox.Config{Live: ctl != nil, Now: t.clk.Now})
	t.onStop(func() error { t.inbox.Close(); return nil })
	t.Ready.HTTP = t.httpURL(public.Addr())
	t.Ready.MQTT = scheme(t.certs.mqtt, "mqtts://", "tcp://") + mqtt.Addr().String()
	if err := t.begin(mqtt, c.SIP); err != nil {
		return nil, err
	}
	t.lives.Add(1)
	t.Ready.SIP = t.life.Load().server.SIP()
	if err := t.startFleet(ctx, mqtt.Addr().String()); err != nil {
		return nil, err
	}
	t.public = listen.Server(t.caps.counting(t.api()))
	t.serve("the API", func() error { return listen.Serve(t.public, t.certs.http.Listen(public)) })
	if ctl != nil {
		if err := t.startControl(c, ctl); err != nil {
			return nil, err
		}
	}
	t.serveBeside()
	if t.Ready.Places, err = t.places(); err != nil {
		return nil, err
	}
	t.Ready.Ready, t.Ready.Shard = true, partOf(c.World)
	if c.Recorded && t.spool != nil {
		if _, err := t.record(true); err != nil {
			return nil, err
		}
	}
	return t, ofDir(c.DataDir, t.memory.complete())
}

func (t *Testbed) startControl(c Config, l net.Listener) error {
	token := cmp.Or(c.ControlToken, t.life.Load().server.ControlToken())
	secured := t.ofControl(l)
	t.Ready.Control, t.Ready.ControlToken = t.consoleURL, token
	t.life.Load().mountControl(t, token)
	mux := http.NewServeMux()
	mux.Handle("/metrics", t.metricsPage())
	lab, public := t.laboratory(), t.api()
	pages, err := t.newConsole(token, lab, public)
	if err != nil {
		return err
	}
	mux.Handle("/", pages)
	t.ctl = listen.Server(listen.LoopbackHosts(l.Addr(), control.Exact(mux)))
	t.ctl.RegisterOnShutdown(pages.Stop)
	t.serve("the control API", func() error { return listen.Serve(t.ctl, secured.Listen(l)) })
	return nil
}

// laboratory is the control API of the current life of the server.
func (t *Testbed) laboratory() http.Handler {
	lab := t.now(func(l *life) http.Handler { return l.control })
	mux := http.NewServeMux()
	mux.Handle("/", lab)
	mux.Handle(control.Prefix+"/people/", t.afterJump(lab))
	return mux
}

func (t *Testbed) controlHooks() server.ControlHooks {
	return server.ControlHooks{
		Ready:        func() ([]any, error) { return anys(t.places()) },
		Moved:        t.memory.remember,
		WriteHistory: t.writeHistory,
		Record:       t.record,
		Timeline:     t.timeline,
		Inbox:        t.inboxHooks(),
	}
}

// anys is a list for a reader that doesn't know its type.
func anys[T any](list []T, err error) ([]any, error) {
	out := make([]any, 0, len(list))
	for _, v := range list {
		out = append(out, v)
	}
	return out, err
}

// places lists the places with their keys, as the ready line does, as the database has them: what the control API
// changed is no longer the world file's.
func (t *Testbed) places() ([]client.Place, error) {
	l := t.life.Load()
	if l == nil {
		return nil, errRestarting
	}
	out := make([]client.Place, 0, len(t.cfg.World.Places))
	for _, p := range t.cfg.World.Places {
		now, err := l.server.Place(p.ID)
		if err != nil {
			return nil, err
		}
		row := client.Place{PlaceID: p.ID, Name: now.Name, Kind: now.Kind, EntryPhone: now.EntryPhone}
		main := p.MainKey()
		for _, key := range p.Keys {
			revoked, err := l.server.KeyRevoked(key.ID)
			switch {
			case err != nil:
				return nil, err
			case revoked:
			case key.ID == main.ID:
				row.APIKey = &main.Secret
			default:
				row.OtherKeys = append(row.OtherKeys, client.Key{KeyID: key.ID, Name: key.Name, Scopes: key.Scopes, APIKey: key.Secret})
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// serve runs a listener's loop; if it ends before Stop, the testbed has failed.
func (t *Testbed) serve(what string, f func() error) {
	go func() {
		if err := f(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.fail(fmt.Errorf("%s ended: %w", what, err))
		}
	}()
}

func (t *Testbed) onStop(f func() error) { t.close = append(t.close, f) }

// Failed reports a listener that died while running, or a server that did not come back after a restart.
func (t *Testbed) Failed() <-chan error { return t.failed }

// Boards is the number of simulated boards.
func (t *Testbed) Boards() int { return t.fleet.Len() }

// TestBoards is how many of them are test places'.
func (t *Testbed) TestBoards() int { return t.cfg.World.TestBoards() }

// Example is a place to try things out: its boards are simulated and its key works; ok is false if there is none.
func (t *Testbed) Example() (place client.Place, doorID string, ok bool) {
	for i, p := range t.cfg.World.Places {
		if !t.cfg.Fleet && p.Kind != world.Test || t.Ready.Places[i].APIKey == nil || len(p.Boards) == 0 || len(p.Boards[0].Doors) == 0 {
			continue
		}
		return t.Ready.Places[i], p.Boards[0].Doors[0].ID, true
	}
	return client.Place{}, "", false
}

// ExampleLink registers a permit for a week at a place and returns its entry link. Its phone is in no page of the docs, so
// that nobody's own permit is overlooked beside it.
func (t *Testbed) ExampleLink(ctx context.Context, apiKey string) (string, error) {
	c := client.Client{Base: t.Ready.HTTP, HTTP: client.Trusting(t.certs.http.Own())}
	token, placeID, err := c.Exchange(ctx, apiKey)
	if err != nil {
		return "", err
	}
	c.Token = token
	now := t.clk.Now()
	var out struct {
		URL string `json:"url"`
	}
	err = c.Do(ctx, http.MethodPost, "/space/v1/partner/entry-permits", map[string]string{
		"externalRef": "doorlab-example", "phone": "01000000000", "name": "Example",
		"startsAt": now.Add(-time.Hour).Format(time.RFC3339), "endsAt": now.Add(7 * 24 * time.Hour).Format(time.RFC3339),
	}, &out)
	t.inbox.Clear(placeID) // the inbox should begin with the partner's own first request
	return out.URL, err
}

// fail reports that something has died; the first report counts.
func (t *Testbed) fail(err error) {
	select {
	case t.failed <- err:
	default:
	}
}
