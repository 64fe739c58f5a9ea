package store

import (
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// How recent the last commit must be to vouch for the next one, and how long Ping waits for its own, both in wall time.
const (
	pingFresh  = time.Second
	pingFailed = 250 * time.Millisecond // the same after a failure, to notice recovery sooner
	pingWait   = 2 * time.Second
	logEvery   = time.Second
)

// health is what the last commit revealed about the disk.
type health struct {
	corrupt atomic.Bool // nothing is written

	mu      sync.Mutex
	at      time.Duration // of the last commit
	err     error         // ... and its error
	probing chan struct{} // closed when the probe in progress is over; nil = none
	logged  time.Duration // when a failure was last logged
	unsaid  int           // failures since then
}

// committed remembers how a commit ended, and logs failures at most once a second. A commit that changed nothing
// reveals nothing about the disk.
func (s *Store) committed(batch []*job, err error) {
	s.found(err)
	for _, j := range batch {
		s.found(j.err)
	}
	if err == nil {
		var changes int64
		was := s.changes
		if s.writing.QueryRow("SELECT total_changes()").Scan(&changes) == nil {
			s.changes = changes
		}
		if was == s.changes {
			return
		}
	}
	h, now := &s.health, clock.Mono()
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.err
	h.at, h.err = now, err
	switch {
	case err == nil && was != nil:
		s.log.Warn("the database accepts writes again", "failedSince", h.unsaid)
		h.logged, h.unsaid = 0, 0
	case err == nil:
	case h.logged == 0 || now-h.logged >= logEvery:
		s.log.Error("the database accepts no writes", "error", err, "failedSince", h.unsaid)
		h.logged, h.unsaid = now, 0
	default:
		h.unsaid++
	}
}

// Queued is the number of writes that wait for the next commit.
func (s *Store) Queued() int { return len(s.jobs) + len(s.bulk) }

// Ping reports whether the store accepts writes and reads; otherwise it returns ErrUnavailable with the cause. A recent
// commit answers for it; after that Ping makes one, shared by all who ask meanwhile.
func (s *Store) Ping() error {
	if s.health.corrupt.Load() {
		return fmt.Errorf("%w: %w", ErrUnavailable, ErrCorrupt)
	}
	if err := s.reading.Ping(); err != nil {
		return wrap(err)
	}
	h := &s.health
	h.mu.Lock()
	fresh := pingFresh
	if h.err != nil {
		fresh = pingFailed
	}
	if h.at != 0 && clock.Mono()-h.at < fresh {
		defer h.mu.Unlock()
		return h.err
	}
	probing := h.probing
	if probing == nil {
		probing = make(chan struct{})
		h.probing = probing
		go s.probe(probing)
	}
	h.mu.Unlock()

	over := make(chan struct{})
	defer clock.WallAfter(pingWait, func() { close(over) }).Stop()
	select {
	case <-probing:
	case <-over:
		return fmt.Errorf("%w: a write takes longer than %s", ErrUnavailable, pingWait)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// probe writes what a busy moment would: a value that changes, so that the log grows, and temporarily more pages than
// are free, so that the database grows.
func (s *Store) probe(over chan struct{}) {
	const size, more = 4 << 10, 64 << 10
	err := s.writeThrough(func(tx *Tx) error {
		if err := tx.setMeta("probe", rand.Text()); err != nil {
			return err
		}
		for _, n := range []int{more, size} {
			if _, err := tx.Exec("INSERT OR REPLACE INTO meta (name, value) VALUES ('probe blob', hex(randomblob(?)))", n); err != nil {
				return err
			}
		}
		return nil
	})
	h := &s.health
	h.mu.Lock()
	if err != nil && h.err == nil { // closed: no commit told
		h.err = err
	}
	h.probing = nil
	h.mu.Unlock()
	close(over)
}
