// Package limit is a sliding window: at most n calls a key within any span of
// time. Time is an argument, so it runs on the domain clock. server/auth
// (token exchanges an address) and server/entry (openings a link) use it. It
// imports nothing of ours.
package limit

import (
	"sync"
	"time"
)

// Window admits N calls a key within any Per. Make one with New.
type Window struct {
	n   int
	per time.Duration

	mu    sync.Mutex
	calls map[string][]time.Time // admitted calls, oldest first, never more than n
	sweep int                    // map size at which stale keys are thrown out
}

const firstSweep = 1024

// New returns an empty window.
func New(n int, per time.Duration) *Window {
	return &Window{n: n, per: per, calls: map[string][]time.Time{}, sweep: firstSweep}
}

// Allow admits a call at now, or says exactly how long until the next one is
// admitted. Refused calls do not count, so they do not extend the window.
func (w *Window) Allow(key string, now time.Time) (ok bool, retry time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) >= w.sweep {
		w.clean(now)
	}
	calls := w.calls[key]
	drop := 0
	for drop < len(calls) && now.Sub(calls[drop]) >= w.per {
		drop++
	}
	calls = append(calls[:0], calls[drop:]...)
	if len(calls) >= w.n {
		w.calls[key] = calls
		return false, calls[0].Add(w.per).Sub(now)
	}
	w.calls[key] = append(calls, now)
	return true, 0
}

// clean drops the keys that no longer count.
func (w *Window) clean(now time.Time) {
	for k, calls := range w.calls {
		if now.Sub(calls[len(calls)-1]) >= w.per {
			delete(w.calls, k)
		}
	}
	w.sweep = max(firstSweep, 2*len(w.calls))
}
