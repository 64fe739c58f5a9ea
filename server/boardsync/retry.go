package boardsync

import (
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// retry wakes the service when the first board has waited long enough. The tick would do the same, but over a jump of
// the clock it runs only once, at the end: a message lost on the way would then seem to have been repeated only after
// the jump.
type retry struct {
	mu    sync.Mutex
	at    time.Time // zero: nobody waits
	ran   time.Time // when it last looked at all boards
	timer clock.Timer
}

// apart is how long after looking at all boards the service looks again: boards that wait at the same time are due one after
// the other, and each of them would have all the others looked at.
const apart = 25 * time.Millisecond

// due is when to repeat what a board lacks; zero if that is unknown or not needed. Called with the place's mu held.
func (s *Service) due(b *peer) time.Time {
	now := s.cfg.Clock.Now()
	switch {
	case b.retryAt.After(now):
		return b.retryAt
	case b.waiting:
		return b.sentAt.Add(s.patience(b))
	case !s.equal(b) && b.pace.last.Add(s.interval(b.pace)).After(now):
		return b.pace.last.Add(s.interval(b.pace))
	}
	return time.Time{}
}

// plan makes sure that resend runs no later than t, but never immediately. Zero plans nothing.
func (s *Service) plan(t time.Time) {
	if t.IsZero() {
		return
	}
	if now := s.cfg.Clock.Now(); !t.After(now) { // it has just been tried
		t = now.Add(s.cfg.Resend)
	}
	r := &s.retry
	r.mu.Lock()
	defer r.mu.Unlock()
	if soonest := r.ran.Add(apart); t.Before(soonest) {
		t = soonest
	}
	if s.closed.Load() || !r.at.IsZero() && !t.Before(r.at) {
		return
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.at = t
	r.timer = clock.At(s.cfg.Clock, t, func() {
		r.mu.Lock()
		if r.at.Equal(t) {
			r.at = time.Time{}
		}
		r.ran = t
		r.mu.Unlock()
		s.resend()
	})
}

// stop cancels what was planned; nothing is planned once Service.closed is set.
func (r *retry) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
}
