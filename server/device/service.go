package device

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
)

// Sender sends a command to a board's live connection, at most once, and fills
// in epoch and sequence. ErrOffline: nothing was sent.
type Sender interface {
	Send(ctx context.Context, boardID string, c wire.Command) error
}

// Config of a Service. Ledger and Sender are required, the rest has defaults.
type Config struct {
	Ledger   Ledger
	Sender   Sender
	Clock    clock.Clock         // nil = clock.Real
	Flight   *clock.Flight       // nil = nothing is counted
	Wait     time.Duration       // 0 = DefaultWait
	NotAfter time.Duration       // 0 = DefaultNotAfter
	InFlight int                 // 0 = DefaultInFlight
	History  func(history.Event) // nil = none
	// Step is called at the crash points after-claim, before-publish,
	// after-publish, before-commit, after-commit and before-answer; nil = none.
	Step func(name string)
	// Observe is told the phases of every finished command; nil = none.
	Observe func(Phases)
}

// Phases are the moments of a command on the monotonic clock (0 = not reached).
type Phases struct {
	Outcome                                           string
	Accepted, Committed, Published, Reported, Settled time.Duration
}

// Service executes commands. One per server.
type Service struct {
	cfg   Config
	count counters
	tick  clock.Timer
	stop  chan struct{}
	runs  sync.WaitGroup
	doors sync.Map // door id -> Door: where a door hangs never changes

	mu       sync.Mutex
	stopped  bool
	running  int
	byKey    map[keyID]*call
	byID     map[string]*call
	planted  map[keyID]*call // finished calls, for the plants only
	cleaning bool
}

type keyID struct{ placeID, key string }

// New returns a service. Call Recover before boards can connect.
func New(cfg Config) *Service {
	if cfg.Clock == nil {
		cfg.Clock = clock.Real{}
	}
	if cfg.Wait == 0 {
		cfg.Wait = DefaultWait
	}
	if cfg.NotAfter == 0 {
		cfg.NotAfter = DefaultNotAfter
	}
	if cfg.InFlight == 0 {
		cfg.InFlight = DefaultInFlight
	}
	if cfg.History == nil {
		cfg.History = func(history.Event) {}
	}
	if cfg.Step == nil {
		cfg.Step = func(string) {}
	}
	s := &Service{cfg: cfg, stop: make(chan struct{}),
		byKey: map[keyID]*call{}, byID: map[string]*call{}, planted: map[keyID]*call{}}
	s.tick = cfg.Clock.Every(time.Hour, s.clean)
	return s
}

// Execute carries a command out and returns when its answer is durable. The
// caller's context ends only the waiting, never the command. Errors: ErrReused,
// ErrTooMany, ErrNoDoor, ErrStopped, the context's, the ledger's.
func (s *Service) Execute(ctx context.Context, r Request) (Answer, error) {
	door, err := s.door(r.PlaceID, r.DoorID)
	if err != nil {
		return Answer{}, err
	}
	if r.Command != wire.CmdHold {
		r.Minutes = 0
	}
	for {
		c, mine, err := s.enter(r, door)
		if err != nil {
			return Answer{}, err
		}
		if !mine && c.meaning != meaning(r) {
			if again, err := c.conflict(ctx, r); !again {
				return Answer{}, err
			}
			continue
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return Answer{}, ctx.Err() // the command goes on
		}
		if c.err != nil {
			return Answer{}, c.err
		}
		ans := c.ans
		if !mine { // joined [CMD-5]
			s.count.joined.Add(1)
			ans.Replayed = true
			_ = s.cfg.Ledger.CountReplay(ans.Result.CommandID) // the answer stands, counted or not
		}
		return ans, nil
	}
}

// meaning is what a request asks for: two requests under one key must agree on it.
func meaning(r Request) string {
	return r.DoorID + "\n" + r.Command + "\n" + strconv.Itoa(r.Minutes) + "\n" + r.Reason
}

// enter finds the running call of the request's key, or starts one.
func (s *Service) enter(r Request, door Door) (c *call, mine bool, err error) {
	k := keyID{r.PlaceID, r.Key}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.byKey[k]; c != nil && r.Key != "" {
		return c, false, nil
	}
	if s.stopped {
		return nil, false, ErrStopped
	}
	if s.running >= s.cfg.InFlight {
		s.count.tooMany.Add(1)
		return nil, false, ErrTooMany
	}
	s.running++
	s.count.started.Add(1)
	c = newCall(s, r, door)
	if r.Key != "" {
		s.byKey[k] = c
	}
	s.byID[c.in.CommandID] = c
	s.runs.Add(1)
	go c.run()
	return c, true, nil
}

// forget takes a call out of the maps: from now on the ledger answers for it.
func (s *Service) forget(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := (keyID{c.req.PlaceID, c.req.Key}); s.byKey[k] == c {
		delete(s.byKey, k)
	}
	delete(s.byID, c.in.CommandID)
}

func (s *Service) leave(c *call) {
	s.forget(c)
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
	s.runs.Done()
}

func (s *Service) door(placeID, doorID string) (Door, error) {
	v, ok := s.doors.Load(doorID)
	if !ok {
		d, err := s.cfg.Ledger.Door(doorID)
		if err != nil {
			return Door{}, err
		}
		v, _ = s.doors.LoadOrStore(doorID, d)
	}
	if d := v.(Door); d.PlaceID == placeID { // [AUTH-4]
		return d, nil
	}
	return Door{}, ErrNoDoor
}

func (s *Service) now() time.Time { return s.cfg.Clock.Now().Truncate(time.Millisecond) }

// clean drops what is older than the retention. Housekeeping: one at a time.
func (s *Service) clean() {
	s.mu.Lock()
	if s.stopped || s.cleaning {
		s.mu.Unlock()
		return
	}
	s.cleaning = true
	s.runs.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.runs.Done()
		for {
			n, err := s.cfg.Ledger.Forget(s.now().Add(-Retention), forgetBatch)
			if err != nil || n < forgetBatch {
				break
			}
		}
		s.mu.Lock()
		s.cleaning = false
		s.mu.Unlock()
	}()
}

const forgetBatch = 2000

// Stop answers every waiting command 504 now, settles it, and takes no more.
func (s *Service) Stop() {
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		close(s.stop)
	}
	s.mu.Unlock()
	s.tick.Stop()
	s.runs.Wait()
}
