package store

import (
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// replays are repeated answers that no record counts yet. They are written with the next commit or, after a while, with
// one of their own. No answer waits for that, and records are not read before it.
type replays struct {
	due chan struct{} // they have waited long enough

	mu      sync.Mutex
	of      map[string]int64 // by command
	writing bool             // some are in a commit in progress
}

// replaysWait is how long a count waits for another commit.
const replaysWait = 250 * time.Millisecond

func (r *replays) add(commandID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]int64{}
		clock.WallAfter(replaysWait, func() { notify(r.due) })
	}
	r.of[commandID]++
}

// pending reports whether any are in no commit yet.
func (r *replays) pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of != nil || r.writing
}

// take returns what a commit is to write.
func (r *replays) take() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.of
	r.of, r.writing = nil, of != nil
	return of
}

// written ends what take began. What could not be committed waits for the next commit.
func (r *replays) written(of map[string]int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = false
	switch {
	case err == nil:
	case r.of == nil:
		r.of = of
	default:
		for id, n := range of {
			r.of[id] += n
		}
	}
}

// countReplays writes them, after the records of the same commit.
func (t *Tx) countReplays(of map[string]int64) error {
	for id, n := range of {
		if err := t.q.CountReplays(ctx, n, text(id)); err != nil {
			return wrap(err)
		}
	}
	return nil
}

// commitReplays writes those that no other commit has taken. Only the writer calls it.
func (s *Store) commitReplays() {
	if s.replays.pending() && !s.health.corrupt.Load() {
		s.commit(nil)
	}
}

// counted returns once the records count every replay so far.
func (s *Store) counted() error {
	if !s.replays.pending() {
		return nil
	}
	return s.write(func(*Tx) error { return nil })
}
