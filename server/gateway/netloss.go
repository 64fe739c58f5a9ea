package gateway

import (
	"context"
	"maps"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
)

// pendingConfig waits for a board's answer to a configuration.
type pendingConfig struct {
	id   string
	l    *link
	sent wire.Netloss
	done chan struct{}
	over bool
	got  wire.Netloss
	err  error
}

// finish decides the result, once. Called with the board's mu held.
func (p *pendingConfig) finish(err error) {
	if !p.over {
		p.over, p.err = true, err
		close(p.done)
	}
}

// SetNetloss sets a board's outage policy, every channel named, and returns
// what the board confirmed, with its new version. Nothing is stored but what
// the board confirms. Errors: ErrNoBoard, ErrOffline (nothing was sent),
// ErrLost, ErrNoAnswer, *Refused, the context's, the store's.
func (g *Gateway) SetNetloss(ctx context.Context, boardID string, n wire.Netloss) (wire.Netloss, error) {
	b := g.boards[boardID]
	if b == nil {
		return wire.Netloss{}, ErrNoBoard
	}
	over := make(chan struct{}) // bounds the wait for another's turn too
	defer clock.WallAfter(g.cfg.Wait, func() { close(over) }).Stop()
	select {
	case b.config <- struct{}{}:
		defer func() { <-b.config }()
	case <-over:
		return wire.Netloss{}, ErrNoAnswer
	case <-ctx.Done():
		return wire.Netloss{}, ctx.Err()
	}
	p, err := b.configure(n)
	if err != nil {
		return wire.Netloss{}, err
	}
	err = ErrNoAnswer
	select {
	case <-p.done:
	case <-over:
	case <-g.stop:
	case <-ctx.Done():
		err = ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.finish(err)
	if b.pending == p {
		b.pending = nil
	}
	return p.got, p.err
}

// configure sends the policy.
func (b *board) configure(n wire.Netloss) (*pendingConfig, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.live()
	if l == nil {
		return nil, ErrOffline
	}
	n.Channels = maps.Clone(n.Channels)
	n.Version = b.netloss().Version + 1
	p := &pendingConfig{id: id.New("cfg_", b.g.now()), l: l, sent: n, done: make(chan struct{})}
	b.pending = p
	if !l.push(wire.DownCfg, encode(wire.Config{ID: p.id, Netloss: n, NotAfterMs: (clock.Mono() + b.g.cfg.NotAfter).Milliseconds()}), nil) {
		b.pending = nil
		return nil, ErrOffline
	}
	return p, nil
}

// configured takes a board's answer: what it confirms is stored, then told. A
// late confirmation is stored all the same.
func (b *board) configured(a wire.SyncAck) {
	b.mu.Lock()
	p := b.pending
	mine := p != nil && p.id == a.ID
	if a.Result == wire.ResultRefused {
		if mine {
			p.finish(&Refused{Code: a.Code})
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
	b.confirm(*n, b.g.now())
	st, got := b.keep(), b.netloss()
	b.mu.Unlock()
	err := b.g.cfg.Store.SaveBoardStates([]device.BoardState{st})
	if err != nil {
		b.g.save(b) // later then
	}
	if mine {
		b.mu.Lock()
		p.got = got
		p.finish(err)
		b.mu.Unlock()
	}
}

// confirm takes over what the board says it has stored. Version 0 = never
// configured. Called with mu held.
func (b *board) confirm(n wire.Netloss, now time.Time) {
	if n.Version == 0 {
		b.st.Netloss, b.st.NetlossAppliedAt = nil, time.Time{}
		return
	}
	full := device.DefaultNetloss(b.st.Doors)
	for ch := range full.Channels {
		if rest, ok := n.Channels[ch]; ok {
			full.Channels[ch] = rest
		}
	}
	full.GraceSec, full.Version = n.GraceSec, n.Version
	if old := b.st.Netloss; old == nil || old.Version != full.Version || old.GraceSec != full.GraceSec || !maps.Equal(old.Channels, full.Channels) {
		b.st.Netloss, b.st.NetlossAppliedAt = &full, now
	}
}
