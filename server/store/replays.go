package store

import (
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
)

// replays are repeated answers that no record counts yet. They are written with the next commit or, after a while, with
// one of their own. No answer waits for that, and records are not read before it. A 504 may be answered, and repeated,
// before a slow disk has taken its record: such counts are tried again until the record is there.
type replays struct {
	due chan struct{} // they have waited long enough

	mu      sync.Mutex
	of      map[string]int64         // by command
	early   map[string]time.Duration // of these, the commands without a record: since when that has been so, clock.Mono
	writing bool                     // some are in a commit in progress
}

const (
	replaysWait  = 250 * time.Millisecond // how long a count waits for another commit
	replaysEarly = time.Minute            // ... and for its record, which a withdrawn command never gets
)

func (r *replays) add(commandID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(commandID, 1)
}

// count is add with mu held.
func (r *replays) count(commandID string, n int64) {
	if r.of == nil {
		r.of = map[string]int64{}
		clock.WallAfter(replaysWait, func() { notify(r.due) })
	}
	r.of[commandID] += n
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

// written ends what take began. What could not be committed waits for the next commit, and so do those of early, the
// commands that have no record.
func (r *replays) written(of map[string]int64, early []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = false
	switch {
	case err != nil && r.of == nil:
		r.of = of
		return
	case err != nil:
		for id, n := range of {
			r.of[id] += n
		}
		return
	}
	now, was := clock.Mono(), r.early
	r.early = nil
	for _, id := range early {
		since, known := was[id]
		if !known {
			since = now
		}
		if now-since < replaysEarly {
			each.Put(&r.early, id, since)
			r.count(id, of[id])
		}
	}
}

// countReplays writes them, after the records of the same commit. early are the commands that have no record.
func (t *Tx) countReplays(of map[string]int64) (early []string, err error) {
	for id, n := range of {
		rows, err := t.q.CountReplays(ctx, n, text(id))
		if err != nil {
			return nil, wrap(err)
		}
		if rows == 0 {
			early = append(early, id)
		}
	}
	return early, nil
}

// commitReplays writes those that no other commit has taken. Only the writer calls it.
func (s *Store) commitReplays() {
	if s.replays.pending() && !s.health.corrupt.Load() {
		s.commit(nil, nil)
	}
}

// counted returns once the records count every replay so far.
func (s *Store) counted() error {
	if !s.replays.pending() {
		return nil
	}
	return s.write(func(*Tx) error { return nil })
}
