package store

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Group commit: with few writers, a batch only lets those go first that are ready to run and may be about to write; on an
// idle machine there are none. With many it waits a moment, the longer the more there are, because a commit costs about as
// much as ten of its writes. A command writes twice, so the running commands indicate how many writers to expect.
const (
	crowd     = 16
	yields    = 2                      // with few writers: turns that whoever is ready gets
	lingerFor = 20 * time.Microsecond  // per expected writer
	timerLate = 200 * time.Microsecond // a timer comes that much later: see internal/slack
	lingerMax = 3 * time.Millisecond
)

// waiting adds the queued jobs to a batch.
func (s *Store) waiting(batch []*job) []*job {
	for len(batch) < maxBatch {
		select {
		case j := <-s.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// collect collects a batch that starts with first. If more writes are expected, rest waits for them and returns the whole
// batch; what there is can be executed first, which makes the wait that much shorter.
func (s *Store) collect(first *job, last int) (batch []*job, rest func() []*job) {
	began := clock.Mono()
	batch = s.waiting([]*job{first})
	n := max(len(batch), last, s.running)
	most := min(maxBatch, 2*n) // all expected writers are in
	if n <= crowd {
		for range yields {
			runtime.Gosched()
		}
		return s.waiting(batch), nil
	}
	if len(batch) >= most {
		return batch, nil
	}
	until := began + min(time.Duration(n)*lingerFor, lingerMax) - timerLate
	return batch, func() []*job {
		if left := until - clock.Mono(); left > 0 {
			s.gather.wait(most-len(batch), left, func() int { return len(s.jobs) })
		}
		return s.waiting(batch)
	}
}

// gather lets the writer sleep while writes queue up: waking it for each of them costs more than queueing.
type gather struct {
	expected atomic.Int64  // queued writes that end the wait; 0 = nobody waits
	over     chan struct{} // buffered
}

// wait returns once enough writes are queued, or after d.
func (g *gather) wait(enough int, d time.Duration, queued func() int) {
	select {
	case <-g.over: // left by an earlier wait
	default:
	}
	defer clock.WallAfter(d, func() { notify(g.over) }).Stop()
	g.expected.Store(int64(enough))
	defer g.expected.Store(0)
	if queued() < enough { // else they came before they could know
		<-g.over
	}
}

// came tells that a write was queued, and how many now are.
func (g *gather) came(queued int) {
	if n := g.expected.Load(); n > 0 && int64(queued) >= n {
		notify(g.over)
	}
}
