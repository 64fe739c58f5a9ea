package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

var errProto = errors.New("gateway: hello refused")

// Send sends a command over the board's live connection, at most once, without waiting for the board. Error:
// board.ErrOffline, nothing was sent, see CMD-2.
func (g *Gateway) Send(_ context.Context, boardID string, c wire.Command) error {
	b := g.boards[boardID]
	if b == nil {
		return board.ErrOffline
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.live()
	if l == nil {
		return board.ErrOffline // [CMD-2]
	}
	l.seq++
	c.Epoch, c.Seq = l.epoch, l.seq
	b.ordered(c.ID)
	tell := func() { // before the board can act on it
		g.tell(b, history.Event{Kind: history.Publish, DoorID: c.DoorID, CommandID: c.ID, Epoch: c.Epoch, Op: c.Command, GrantID: c.GrantID,
			NotAfterMs: c.NotAfterMs - clock.Mono().Milliseconds()})
	}
	if !l.push(wire.DownCmd, encode(c), tell) {
		g.count.CommandsUnsent.Add(1)
		return board.ErrOffline
	}
	return nil
}

// Push sends synchronized content over the connection of an epoch; it returns false if that is no longer the board's
// connection.
func (g *Gateway) Push(boardID string, epoch int64, payload []byte) bool {
	b := g.boards[boardID]
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.live()
	return l != nil && l.epoch == epoch && l.push(wire.DownSync, payload, nil)
}

// Applied notes what a board has applied and persisted.
func (g *Gateway) Applied(boardID string, revision int64, digest string, at time.Time) {
	b := g.boards[boardID]
	if b == nil {
		return
	}
	b.mu.Lock()
	b.st.AppliedRevision, b.st.Digest, b.st.AppliedAt = revision, digest, at
	b.mu.Unlock()
	g.save(b)
}
