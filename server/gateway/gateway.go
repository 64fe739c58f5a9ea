// Package gateway is the boards' side of the server: an embedded MQTT 3.1.1
// broker, the boards' connections and presence, commands out, reports in, sync
// and configuration both ways. Only it knows the MQTT library; any 3.1.1 broker
// could replace it. It declares the Store it needs and hands uplinks to the
// Reports (server/device) and Sync (server/boardsync) that composition binds.
// Only the composition (server) imports it. docs/board-protocol.md is what it
// speaks.
package gateway

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
)

// BoardStatus is what the server knows of a board now.
type BoardStatus = device.BoardStatus

// Refused is the board's refusal of a configuration.
type Refused = device.RefusedError

// Errors of Send and SetNetloss.
var (
	ErrOffline  = device.ErrOffline
	ErrLost     = device.ErrLost
	ErrNoAnswer = device.ErrNoAnswer
	ErrNoBoard  = device.ErrNoBoard
)

// Store keeps what is known of boards. server/store implements it.
type Store interface {
	BoardStates() ([]device.BoardState, error)
	SaveBoardStates([]device.BoardState) error
	NextLife() (int64, error)
	InsertBoardRecords(b device.BoardState, recs []wire.Record) (fresh int, err error)
}

// Reports takes the boards' reports. server/device implements it.
type Reports interface {
	Report(boardID string, r wire.Report, ack func(accepted bool)) (first bool)
}

// Sync is told about connections and what boards have applied, in order for
// each board. server/boardsync implements it.
type Sync interface {
	Connected(c device.BoardConn)
	Acked(boardID string, epoch, revision int64, digest string)
	Digest(boardID string, epoch, revision int64, digest string) (equal bool)
	Gone(boardID string, epoch int64)
}

// Config of a Gateway. Store is required, the rest has defaults.
type Config struct {
	Store   Store
	Clock   clock.Clock         // nil = clock.Real
	Flight  *clock.Flight       // nil = nothing is counted
	History func(history.Event) // nil = none
	// Counted tells whether the other end of a board's line counts messages in
	// the same Flight: false for a real board or one of another process. nil = all do.
	Counted func(boardID string) bool
	Log     *slog.Logger // nil = discard

	Wait         time.Duration // for the answer to a configuration; 0 = device.DefaultWait
	NotAfter     time.Duration // 0 = device.DefaultNotAfter
	Handshake    time.Duration // until CONNECT must be there; 0 = 5 s
	WriteTimeout time.Duration // of one write to a board; 0 = 5 s
	SaveEvery    time.Duration // lazy writes are grouped for this long; 0 = 1 s
}

// Gateway is the broker with everything around it.
type Gateway struct {
	cfg     Config
	mq      *mqtt.Server
	boards  map[string]*board // never changes
	reports Reports
	sync    Sync
	life    int64
	epochs  atomic.Int64
	jumped  atomic.Int64 // domain ms of the last jump: contact for every live connection
	count   counters
	tick    clock.Timer

	mu        sync.Mutex
	stopping  bool
	listeners map[net.Listener]bool
	conns     map[*guard]bool
	dirty     map[*board]bool
	saving    bool
	stop      chan struct{}
	handlers  sync.WaitGroup // connections
	workers   sync.WaitGroup // uplink workers, outboxes, the saver
}

// New loads what is known of the boards. Bind and Serve make it work. Errors: the store's.
func New(cfg Config) (*Gateway, error) {
	cfg.defaults()
	states, err := cfg.Store.BoardStates()
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g := &Gateway{cfg: cfg, boards: make(map[string]*board, len(states)), stop: make(chan struct{}),
		listeners: map[net.Listener]bool{}, conns: map[*guard]bool{}, dirty: map[*board]bool{}}
	for _, st := range states {
		g.boards[st.BoardID] = newBoard(g, st)
	}
	if g.life, err = cfg.Store.NextLife(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if err := g.broker(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if v, ok := cfg.Clock.(interface {
		OnJump(func(from, to time.Time))
	}); ok {
		v.OnJump(func(_, to time.Time) { g.jumped.Store(to.UnixMilli()) })
	}
	g.tick = cfg.Clock.Every(seenEvery, g.saveSeen)
	return g, nil
}

func (c *Config) defaults() {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.Wait, device.DefaultWait)
	def(&c.NotAfter, device.DefaultNotAfter)
	def(&c.Handshake, 5*time.Second)
	def(&c.WriteTimeout, 5*time.Second)
	def(&c.SaveEvery, time.Second)
	if c.Clock == nil {
		c.Clock = clock.Real{}
	}
	if c.History == nil {
		c.History = func(history.Event) {}
	}
	if c.Counted == nil {
		c.Counted = func(string) bool { return true }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Bind names who takes reports and acknowledgements. Before Serve.
func (g *Gateway) Bind(r Reports, s Sync) { g.reports, g.sync = r, s }

// Status is what is known of a board; the zero BoardStatus for an unknown one.
// Its maps are shared: read only.
func (g *Gateway) Status(boardID string) BoardStatus {
	b := g.boards[boardID]
	if b == nil {
		return BoardStatus{}
	}
	return b.status()
}

func (g *Gateway) now() time.Time { return g.cfg.Clock.Now().Truncate(time.Millisecond) }

// tell appends to the history.
func (g *Gateway) tell(b *board, e history.Event) {
	e.At, e.WallNs, e.BoardID, e.PlaceID = g.cfg.Clock.Now().UnixMilli(), clock.WallNow().UnixNano(), b.id, b.placeID
	g.cfg.History(e)
}
