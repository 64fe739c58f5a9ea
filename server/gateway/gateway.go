// Package gateway is the boards' side of the server: an embedded MQTT 3.1.1 broker,
// the boards' connections and presence, commands out, reports in, synchronization
// and configuration both ways. It alone knows the MQTT library; any 3.1.1 broker
// could replace it. It declares the Store it needs and hands uplinks to the Reports
// (server/command) and Sync (server/boardsync) that the composition connects. It
// speaks docs/board-protocol.md.
package gateway

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/crew"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/record"
)

// Store keeps board states. server/store implements it.
type Store interface {
	BoardStates() ([]board.State, error)
	SaveBoardStates([]board.State) error
	NextLife() (int64, error)
}

// Records keeps the boards' on-site records and changes of their outage policies. record.Keeper implements it.
type Records interface {
	Upload(b board.State, list []wire.Record) (record.Uploaded, error)
	// Configured stores a board's state together with the records of the changes it confirmed.
	Configured(b board.State, changes []record.Change) error
}

// Reports handles the boards' reports. server/command implements it.
type Reports interface {
	Report(boardID string, r wire.Report, ack func(accepted bool)) (first bool)
	Running(commandID string) bool
}

// Sync is notified of connections and of what boards have applied, in order for
// each board. wrong names the field that can't be true, "" = none. server/boardsync implements it.
type Sync interface {
	Connected(c board.Hello)
	Acked(boardID string, epoch, revision int64, digest string) (wrong string)
	// Paged: the board has the first page pages of the change to a revision.
	Paged(boardID string, epoch, revision int64, page int) (wrong string)
	Digest(boardID string, epoch, revision int64, digest string) (equal bool, wrong string)
	Gone(boardID string, epoch int64)
}

// Config of a Gateway. Store and Records are required, the rest has defaults.
type Config struct {
	Store   Store
	Records Records
	Clock   clock.Clock         // nil = clock.Real
	Flight  *clock.Flight       // nil = nothing is counted
	History func(history.Event) // nil = none
	// Counted reports whether the other end of a board's line counts messages in
	// the same Flight: false for a real board or one of another process. nil = all do.
	Counted func(boardID string) bool
	// Watch sees every message to or from a board; nil = nobody watches. It is called inline and must copy what it
	// keeps.
	Watch  func(boardID string, down bool, channel string, payload []byte)
	Log    *slog.Logger // nil = discard
	Pepper []byte       // of the password hashes, as the store was seeded with

	Wait         time.Duration // for the answer to a configuration; 0 = command.DefaultWait
	NotAfter     time.Duration // 0 = command.DefaultNotAfter
	Handshake    time.Duration // until CONNECT must be there; 0 = 5 s
	WriteTimeout time.Duration // of one write to a board; 0 = 5 s
	SaveEvery    time.Duration // lazy writes are grouped for this long; 0 = 1 s
	Greet        int           // network connections whose CONNECT may be outstanding at one time; 0 = 2048
	Penalty      time.Duration // before a wrong password is refused; 0 = 1 s
}

// Gateway is the broker with everything around it.
type Gateway struct {
	cfg     Config
	mq      *mqtt.Server
	boards  map[string]*peer // never changes
	reports Reports
	sync    Sync
	life    int64
	epochs  atomic.Int64
	jumped  atomic.Int64 // domain ms of the last jump, which counts as contact with every live connection

	jumpedFrom atomic.Int64 // domain ms from which it jumped
	virtual    bool         // the clock can jump
	deafen     func()       // ends the subscription to jumps; nil on a clock without them
	count      Counts
	drops      drops
	unsaved    drops
	tick       clock.Timer

	mu        sync.Mutex
	stopping  bool
	listeners map[net.Listener]bool
	conns     map[*guard]bool
	dirty     map[*peer]bool
	saving    bool
	greeting  *greeting
	stop      chan struct{}
	handlers  sync.WaitGroup // connections
	workers   sync.WaitGroup // uplink workers, outboxes, the saver
	crew      *crew.Crew     // uplink workers and outboxes
}

// New loads the boards' states. The gateway works once Bind and Serve have been called. Errors: the store's.
func New(cfg Config) (*Gateway, error) {
	cfg.defaults()
	states, err := cfg.Store.BoardStates()
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g := &Gateway{cfg: cfg, boards: make(map[string]*peer, len(states)), greeting: newGreeting(cfg.Greet), stop: make(chan struct{}), crew: crew.New(),
		listeners: map[net.Listener]bool{}, conns: map[*guard]bool{}, dirty: map[*peer]bool{}}
	for _, st := range states {
		g.boards[st.BoardID] = newPeer(g, st)
	}
	if g.life, err = cfg.Store.NextLife(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if err := g.broker(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if v, ok := cfg.Clock.(interface {
		OnJump(func(from, to time.Time)) (stop func())
	}); ok {
		g.virtual = true
		g.deafen = v.OnJump(func(from, to time.Time) {
			g.jumpedFrom.Store(from.UnixMilli())
			g.jumped.Store(to.UnixMilli())
		})
	}
	g.tick = cfg.Clock.Every(seenEvery, g.saveSeen)
	return g, nil
}

func (c *Config) defaults() {
	c.Wait = cmp.Or(c.Wait, command.DefaultWait)
	c.NotAfter = cmp.Or(c.NotAfter, command.DefaultNotAfter)
	c.Handshake = cmp.Or(c.Handshake, 5*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 5*time.Second)
	c.SaveEvery = cmp.Or(c.SaveEvery, time.Second)
	c.Penalty = cmp.Or(c.Penalty, time.Second)
	c.Clock = cmp.Or[clock.Clock](c.Clock, clock.Real{})
	if c.History == nil {
		c.History = func(history.Event) {}
	}
	if c.Counted == nil {
		c.Counted = func(string) bool { return true }
	}
	if c.Watch == nil {
		c.Watch = func(string, bool, string, []byte) {}
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
}

// Bind sets who handles reports and acknowledgements. Call it before Serve.
func (g *Gateway) Bind(r Reports, s Sync) { g.reports, g.sync = r, s }

// Status is a board's status; zero for an unknown board. Its maps are shared: read only.
func (g *Gateway) Status(boardID string) board.Status {
	b := g.boards[boardID]
	if b == nil {
		return board.Status{}
	}
	return b.status()
}

func (g *Gateway) now() time.Time { return g.cfg.Clock.Now().Truncate(time.Millisecond) }

// tell appends to the history.
func (g *Gateway) tell(b *peer, e history.Event) {
	e.At, e.WallNs, e.BoardID, e.PlaceID = g.cfg.Clock.Now().UnixMilli(), clock.WallNow().UnixNano(), b.id, b.placeID
	g.cfg.History(e)
}
