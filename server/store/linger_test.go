package store

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// TestGather: the writer sleeps until the writes it expects are queued or its time is up, and leftovers of an earlier
// wait don't end the next one.
func TestGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gather{over: make(chan struct{}, 1)}
		queued := 0
		took := func() time.Duration {
			began := clock.Mono()
			g.wait(3, time.Second, func() int { return queued })
			return clock.Mono() - began
		}
		if d := took(); d != time.Second {
			t.Errorf("without writes: waited %s, want 1s", d)
		}
		g.came(3) // nobody is waiting: must be forgotten
		notify(g.over)
		clock.WallAfter(100*time.Millisecond, func() { g.came(2) })
		clock.WallAfter(200*time.Millisecond, func() { g.came(3) })
		if d := took(); d != 200*time.Millisecond {
			t.Errorf("with enough writes after 200ms: waited %s, want 200ms", d)
		}
		if queued = 3; took() != 0 {
			t.Error("waited for writes that were queued already, want no wait")
		}
	})
}
