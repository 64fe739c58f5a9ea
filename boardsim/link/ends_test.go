package link_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim/link"
)

// A jump waits until the server has learned that a connection ended, unless it can't learn of it.
func TestEndsAreWorkUnderWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		state link.State
		end   func(*link.Line)
		want  int
	}{
		{"cut", link.State{}, (*link.Line).Cut, 1},
		{"closed", link.State{}, func(l *link.Line) { _ = l.Close() }, 1},
		{"nobody hears: half-open", link.State{HalfOpen: true}, func(l *link.Line) { _ = l.Close() }, 0},
		{"nobody hears: one-way up", link.State{OnewayUp: true}, func(l *link.Line) { _ = l.Close() }, 0},
		{"heard: one-way down", link.State{OnewayDown: true}, func(l *link.Line) { _ = l.Close() }, 1},
		{"half-open until now", link.State{HalfOpen: true}, func(l *link.Line) { l.Set(link.State{}) }, 1},
		{"behind a slow packet", link.State{Lossy: link.Lossy{DelayMs: 50}}, func(l *link.Line) {
			_, _ = l.Write(ping)
			_ = l.Close()
			time.Sleep(time.Second)
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.state)
				joined := r.flight.Join("b", r.server.RemoteAddr().String())
				if work, _ := r.flight.Pending(); work != 0 {
					t.Errorf("%d work while the connection stands, want none", work)
				}
				c.end(r.line)
				synctest.Wait()
				if work, _ := r.flight.Pending(); work != c.want {
					t.Errorf("%d work after the end, want %d", work, c.want)
				}
				joined.Left()
				_ = r.line.Close()
				if work, _ := r.flight.Pending(); work != 0 {
					t.Errorf("%d work once the server knows, want none", work)
				}
			})
		})
	}
}
