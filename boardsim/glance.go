package boardsim

import (
	"maps"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

// Glance is a board's state as far as it is cheap to get.
type Glance struct {
	BoardID   string
	Detached  bool // taken away: the rest says nothing
	Online    bool
	Phase     string
	OutageAge time.Duration // -1 = the clock is lost
}

// Glances are those of all boards, in the order of the world.
func (f *Fleet) Glances() []Glance {
	out := make([]Glance, 0, len(f.boards))
	wall := f.nowMs()
	for _, b := range f.boards {
		g := Glance{BoardID: b.id, Detached: b.detached.Load()}
		b.mu.Lock()
		mono := wall + b.shift
		age := b.s.Age(mono)
		g.Online, g.Phase = b.s.Outage.Online, b.s.Phase(mono)
		b.mu.Unlock()
		if g.OutageAge = time.Duration(age) * time.Millisecond; age < 0 {
			g.OutageAge = -1
		}
		out = append(out, g)
	}
	return out
}

// Believes is what a simulated board bases its decisions on: its content as a snapshot, and its outage policy. ok is
// false for an unknown or detached board.
func (f *Fleet) Believes(boardID string) (content wire.Sync, policy wire.Netloss, ok bool) {
	b := f.byID[boardID]
	if b == nil || b.detached.Load() {
		return wire.Sync{}, wire.Netloss{}, false
	}
	b.mu.Lock()
	policy = b.s.Netloss
	policy.Channels = maps.Clone(policy.Channels)
	c := b.s.Content // immutable
	b.mu.Unlock()
	return c.Snapshot(), policy, true
}
