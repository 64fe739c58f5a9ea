package gateway

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// A helper whose board's password was rotated while it was admitted has no connection that ends later, so it must not
// keep its place.
func TestAHelperThatIsNotAdmittedTakesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.boards["brd_1"]
		b.helpers.Add(1) // as OnConnect does, before it looks at the password again
		l := &link{b: b, conn: &guard{}, helper: true}
		if l.admit(board.HashPassword(nil, "brd_1", "rotated")) || l.conn.link.Load() != nil || b.helpers.Load() != 0 {
			t.Errorf("admitted with a wrong password: link %v, %d places taken, want none", l.conn.link.Load(), b.helpers.Load())
		}
		b.helpers.Add(1)
		if !l.admit(board.HashPassword(nil, "brd_1", "one")) || l.conn.link.Load() != l || b.helpers.Load() != 1 {
			t.Errorf("with the right password: link %v, %d places taken, want its own and one", l.conn.link.Load(), b.helpers.Load())
		}
	})
}

// A helper speaks for its board's connection. While there is none, nothing that it does shows that the board is alive.
func TestAHelperDoesNotShowThatItsBoardIsAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		b.line.Cut()
		synctest.Wait()
		seen := r.Status("brd_1").LastSeenAt
		time.Sleep(time.Minute)
		h := r.connect("brd_1/up")
		h.say(wire.UpPing, "{}")
		if s := r.Status("brd_1"); !s.LastSeenAt.Equal(seen) || seen.IsZero() {
			t.Errorf("last seen %s after its helper's message, want %s, when its connection ended", s.LastSeenAt, seen)
		}
		b = r.online("brd_1")
		time.Sleep(20 * time.Second)
		h.say(wire.UpPing, "{}")
		b.ack()
		if s := r.Status("brd_1"); !s.LastSeenAt.Equal(time.Now()) {
			t.Errorf("last seen %s, want %s, when its helper spoke for its connection", s.LastSeenAt, time.Now())
		}
	})
}
