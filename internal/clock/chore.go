package clock

import (
	"sync"
	"time"
)

// Chore is periodic work, done on its own goroutine, one run at a time. A jump of the clock waits for it, so what the
// jump made old is gone when the jump is over. Make one with NewChore.
type Chore struct {
	tick   Timer
	flight *Flight
	work   func(stopped func() bool)

	mu   sync.Mutex
	runs sync.WaitGroup
	busy bool
	over bool
}

// NewChore does work once every period of c; f is the clock's flight, nil for none. Long work should ask stopped
// between its pieces.
func NewChore(c Clock, f *Flight, period time.Duration, work func(stopped func() bool)) *Chore {
	h := &Chore{flight: f, work: work}
	h.tick = c.Every(period, h.due)
	return h
}

// due runs on the clock's goroutine.
func (h *Chore) due() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy || h.over {
		return
	}
	h.busy = true
	done := h.flight.Begin()
	h.runs.Go(func() {
		defer done()
		h.work(h.stopped)
		h.mu.Lock()
		h.busy = false
		h.mu.Unlock()
	})
}

func (h *Chore) stopped() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

// Cancel prevents further runs.
func (h *Chore) Cancel() {
	h.tick.Stop()
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
}

// Stop is Cancel, and waits for the run in progress.
func (h *Chore) Stop() {
	h.Cancel()
	h.runs.Wait()
}
