package gateway

import (
	"maps"
	"slices"
	"time"

	"github.com/doorlab/doorlab/server/board"
)

// Lazy writes: what changes often and can be learned from the board again is written in groups. First hellos, and outage
// policies that somebody waits for, are written before anyone is told of them.

const (
	saveBatch = 100
	saveChunk = 25 * time.Millisecond // pause between batches: commands go first
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
	g.workers.Go(func() {
		for more := true; more; {
			g.sleep(g.cfg.SaveEvery)
			more = g.saveRound()
		}
	})
}

// saveRound writes the boards that are dirty by now, each once: a busy board becomes dirty again at once, and waits for
// the next round. It returns false to end the saver.
func (g *Gateway) saveRound() (more bool) {
	g.mu.Lock()
	round := slices.Collect(maps.Keys(g.dirty))
	g.saving = len(round) > 0 && !g.stopping
	more = g.saving
	g.mu.Unlock()
	if !more {
		return false
	}
	for batch := range slices.Chunk(round, saveBatch) {
		if !g.saveSome(batch) {
			return true
		}
		g.sleep(saveChunk)
	}
	return true
}

// saveSome writes some dirty boards. If it can't, they stay dirty.
func (g *Gateway) saveSome(batch []*peer) bool {
	g.mu.Lock()
	if g.stopping { // flush writes what is dirty
		g.mu.Unlock()
		return false
	}
	for _, b := range batch {
		delete(g.dirty, b)
	}
	g.mu.Unlock()
	err := g.write(batch)
	if err == nil {
		return true
	}
	g.cfg.Log.Warn("what is known about boards could not be written", "error", err)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range batch {
		g.dirty[b] = true
	}
	return false
}

// write writes the boards' states. Meanwhile no newer state of these boards may be written: this write would undo it.
func (g *Gateway) write(batch []*peer) error {
	list, owing := make([]board.State, 0, len(batch)), []*peer(nil)
	for _, b := range batch {
		b.keeping.Lock()
		b.mu.Lock()
		st, owes := b.keep(), len(b.unkept) > 0
		b.mu.Unlock()
		if owes {
			b.keeping.Unlock()
			owing = append(owing, b)
			continue
		}
		defer b.keeping.Unlock()
		if !st.FirstSeenAt.IsZero() {
			list = append(list, st)
		}
	}
	for _, b := range owing {
		if err := b.keepNow(); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	return g.cfg.Store.SaveBoardStates(list)
}

// owes reports whether the record of a confirmed change isn't on disk yet.
func (b *peer) owes() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.unkept) > 0
}

// keepNow writes the board's state, in one transaction with the records that it owes.
func (b *peer) keepNow() error {
	b.keeping.Lock()
	defer b.keeping.Unlock()
	b.mu.Lock()
	st, changes := b.keep(), b.unkept
	b.mu.Unlock()
	if len(changes) == 0 {
		return b.g.cfg.Store.SaveBoardStates([]board.State{st})
	}
	if err := b.g.cfg.Records.Configured(st, changes); err != nil {
		return err
	}
	b.mu.Lock()
	b.unkept = b.unkept[len(changes):] // others may have come meanwhile
	b.mu.Unlock()
	return nil
}

// keep is the state to store now. Called with mu held.
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

// saveSeen marks the boards that are online as dirty, so that their last contact is written. Housekeeping.
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
	left := slices.Collect(maps.Keys(g.dirty))
	clear(g.dirty)
	g.mu.Unlock()
	for batch := range slices.Chunk(left, saveBatch) {
		if err := g.write(batch); err != nil {
			g.cfg.Log.Warn("what is known about boards could not be written", "error", err)
		}
	}
}
