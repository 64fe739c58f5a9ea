package gateway

import (
	"context"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
)

// asked is an outage policy that was sent to a board and that the board has not answered yet. Its caller may have given
// up long ago: as long as the connection lasts, the board may still confirm it, and whatever is confirmed has a record.
type asked struct {
	id     string
	by     record.By
	l      *link
	policy board.Policy
	again  bool           // the board had confirmed it before
	end    chan setResult // takes the one result, whether or not the caller still waits
}

type setResult struct {
	got board.Policy
	err error
}

// maxAsked bounds what a board that never answers makes us remember; the oldest are forgotten first.
const maxAsked = 100

// SetNetloss sets a board's outage policy and returns what the board confirmed, with its new version. n.Channels names
// only the channels to change. Only what the board confirms is stored, together with the record of who asked for it.
// Errors: board.ErrNotFound, board.ErrOffline (nothing was sent), board.ErrLost, board.ErrNoAnswer, board.Refused, the
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
	if b.owes() { // the disk that can't take the record of an earlier change wouldn't take the next one's
		if err := b.keepNow(); err != nil {
			return board.Policy{}, err
		}
	}
	a, err := b.configure(by, n)
	if err != nil {
		return board.Policy{}, err
	}
	select {
	case res := <-a.end:
		return res.got, res.err
	case <-over:
	case <-g.stop:
	case <-ctx.Done():
		return board.Policy{}, ctx.Err()
	}
	return board.Policy{}, board.ErrNoAnswer
}

// configure sends the policy that the board should have. It is merged here, in the board's turn: an earlier change has
// been confirmed by now, and merging before the turn would undo it.
func (b *peer) configure(by record.By, n board.Policy) (*asked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.live()
	if l == nil {
		return nil, board.ErrOffline
	}
	n = b.st.Merge(n)
	for _, a := range b.asked { // the board may still confirm these: no two policies share a version
		n.Version = max(n.Version, a.policy.Version+1)
	}
	a := &asked{id: id.New("cfg_", b.g.now()), by: by, l: l, policy: n, again: b.st.Policy != nil && n.Version == b.st.Policy.Version, end: make(chan setResult, 1)}
	if !l.push(wire.DownCfg, encode(wire.Config{ID: a.id, Netloss: n, NotAfterMs: (clock.Mono() + b.g.cfg.NotAfter).Milliseconds()}), nil) {
		return nil, board.ErrOffline
	}
	b.asked = append(b.asked, a)
	if len(b.asked) > maxAsked {
		b.asked = b.asked[1:]
	}
	return a, nil
}

// configured handles a board's answer: what it confirms is stored, then passed on. An answer to what was never asked,
// or answered before, may still say which policy the board has.
func (b *peer) configured(ack wire.SyncAck) {
	b.mu.Lock()
	var a *asked
	if i := slices.IndexFunc(b.asked, func(a *asked) bool { return a.id == ack.ID }); i >= 0 {
		a = b.asked[i]
		b.asked = slices.Delete(b.asked, i, i+1)
	}
	if ack.Result == vocab.Refused {
		b.mu.Unlock()
		if a != nil {
			a.end <- setResult{err: board.Refused(ack.Code)}
		}
		return
	}
	switch {
	case ack.Netloss != nil:
		b.st.Confirm(*ack.Netloss, b.g.now())
	case a != nil:
		b.st.Confirm(a.policy, b.g.now())
	default:
		b.mu.Unlock()
		return
	}
	got := b.st.Confirmed()
	if a != nil {
		b.unkept = append(b.unkept, record.OutagePolicy(a.by, b.id, got))
	}
	b.mu.Unlock()
	if a == nil { // nobody waits
		b.g.save(b)
		return
	}
	err := b.keepNow()
	if err != nil {
		b.g.save(b) // then later
	}
	a.end <- setResult{got, err}
}

// unasked ends the wait for what was sent over a connection that has ended: a board answers over the same connection or
// never. But it may have stored the policy, and then its next hello has it. Called with mu held.
func (b *peer) unasked(l *link) {
	b.asked = slices.DeleteFunc(b.asked, func(a *asked) bool {
		if a.l == l {
			a.end <- setResult{err: board.ErrLost}
			if b.lost = append(b.lost, a); len(b.lost) > maxAsked {
				b.lost = b.lost[1:]
			}
		}
		return a.l == l
	})
}

// said handles the policy that a hello has: the board confirms it by that, so it has a record, even if the answer to the
// change was lost with its connection. Called with mu held.
func (b *peer) said(l *link, p board.Policy) {
	b.st.Confirm(p, b.g.now())
	for _, a := range slices.Clone(b.asked) {
		if a.l != l {
			b.unasked(a.l) // taken over; its end comes later
		}
	}
	for _, a := range b.lost {
		if !a.again && a.policy.Version == p.Version && a.policy.GraceSec == p.GraceSec && maps.Equal(a.policy.Channels, p.Channels) {
			b.unkept = append(b.unkept, record.OutagePolicy(a.by, b.id, p))
		}
	}
	b.lost = nil
}
