package store

import (
	"context"
	"sync"
)

// patience is what callers have who can't wait: writeWait, or until Hurry. The zero value works.
type patience struct {
	mu   sync.Mutex
	ctx  context.Context // of those who wait now; nil = nobody has waited since Hurry
	stop context.CancelFunc
}

// wait returns what is closed when the caller has waited long enough. Call end when the wait is over.
func (p *patience) wait() (over <-chan struct{}, end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx == nil {
		p.ctx, p.stop = context.WithCancel(context.Background())
	}
	ctx, end := context.WithTimeout(p.ctx, writeWait)
	return ctx.Done(), end
}

// Hurry makes those give up who are waiting for a commit and can't wait: they get ErrUnavailable, as after writeWait. Whoever
// comes later waits as always. The service stops, and its callers are to have an answer before their connections end.
func (s *Store) Hurry() {
	p := &s.patience
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx != nil {
		p.stop()
	}
	p.ctx = nil
}
