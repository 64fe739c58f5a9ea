package gateway

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// TestStandingByAWrongClock: a board of this process jumps with the server, so a time of its message that isn't now shows that
// its wall clock is wrong, also right after a jump. One of another process may have jumped already, or not yet.
func TestStandingByAWrongClock(t *testing.T) {
	t.Parallel()
	for _, here := range []bool{true, false} {
		start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		v := clock.NewVirtual(start, nil)
		r := newRig(t, func(c *Config) { c.Clock, c.Counted = v, func(string) bool { return here } })
		v.Freeze()
		must.OK(t, v.Advance(start.Add(2*time.Hour)))
		now := r.now().UnixMilli()
		for name, off := range map[string]int64{"half an hour fast": 1_800_000, "an hour slow": -3_600_000} {
			b := newPeer(r.Gateway, seed()["brd_1"])
			until := now + off + 600_000
			b.mu.Lock()
			b.heard(board.ByHello, now+off, []wire.Standing{{Channel: 1, State: "unlocked", Leaf: "closed", Since: now + off - 60_000, Held: true, HoldUntil: &until}}, r.now())
			b.mu.Unlock()
			got := b.status().Standings[1]
			moved := *got.HoldUntil == now+600_000 && got.Since == now-60_000
			if moved != here {
				t.Errorf("%s, in this process %t: the hold ends %d ms from now since %d ms, want both on the server's clock: %t", name, here, *got.HoldUntil-now, now-got.Since, here)
			}
		}
	}
}
