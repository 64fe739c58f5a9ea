package gateway

import (
	"time"

	"github.com/doorlab/doorlab/server/board"
)

// Lazy writes: what changes often and can be learned again from the board is
// written in groups. First hellos and outage policies are not: they are
// written before anyone learns of them.

const (
	saveBatch = 200
	saveChunk = 25 * time.Millisecond // between two batches: commands go first
	seenEvery = 10 * time.Minute      // domain time, how far a last-seen may be behind after a crash
)

// save writes the board's state soon.
func (g *Gateway) save(b *peer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dirty[b] = true
	if g.saving || g.stopping {
		return
	}
	g.saving = true
	g.workers.Add(1)
	go func() {
		defer g.workers.Done()
		g.sleep(g.cfg.SaveEvery)
		for g.saveSome(saveBatch) {
			g.sleep(saveChunk)
		}
	}()
}

// saveSome writes up to n dirty boards; false ends the saver.
func (g *Gateway) saveSome(n int) (more bool) {
	g.mu.Lock()
	var batch []*peer
	for b := range g.dirty {
		if len(batch) == n {
			break
		}
		batch = append(batch, b)
		delete(g.dirty, b)
	}
	if len(batch) == 0 || g.stopping {
		for _, b := range batch {
			g.dirty[b] = true
		}
		g.saving = false
		g.mu.Unlock()
		return false
	}
	g.mu.Unlock()
	if err := g.write(batch); err != nil {
		g.cfg.Log.Warn("board states", "error", err)
		g.mu.Lock()
		for _, b := range batch {
			g.dirty[b] = true
		}
		g.mu.Unlock()
		g.sleep(g.cfg.SaveEvery)
	}
	return true
}

func (g *Gateway) write(batch []*peer) error {
	list := make([]board.State, 0, len(batch))
	for _, b := range batch {
		b.mu.Lock()
		if st := b.keep(); !st.FirstSeenAt.IsZero() {
			list = append(list, st)
		}
		b.mu.Unlock()
	}
	if len(list) == 0 {
		return nil
	}
	return g.cfg.Store.SaveBoardStates(list)
}

// keep is what is to be stored now. Called with mu held.
func (b *peer) keep() board.State {
	st := b.st
	if !st.FirstSeenAt.IsZero() {
		st.LastSeenAt = time.UnixMilli(b.seen.Load()).UTC()
		if b.live() != nil {
			st.LastSeenAt = b.lastSeen()
		}
	}
	return st
}

// saveSeen writes the boards that are online. Housekeeping.
func (g *Gateway) saveSeen() {
	for _, b := range g.boards {
		b.mu.Lock()
		online := b.live() != nil
		b.mu.Unlock()
		if online {
			g.save(b)
		}
	}
}

// flush writes everything that is still dirty, at the end.
func (g *Gateway) flush() {
	g.mu.Lock()
	var batch []*peer
	for b := range g.dirty {
		batch = append(batch, b)
		delete(g.dirty, b)
	}
	g.mu.Unlock()
	for len(batch) > 0 {
		n := min(saveBatch, len(batch))
		if err := g.write(batch[:n]); err != nil {
			g.cfg.Log.Warn("board states", "error", err)
		}
		batch = batch[n:]
	}
}
