package fault

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
)

// Set holds the armed faults of a fleet. All methods are safe for concurrent use and cost next to nothing while nothing
// is armed.
type Set struct {
	c Config

	mu      sync.Mutex
	seq     int
	armed   []*armed            // oldest first
	byBoard map[string][]*armed // by rank (where the fault stands in the list), then oldest first
	hits    map[string]int64    // by fault name
	gone    []faults.Armed      // last states, oldest first, at most maxGone

	commands, lines, clocks atomic.Int32 // armed faults of each sort
}

// maxGone is how many ended faults the set remembers.
const maxGone = 1000

// armed is a fault in force. The set's mu guards it.
type armed struct {
	id       string
	spec     Spec
	k        *kind
	rank     int // where k stands among kinds
	p        params
	boards   []string
	since    time.Time
	timer    clock.Timer // ends it
	over     bool
	matching int   // commands so far, for nth
	hits     int64 // times it did something
	draws    map[string]uint64
	flaps    map[string]*flapping
}

// New returns an empty set.
func New(c Config) *Set {
	c.Clock = cmp.Or[clock.Clock](c.Clock, clock.Real{})
	return &Set{c: c, byBoard: map[string][]*armed{}, hits: map[string]int64{}}
}

// Arm arms a fault. Instant faults act once and are not kept; the returned id still finds them, and Hits counts them.
// Errors: *faults.Bad, ErrTestPlace, ErrDetached.
func (s *Set) Arm(spec Spec) (id string, err error) {
	k, v, err := spec.check()
	if err != nil {
		return "", err
	}
	pick, err := s.cohort(&spec)
	if err != nil {
		return "", err
	}
	_, rank := lookup(spec.Fault)
	s.mu.Lock()
	s.seq++
	a := &armed{rank: rank, id: "flt_" + strconv.Itoa(s.seq), spec: spec, k: k, p: params{Values: v}, since: s.c.Clock.Now()}
	a.boards = pick()
	s.put(a)
	s.mu.Unlock()
	if k.instant != nil {
		if s.c.Board != nil {
			for _, b := range a.boards {
				k.instant(s.c.Board, b)
			}
		}
		return a.id, nil
	}
	if k.cycle == nil { // a flapping line starts in the up state
		s.tell(a)
	}
	return a.id, nil
}

// put adds a fault. Called with mu held.
func (s *Set) put(a *armed) {
	if a.k.instant != nil || a.k.clock != nil || a.k == &offline {
		s.hit(a, int64(len(a.boards)))
	}
	if a.k.instant != nil {
		s.bury(a)
		return
	}
	s.sort(a).Add(1)
	s.armed = append(s.armed, a)
	for _, b := range a.boards {
		list := s.byBoard[b]
		i := len(list)
		for ; i > 0 && list[i-1].rank > a.rank; i-- {
		}
		s.byBoard[b] = slices.Insert(list, i, a)
	}
	if a.spec.For > 0 {
		a.timer = clock.At(s.c.Clock, a.until(), func() { _, _ = s.Remove(a.id) })
	}
	if a.k.cycle != nil {
		s.startFlap(a)
	}
}

func (s *Set) sort(a *armed) *atomic.Int32 {
	switch {
	case a.k.line != nil:
		return &s.lines
	case a.k.clock != nil:
		return &s.clocks
	}
	return &s.commands
}

func (s *Set) hit(a *armed, n int64) {
	a.hits += n
	s.hits[a.k.name] += n
}

// tell notifies the boards that their line may have changed.
func (s *Set) tell(a *armed) {
	if s.c.Board == nil || a.k.line == nil {
		return
	}
	for _, b := range a.boards {
		s.c.Board.LineChanged(b)
	}
}

// Remove undoes a fault and returns its last state. Error: ErrNotFound.
func (s *Set) Remove(id string) (faults.Armed, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.armed, func(a *armed) bool { return a.id == id })
	if i < 0 {
		s.mu.Unlock()
		return faults.Armed{}, ErrNotFound
	}
	a := s.armed[i]
	s.armed = slices.Delete(s.armed, i, i+1)
	last := s.drop(a)
	s.mu.Unlock()
	s.tell(a)
	return last, nil
}

// Find returns the state of a fault in force, or the last state, without its boards, of one that ended recently. Error:
// ErrNotFound.
func (s *Set) Find(id string) (faults.Armed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.armed, func(a *armed) bool { return a.id == id }); i >= 0 {
		return s.armed[i].state(), nil
	}
	if i := slices.IndexFunc(s.gone, func(a faults.Armed) bool { return a.FaultID == id }); i >= 0 {
		return s.gone[i], nil
	}
	return faults.Armed{}, ErrNotFound
}

// bury keeps the last state of a fault. Called with mu held.
func (s *Set) bury(a *armed) faults.Armed {
	last := a.state()
	kept := last
	kept.Boards = []string{} // there may be thousands
	s.gone = append(s.gone, kept)
	if n := len(s.gone); n > maxGone {
		s.gone = slices.Delete(s.gone, 0, n-maxGone)
	}
	return last
}

// drop ends a fault that has been unlisted and returns its last state. Called with mu held.
func (s *Set) drop(a *armed) faults.Armed {
	a.over = true
	s.sort(a).Add(-1)
	if a.timer != nil {
		a.timer.Stop()
	}
	for _, f := range a.flaps {
		f.timer.Stop()
	}
	for _, b := range a.boards {
		list := s.byBoard[b]
		if i := slices.Index(list, a); len(list) > 1 {
			s.byBoard[b] = slices.Delete(list, i, i+1)
		} else {
			delete(s.byBoard, b)
		}
	}
	return s.bury(a)
}

// Reset removes all faults and returns their last states.
func (s *Set) Reset() []faults.Armed {
	s.mu.Lock()
	all := s.armed
	s.armed = nil
	out := each.Of(all, s.drop)
	s.mu.Unlock()
	for _, a := range all {
		s.tell(a)
	}
	return out
}

// List returns the armed faults, oldest first.
func (s *Set) List() []faults.Armed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return each.Of(s.armed, (*armed).state)
}

// Hits counts by fault name over the set's life, including faults that have ended.
func (s *Set) Hits() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.hits)
}

// until is the fault's end as List shows it: a jump to that time ends the fault.
func (a *armed) until() time.Time { return a.since.Truncate(time.Millisecond).Add(a.spec.For) }

func (a *armed) state() faults.Armed {
	out := faults.Armed{
		FaultID: a.id, Fault: a.k.name, Boards: slices.Clone(a.boards), Count: len(a.boards),
		DoorIDs: a.spec.DoorIDs, Commands: a.spec.Commands, Nth: a.spec.Nth,
		Since: faults.Moment{Time: a.since}, Hits: a.hits, Params: a.p.All(),
	}
	if a.spec.For > 0 {
		out.Until = &faults.Moment{Time: a.until()}
	}
	return out
}
