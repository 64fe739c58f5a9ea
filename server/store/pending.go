package store

import (
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// pending is the commit in progress. What it records is dated when it begins, but nobody can read it until it ends. So a
// period that reaches past its beginning is complete only then: whoever reads "until now" and goes on from there would
// miss it.
type pending struct {
	mu   sync.Mutex
	at   int64         // milliseconds; what the commit records is no older
	over chan struct{} // closed when it has ended; nil = none is in progress
}

// begin notes that a commit begins, and returns the time of what it records. Whoever looked before has an earlier time.
func (p *pending) begin(clk clock.Clock) (at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at = clk.Now().Truncate(time.Millisecond)
	p.at, p.over = at.UnixMilli(), make(chan struct{})
	return at
}

// later is the time of what the commit records from now on.
func later(began time.Time, clk clock.Clock) time.Time {
	if now := clk.Now().Truncate(time.Millisecond); now.After(began) {
		return now
	}
	return began // the clock was set back
}

func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.over)
	p.over = nil
}

// before is closed once nothing more can appear that is dated before to, for a to that isn't in the future; nil = nothing
// can already.
func (p *pending) before(to time.Time) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil || p.at >= to.UnixMilli() {
		return nil
	}
	return p.over
}

// complete returns once everything that is dated before to can be read. If a commit takes too long, it fails with
// ErrUnavailable rather than leave something out.
func (s *Store) complete(to time.Time) error {
	over := s.pending.before(to)
	if over == nil {
		return nil
	}
	late, end := s.patience.wait()
	defer end()
	select {
	case <-over:
		return nil
	case <-late:
		return errNoCommit
	}
}
