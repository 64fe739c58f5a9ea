package gateway

import (
	"context"
	"maps"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
)

// pendingConfig waits for a board's answer to a configuration.
type pendingConfig struct {
	id   string
	by   record.By
	l    *link
	sent board.Policy
	done chan struct{}
	over bool
	got  board.Policy
	err  error
}

// finish sets the result, once. Called with the board's mu held.
func (p *pendingConfig) finish(err error) {
	if !p.over {
		p.over, p.err = true, err
		close(p.done)
	}
}

// SetNetloss sets a board's outage policy, which must name every channel, and returns what the board confirmed, with
// its new version. Only what the board confirms is stored, together with the record of who asked for it. Errors:
// board.ErrNotFound, board.ErrOffline (nothing was sent), board.ErrLost, board.ErrNoAnswer, board.Refused, the
// context's, the store's.
func (g *Gateway) SetNetloss(ctx context.Context, by record.By, boardID string, n board.Policy) (board.Policy, error) {
	b := g.boards[boardID]
	if b == nil {
		return board.Policy{}, board.ErrNotFound
	}
	over := make(chan struct{}) // also bounds the wait for other configurations
	defer clock.WallAfter(g.cfg.Wait, func() { close(over) }).Stop()
	select {
	case b.config <- struct{}{}:
		defer func() { <-b.config }()
	case <-over:
		return board.Policy{}, board.ErrNoAnswer
	case <-ctx.Done():
		return board.Policy{}, ctx.Err()
	}
	if b.owes() { // an earlier change has no record yet, and the next one would hide it
		if err := b.keepNow(); err != nil {
			return board.Policy{}, err
		}
	}
	p, err := b.configure(by, n)
	if err != nil {
		return board.Policy{}, err
	}
	err = board.ErrNoAnswer
	select {
	case <-p.done:
	case <-over:
	case <-g.stop:
	case <-ctx.Done():
		err = ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.finish(err) // it stays pending: a late confirmation has a record, too
	return p.got, p.err
}

// configure sends the policy.
func (b *peer) configure(by record.By, n board.Policy) (*pendingConfig, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.live()
	if l == nil {
		return nil, board.ErrOffline
	}
	n.Channels = maps.Clone(n.Channels)
	n.Version = b.st.Confirmed().Version + 1
	p := &pendingConfig{by: by, id: id.New("cfg_", b.g.now()), l: l, sent: n, done: make(chan struct{})}
	b.pending = p
	if !l.push(wire.DownCfg, encode(wire.Config{ID: p.id, Netloss: n, NotAfterMs: (clock.Mono() + b.g.cfg.NotAfter).Milliseconds()}), nil) {
		b.pending = nil
		return nil, board.ErrOffline
	}
	return p, nil
}

// configured handles a board's answer: what it confirms is stored, then passed on, even if it is late.
func (b *peer) configured(a wire.SyncAck) {
	b.mu.Lock()
	p := b.pending
	mine := p != nil && p.id == a.ID
	if a.Result == vocab.Refused {
		if mine {
			p.finish(board.Refused(a.Code))
			b.pending = nil
		}
		b.mu.Unlock()
		return
	}
	n := a.Netloss
	if n == nil && mine {
		n = &p.sent
	}
	if n == nil {
		b.mu.Unlock()
		return
	}
	b.st.Confirm(*n, b.g.now())
	got := b.st.Confirmed()
	if mine {
		c := record.OutagePolicy(p.by, b.id, got)
		b.pending, b.unkept = nil, &c
	}
	b.mu.Unlock()
	err := b.keepNow()
	if err != nil {
		b.g.save(b) // then later
	}
	if mine {
		b.mu.Lock()
		p.got = got
		p.finish(err)
		b.mu.Unlock()
	}
}
