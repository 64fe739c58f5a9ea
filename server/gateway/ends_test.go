package gateway

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
)

// slowly is a listener whose connections notify the server of their end late.
type slowly struct{ net.Listener }

func (l slowly) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return slow{c}, err
}

// slow is unwatched, so that the end shows up in Read.
type slow struct{ net.Conn }

func (s slow) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if err != nil {
		time.Sleep(time.Second)
	}
	return n, err
}

// A jump right after a connection ended waits until the server knows: the outage begins when the line went down, not
// after the jump.
func TestJumpWaitsForTheEndOfAConnection(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for name, end := range map[string]func(r *rig, b *tester){
		"by the board": func(r *rig, b *tester) {
			r.flight.Ends("brd_1", b.line.LocalAddr().String()) // like a simulated line
			_ = b.line.Close()
		},
		"by the server": func(r *rig, _ *tester) { r.Rotated("brd_1", "another password") },
	} {
		bubble(t, name, func(t *testing.T) {
			var virtual *clock.Virtual
			r := newRig(t, func(c *Config) {
				virtual = clock.NewVirtual(start, c.Flight)
				virtual.Freeze()
				c.Clock = virtual
			})
			r.lis = pipe.NewListener("slow")
			lis := r.lis
			go func() { _ = r.Serve(slowly{lis}) }()
			synctest.Wait()
			b := r.online("brd_1")
			end(r, b)
			must.OK(t, virtual.Advance(start.Add(time.Hour)))
			if s := r.Status("brd_1"); s.State != "offline" || !s.Since.Equal(start) {
				t.Errorf("after the jump the board is %s since %s, want offline since %s", s.State, s.Since, start)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, e := range r.events {
				if e.Kind == history.Offline && e.At != start.UnixMilli() {
					t.Errorf("the history has the end at %s, want %s", time.UnixMilli(e.At).UTC(), start)
				}
			}
			if work, _ := r.flight.Pending(); work != 0 {
				t.Errorf("%d work is left in the flight, want none", work)
			}
		})
	}
}
