// Package boardsync brings every board to its place's content by revision: a
// change moves the place's desired revision, connected boards get the delta
// from what they have applied, acknowledge after they have persisted it, and
// are sent it again, or the whole, until they agree. Nothing relies on a
// broker's queue. It imports no SQL and no MQTT: composition (server) binds the
// store's content and the gateway's lines to it.
package boardsync

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
)

// Content is what there is to synchronize. server/store implements it.
type Content interface {
	// Revision is a place's current revision.
	Revision(placeID string) (int64, error)
	// SyncContent takes a board from a revision to the current one; from 0 is a snapshot.
	SyncContent(placeID string, from int64) (wire.Sync, error)
}

// Line is the way to the boards. server/gateway implements it.
type Line interface {
	// Push sends to the connection of an epoch without waiting; false when it is not live.
	Push(boardID string, epoch int64, payload []byte) bool
	// Applied notes what a board has applied.
	Applied(boardID string, revision int64, digest string, at time.Time)
	Status(boardID string) device.BoardStatus
}

// Defaults of Config. Coalesce is wall time, the others are domain time.
const (
	DefaultCoalesce  = 250 * time.Millisecond
	DefaultResend    = 5 * time.Second
	DefaultResendMax = time.Minute
)

// Config of a Service. Content and Line are required.
type Config struct {
	Content Content
	Line    Line
	Clock   clock.Clock         // nil = clock.Real
	Flight  *clock.Flight       // nil = nothing is counted
	History func(history.Event) // nil = none
	// Observe gets how long an applied change took: since its commit, or since
	// the board's hello when that was later [SYNC-1] [SYNC-2].
	Observe   func(sinceHello bool, took time.Duration)
	Coalesce  time.Duration // changes of a place within it go out together; 0 = the default
	Resend    time.Duration // first wait for an acknowledgement, doubled each time
	ResendMax time.Duration
	Log       *slog.Logger // nil = discard
}

// Service synchronizes boards. It implements gateway.Sync; Moved belongs to the store's commits.
type Service struct {
	cfg    Config
	tick   clock.Timer
	count  Counts
	closed atomic.Bool

	mu     sync.Mutex
	places map[string]*place
	boards map[string]*peer // connected ones
}

// Counts are what has been sent, for metrics.
type Counts struct{ Deltas, Snapshots, Resends, Repairs atomic.Int64 }

// New returns a service that is at work.
func New(cfg Config) *Service {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&cfg.Coalesce, DefaultCoalesce)
	def(&cfg.Resend, DefaultResend)
	def(&cfg.ResendMax, DefaultResendMax)
	if cfg.Clock == nil {
		cfg.Clock = clock.Real{}
	}
	if cfg.History == nil {
		cfg.History = func(history.Event) {}
	}
	if cfg.Observe == nil {
		cfg.Observe = func(bool, time.Duration) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{cfg: cfg, places: map[string]*place{}, boards: map[string]*peer{}}
	s.tick = cfg.Clock.Every(cfg.Resend, s.resend)
	return s
}

// Counts are the service's counters; read only.
func (s *Service) Counts() *Counts { return &s.count }

// Stop ends it; what is under way goes nowhere.
func (s *Service) Stop() {
	s.closed.Store(true)
	s.tick.Stop()
}

// Moved says that a place's revision was committed. It does not block.
func (s *Service) Moved(placeID string, rev int64) {
	p := s.place(placeID)
	p.moved(rev, s.cfg.Clock.Now())
	if s.closed.Load() || p.connected.Load() == 0 || !p.planned.CompareAndSwap(false, true) {
		return
	}
	done := s.cfg.Flight.Begin() // a jump waits until the change is on its way
	clock.WallAfter(s.cfg.Coalesce, func() {
		defer done()
		p.planned.Store(false) // before reading: a later change plans again
		p.mu.Lock()
		defer p.mu.Unlock()
		for b := range p.peers {
			if !b.waiting {
				s.push(b)
			}
		}
	})
}

func (s *Service) place(id string) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places[id]
	if p == nil {
		p = &place{id: id, peers: map[*peer]bool{}}
		s.places[id] = p
	}
	return p
}

// peer finds a connected board, nil when the epoch is not its own.
func (s *Service) peer(boardID string, epoch int64) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boards[boardID]
	if b == nil || b.epoch != epoch {
		return nil
	}
	return b
}

// Connected takes up a board that has said hello [OFF-4].
func (s *Service) Connected(c device.BoardConn) {
	p := s.place(c.PlaceID)
	if rev, err := s.cfg.Content.Revision(c.PlaceID); err == nil {
		p.atLeast(rev)
	} else {
		s.cfg.Log.Warn("revision", "place", c.PlaceID, "error", err)
	}
	b := &peer{id: c.BoardID, place: p, epoch: c.Epoch, applied: c.Revision, digest: c.Digest, hello: s.cfg.Clock.Now()}
	s.mu.Lock()
	old := s.boards[c.BoardID]
	s.boards[c.BoardID] = b
	s.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if old != nil {
		p.leave(old)
	}
	p.join(b)
	if s.cfg.Line.Status(b.id).AppliedRevision != c.Revision { // a wiped flash, or an acknowledgement that was lost
		s.cfg.Line.Applied(b.id, c.Revision, c.Digest, s.cfg.Clock.Now())
	}
	s.push(b)
}

// Gone lets a connection go.
func (s *Service) Gone(boardID string, epoch int64) {
	b := s.peer(boardID, epoch)
	if b == nil {
		return
	}
	s.mu.Lock()
	if s.boards[boardID] == b {
		delete(s.boards, boardID)
	}
	s.mu.Unlock()
	b.place.mu.Lock()
	b.place.leave(b)
	b.place.mu.Unlock()
}
