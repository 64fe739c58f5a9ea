// Package limit is a sliding window: at most n calls per key within any span of time. Time is an argument, so it runs
// on the domain clock. server/auth (token exchanges per address) and server/entry (openings and denials per link and
// number) use it. Its memory is bounded, whoever calls.
package limit

import (
	"slices"
	"sync"
	"time"
)

// Window admits N calls per key within any Per. Make one with New.
type Window struct {
	n   int
	per time.Duration

	mu    sync.Mutex
	calls map[string][]time.Time // admitted calls, oldest first, never more than n
	sweep int                    // map size at which stale keys are thrown out
}

const (
	firstSweep = 1024
	maxKeys    = 1 << 15 // beyond that, some key is forgotten early and may call again sooner
)

// New returns an empty window.
func New(n int, per time.Duration) *Window {
	return &Window{n: n, per: per, calls: map[string][]time.Time{}, sweep: firstSweep}
}

// Allow admits a call at now, or returns the exact time until the next one is admitted. Refused calls don't count, so
// they don't extend the wait.
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

// Return takes back a call that Allow admitted at a time, as if it had never been made.
func (w *Window) Return(key string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls[key]
	i := slices.IndexFunc(calls, at.Equal)
	switch {
	case i < 0: // too old by now, or forgotten
	case len(calls) == 1:
		delete(w.calls, key)
	default:
		w.calls[key] = slices.Delete(calls, i, i+1)
	}
}

// clean drops the keys that no longer count.
func (w *Window) clean(now time.Time) {
	for k, calls := range w.calls {
		if now.Sub(calls[len(calls)-1]) >= w.per {
			delete(w.calls, k)
		}
	}
	if len(w.calls) >= maxKeys {
		n := maxKeys / 8
		for k := range w.calls { // in random order, so nobody can choose whom
			delete(w.calls, k)
			if n--; n == 0 {
				break
			}
		}
	}
	w.sweep = min(max(firstSweep, 2*len(w.calls)), maxKeys)
}
