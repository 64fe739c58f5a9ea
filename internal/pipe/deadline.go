package pipe

import (
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// deadline wakes a waiter when it passes. Moving it later is free: the running timer checks again when it fires.
// Guarded by its owner's mutex.
type deadline struct {
	at    time.Time
	fires time.Time // when timer runs
	timer clock.Timer
}

func (d *deadline) expired() bool {
	return !d.at.IsZero() && !d.at.After(clock.WallNow())
}

func (d *deadline) set(t time.Time, h *half) {
	d.at = t
	d.arm(h)
}

func (d *deadline) arm(h *half) {
	if d.at.IsZero() {
		return
	}
	left := d.at.Sub(clock.WallNow())
	if left <= 0 {
		if d == &h.rd {
			h.tell()
		} else {
			token(h.writable)
		}
		return
	}
	if d.timer != nil && !d.fires.After(d.at) {
		return
	}
	d.stop()
	d.fires = d.at
	d.timer = clock.WallAfter(left, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		d.timer = nil
		d.arm(h)
	})
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
