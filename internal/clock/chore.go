package clock

import (
	"sync"
	"time"
)

// Chore is work that falls due again and again: one goroutine of its own does it, one
// at a time. A jump of the clock waits for it, so what became old in the jump has gone
// when the jump is over. Make one with NewChore.
type Chore struct {
	tick   Timer
	flight *Flight
	work   func(stopped func() bool)

	mu   sync.Mutex
	runs sync.WaitGroup
	busy bool
	over bool
}

// NewChore has work done every period of c; f is the clock's flight, nil for none. What
// takes long asks stopped between its pieces.
func NewChore(c Clock, f *Flight, period time.Duration, work func(stopped func() bool)) *Chore {
	h := &Chore{flight: f, work: work}
	h.tick = c.Every(period, h.due)
	return h
}

// due is on the clock's goroutine.
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

// Cancel has nothing begin any more.
func (h *Chore) Cancel() {
	h.tick.Stop()
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
}

// Stop is Cancel, and returns when nothing is being done.
func (h *Chore) Stop() {
	h.Cancel()
	h.runs.Wait()
}
