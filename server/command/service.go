package command

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/crew"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/age"
)

// Sender sends a command over a board's live connection, at most once, and fills in epoch and sequence. Error:
// board.ErrOffline, nothing was sent.
type Sender interface {
	Send(ctx context.Context, boardID string, c wire.Command) error
}

// Config of a Service. Ledger and Sender are required, the rest has defaults.
type Config struct {
	Ledger                 Ledger
	Sender                 Sender
	Clock                  clock.Clock   // nil = clock.Real
	Ages                   *age.Clock    // what keys age by; nil = one that begins now
	Flight                 *clock.Flight // nil = nothing is counted
	Wait                   time.Duration // 0 = DefaultWait
	NotAfter               time.Duration // 0 = DefaultNotAfter
	Answer                 time.Duration // 0 = NotAfter + Wait + 1 s: the latest time at which callers are answered, whatever the ledger does
	InFlight               int           // 0 = defaultInFlight
	PerPlace, PerTestPlace int           // 0 = defaultPerPlace, defaultPerTestPlace
	// Caller extracts from a caller's context what Trace should know about them; nil = nothing.
	Caller func(context.Context) any
	// Trace is called at every Point of every command, on the command's own goroutine. It must not keep the Trail. nil
	// = none.
	Trace func(Point, *Trail)
}

// Service executes commands. One per server.
type Service struct {
	cfg   Config
	count Counts
	chore *clock.Chore
	stop  chan struct{}
	dead  chan struct{} // closed by Kill
	runs  sync.WaitGroup
	crew  *crew.Crew // executions
	doors sync.Map   // door id -> Door: a door's board and channel never change

	mu      sync.Mutex
	stopped bool
	running int
	at      map[string]int // running, by place
	killed  bool
	byKey   map[keyID]*execution
	byID    map[string]*execution
}

type keyID struct{ placeID, key string }

// New returns a service. Call Recover before boards can connect.
func New(cfg Config) *Service {
	cfg.Clock = cmp.Or[clock.Clock](cfg.Clock, clock.Real{})
	if cfg.Ages == nil {
		cfg.Ages = age.New(cfg.Clock, age.State{}, time.Time{}, 0)
	}
	cfg.Wait = cmp.Or(cfg.Wait, DefaultWait)
	cfg.NotAfter = cmp.Or(cfg.NotAfter, DefaultNotAfter)
	cfg.InFlight = cmp.Or(cfg.InFlight, defaultInFlight)
	cfg.PerPlace = cmp.Or(cfg.PerPlace, defaultPerPlace)
	cfg.PerTestPlace = cmp.Or(cfg.PerTestPlace, defaultPerTestPlace)
	cfg.Answer = cmp.Or(cfg.Answer, cfg.NotAfter+cfg.Wait+time.Second)
	if cfg.Trace == nil {
		cfg.Trace = func(Point, *Trail) {}
	}
	s := &Service{cfg: cfg, crew: crew.New(), stop: make(chan struct{}), dead: make(chan struct{}),
		at: map[string]int{}, byKey: map[keyID]*execution{}, byID: map[string]*execution{}}
	s.chore = clock.NewChore(cfg.Clock, cfg.Flight, time.Hour, s.clean)
	return s
}

// Wait is how long a command waits for the board's report.
func (s *Service) Wait() time.Duration { return s.cfg.Wait }

// Execute carries out a command and returns once its answer is durable, or after Config.Answer at the latest. When ctx
// ends, only the waiting ends, never the command. Errors: ErrReused, ErrTooMany, ErrNoDoor, ErrStopped, ErrUnavailable,
// the context's, the ledger's.
func (s *Service) Execute(ctx context.Context, r Request) (Answer, error) {
	door, err := s.door(r.PlaceID, r.DoorID)
	if err != nil {
		return Answer{}, err
	}
	if r.Command != wire.CmdHold {
		r.Minutes = 0
	}
	if s.cfg.Caller != nil {
		r.caller = s.cfg.Caller(ctx)
	}
	if r.Key != "" && !s.isDead() { // most repeats come soon: they need neither a claim nor a slot
		if was, ans, ok := s.cfg.Ledger.Answered(r.PlaceID, r.Key, s.cfg.Ages.Ran().Add(-Retention)); ok {
			return s.again(was, ans, meaning(r))
		}
	}
	for {
		c, mine, err := s.enter(r, door)
		if err != nil {
			return Answer{}, err
		}
		if !mine && c.meaning != meaning(r) {
			if again, err := c.conflict(ctx); !again {
				return Answer{}, err
			}
			continue
		}
		select {
		case <-c.done:
		case <-s.dead:
			return Answer{}, ErrStopped
		case <-ctx.Done():
			return Answer{}, ctx.Err() // the command goes on
		}
		if c.err != nil {
			return Answer{}, c.err
		}
		ans := c.ans
		if !mine { // joined [CMD-5]
			s.count.Joined.Add(1)
			ans.Replayed = true
			s.cfg.Ledger.CountReplay(ans.Result.CommandID)
		}
		return ans, nil
	}
}

// again returns the answer of a finished command to a caller with the same request.
func (s *Service) again(was string, ans Answer, meaning string) (Answer, error) {
	if was != meaning {
		s.count.Reused.Add(1)
		return Answer{}, ErrReused
	}
	s.count.Replayed.Add(1)
	ans.Replayed = true
	s.cfg.Ledger.CountReplay(ans.Result.CommandID)
	return ans, nil
}

// meaning is a canonical form of the request: two requests under one key must agree on it. Without a key, nothing is
// compared with it here, and it says who pressed.
func meaning(r Request) string {
	if r.Key == "" {
		return r.Press
	}
	return r.DoorID + "\n" + r.Command + "\n" + strconv.Itoa(r.Minutes) + "\n" + r.Reason
}

// enter finds the running execution of the request's key, or starts one.
func (s *Service) enter(r Request, door Door) (c *execution, mine bool, err error) {
	k := keyID{r.PlaceID, r.Key}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.byKey[k]; c != nil && r.Key != "" {
		return c, false, nil
	}
	if s.stopped {
		return nil, false, ErrStopped
	}
	most := s.cfg.PerPlace
	if door.Test {
		most = s.cfg.PerTestPlace
	}
	if s.running >= s.cfg.InFlight || s.at[r.PlaceID] >= most {
		s.count.TooMany.Add(1)
		return nil, false, ErrTooMany
	}
	s.running++
	s.at[r.PlaceID]++
	s.count.Started.Add(1)
	c = newExecution(s, r, door)
	if r.Key != "" {
		s.byKey[k] = c
	}
	s.byID[c.trail.Intent.CommandID] = c
	s.runs.Add(1)
	s.crew.Go(c.run)
	return c, true, nil
}

// forget removes an execution from the maps: from now on the ledger answers for it.
func (s *Service) forget(c *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := (keyID{c.req.PlaceID, c.req.Key}); s.byKey[k] == c {
		delete(s.byKey, k)
	}
	delete(s.byID, c.trail.Intent.CommandID)
}

func (s *Service) leave(c *execution) {
	s.forget(c)
	s.mu.Lock()
	s.running--
	if s.at[c.req.PlaceID]--; s.at[c.req.PlaceID] == 0 {
		delete(s.at, c.req.PlaceID)
	}
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

// clean deletes what is older than the retention.
func (s *Service) clean(stopped func() bool) {
	for n := forgetBatch; n == forgetBatch && !stopped(); {
		var err error
		if n, err = s.cfg.Ledger.Forget(s.cfg.Ages.Ran().Add(-Retention), forgetBatch); err != nil {
			return // tried again in an hour
		}
	}
}

const forgetBatch = 500 // deleted in a few milliseconds: commands wait that long
