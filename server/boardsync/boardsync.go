// Package boardsync brings every board to its place's content, revision by revision. A change raises the place's
// desired revision. Connected boards get the delta from the revision they have applied, persist it, and acknowledge it;
// the delta, or a snapshot, is sent again until they agree. Nothing relies on a broker's queue. Package server connects
// it to the store's content and the gateway's lines.
package boardsync

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// Content is what gets synchronized. server/store implements it.
type Content interface {
	// Revision is a place's current revision.
	Revision(placeID string) (int64, error)
	// SyncContent returns what takes a board from a revision to the current one; from 0 that is a snapshot.
	SyncContent(placeID string, from int64) (wire.Sync, error)
}

// Line is the way to the boards. server/gateway implements it.
type Line interface {
	// Push sends to the connection of an epoch without waiting; it returns false if that connection is not live.
	Push(boardID string, epoch int64, payload []byte) bool
	// Applied notes the revision that a board has; 0 if its content differs from the server's.
	Applied(boardID string, revision int64, digest string, at time.Time)
	Status(boardID string) board.Status
}

// sweepEvery is how often ended grants are taken out of the content; domain time.
const sweepEvery = time.Hour

// Defaults of Config. Coalesce is wall time, the others are domain time.
const (
	defaultCoalesce  = 250 * time.Millisecond
	defaultResend    = 5 * time.Second
	defaultResendMax = time.Minute
)

// Config of a Service. Content and Line are required.
type Config struct {
	Content Content
	Line    Line
	Clock   clock.Clock         // nil = clock.Real
	Flight  *clock.Flight       // nil = nothing is counted
	History func(history.Event) // nil = none
	// Observe gets how long a board took to apply a change, counted from its commit or, if that was later, from the
	// board's hello; see SYNC-1 and SYNC-2.
	Observe   func(sinceHello bool, took time.Duration)
	Coalesce  time.Duration // changes of a place within it go out together; 0 = the default
	Resend    time.Duration // first wait for an acknowledgement, doubled each time
	ResendMax time.Duration
	// Leave removes grants that ended long ago from the content, at most limit at a time; n is how many it removed. nil
	// = none are removed.
	Leave func(limit int) (n int, err error)
	Log   *slog.Logger // nil = discard
}

// Service synchronizes boards. It implements gateway.Sync; Moved belongs to the store's commits.
type Service struct {
	cfg    Config
	tick   clock.Timer
	retry  retry
	sweeps *clock.Chore
	count  Counts
	closed atomic.Bool
	warned atomic.Int64 // Mono of the last line about a failed look-up, 0 = none

	mu     sync.Mutex
	places map[string]*target
	boards map[string]*peer // connected ones
	paces  map[string]*pace // of boards that have ever been connected
}

// Counts are for metrics: what has been sent, failed look-ups of content, look-ups tried again, acknowledgements of
// revisions that were never sent, and repeats put off.
type Counts struct {
	Deltas, Snapshots, Resends, Repairs        atomic.Int64
	ReadFailures, Retries, Impossible, Delayed atomic.Int64
}

// New returns a running service.
func New(cfg Config) *Service {
	cfg.Coalesce = cmp.Or(cfg.Coalesce, defaultCoalesce)
	cfg.Resend = cmp.Or(cfg.Resend, defaultResend)
	cfg.ResendMax = cmp.Or(cfg.ResendMax, defaultResendMax)
	cfg.Clock = cmp.Or[clock.Clock](cfg.Clock, clock.Real{})
	if cfg.History == nil {
		cfg.History = func(history.Event) {}
	}
	if cfg.Observe == nil {
		cfg.Observe = func(bool, time.Duration) {}
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	s := &Service{cfg: cfg, places: map[string]*target{}, boards: map[string]*peer{}, paces: map[string]*pace{}}
	s.tick = cfg.Clock.Every(cfg.Resend, s.resend)
	s.sweeps = clock.NewChore(cfg.Clock, cfg.Flight, sweepEvery, s.sweep)
	return s
}

// Counts are the service's counters; read only.
func (s *Service) Counts() *Counts { return &s.count }

// Lag is how long the connected board furthest behind has been lacking a change (domain time, 0 if none is behind), and
// how many boards are behind.
func (s *Service) Lag() (longest time.Duration, behind int) {
	now := s.cfg.Clock.Now()
	for _, b := range s.connected() {
		b.place.mu.Lock()
		rev := b.place.revision()
		if b.applied != rev || !b.agreed {
			behind++
		}
		if b.applied != rev {
			since, _ := b.place.missing(b)
			longest = max(longest, now.Sub(since))
		}
		b.place.mu.Unlock()
	}
	return longest, behind
}

// Behind is, for each connected board that lacks a change, how long it has been lacking it (domain time).
func (s *Service) Behind() map[string]time.Duration {
	out, now := map[string]time.Duration{}, s.cfg.Clock.Now()
	for _, b := range s.connected() {
		b.place.mu.Lock()
		if b.applied != b.place.revision() {
			since, _ := b.place.missing(b)
			out[b.id] = now.Sub(since)
		}
		b.place.mu.Unlock()
	}
	return out
}

// Cached is how many bytes of encoded changes are kept for boards that wait.
func (s *Service) Cached() (n int) {
	for _, p := range s.everyPlace() {
		p.mu.Lock()
		n += p.bytes + p.snap.bytes
		p.mu.Unlock()
	}
	return n
}

func (s *Service) everyPlace() []*target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.places))
}

func (s *Service) connected() []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.boards))
}

// Stop stops the service; pending pushes are dropped.
func (s *Service) Stop() {
	s.mu.Lock()
	s.closed.Store(true)
	s.mu.Unlock()
	s.tick.Stop()
	s.retry.stop()
	s.sweeps.Stop()
}

// sweep removes what ended long ago from the content. Boards drop it before anything else happens after a jump.
func (s *Service) sweep(stopped func() bool) {
	for s.cfg.Leave != nil && !stopped() {
		n, err := s.cfg.Leave(sweepBatch) // small: commands commit in between
		if err != nil {
			s.cfg.Log.Warn("synchronization: ended grants stay in the content", "error", err)
		}
		if err != nil || n < sweepBatch {
			return
		}
	}
}

const sweepBatch = 200

// Moved tells the service that a place's revision was committed. It does not block.
func (s *Service) Moved(placeID string, rev int64) {
	p := s.place(placeID)
	p.moved(rev, s.cfg.Clock.Now())
	if s.closed.Load() || p.connected.Load() == 0 || !p.planned.CompareAndSwap(false, true) {
		return
	}
	s.collect(p, rev-1, rev-1, 1, s.cfg.Flight.Begin()) // a jump waits until the change is on its way
}

// A place that keeps changing is given more time, by default up to a second: each delta costs every board a message, a
// write to its flash and an acknowledgement, however little it contains. What accumulates stays far below maxBehind.
const (
	manyChanges = 16 // within Config.Coalesce
	enough      = maxBehind / 4
	mostWaits   = 4 // times Config.Coalesce
)

// collect pushes a place's changes since a revision once no more of them arrive or this is the last wait; seen is the
// latest known revision.
func (s *Service) collect(p *target, since, seen int64, wait int, done func()) {
	clock.WallAfter(s.cfg.Coalesce, func() {
		if rev := p.revision(); wait < mostWaits && rev-seen >= manyChanges && rev-since < enough && !s.closed.Load() {
			s.collect(p, since, rev, wait+1, done)
			return
		}
		defer done()
		p.planned.Store(false) // before reading: a later change plans again
		p.mu.Lock()
		defer p.mu.Unlock()
		for b := range p.peers {
			if !b.waiting {
				s.push(b) // [SYNC-1] [SYNC-2] to every connected board
			}
		}
	})
}

// Found tells the service which revision a place is at if it doesn't know yet: another process may have raised it.
func (s *Service) Found(placeID string, rev int64) {
	if s.place(placeID).revision() < rev {
		s.Moved(placeID, rev)
	}
}

func (s *Service) place(id string) *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return each.Made(s.places, id, func() *target { return &target{id: id, peers: map[*peer]bool{}} })
}

// peer finds a connected board; nil if the epoch is not its current one.
func (s *Service) peer(boardID string, epoch int64) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boards[boardID]
	if b == nil || b.epoch != epoch {
		return nil
	}
	return b
}

// Connected starts to synchronize a board that has said hello, see OFF-4.
func (s *Service) Connected(c board.Hello) {
	p := s.place(c.PlaceID)
	now := s.cfg.Clock.Now()
	b := &peer{id: c.BoardID, place: p, epoch: c.Epoch, applied: c.Revision, digest: c.Digest, partial: c.Partial, hello: now, unread: true}
	s.mu.Lock()
	old := s.boards[c.BoardID]
	s.boards[c.BoardID] = b
	if b.pace = s.paces[c.BoardID]; b.pace == nil {
		b.pace = &pace{}
		s.paces[c.BoardID] = b.pace
	}
	s.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if old != nil {
		p.leave(old)
	}
	p.join(b) // [OFF-4]
	s.push(b)
	s.note(b, now, false) // its flash was wiped, or an acknowledgement was lost
}

// Gone forgets a connection.
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
