package gateway

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// TestStop: everything is written and nothing is left running (the bubble would notice).
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.SaveEvery = time.Hour })
		r.online("brd_1")
		r.connect("brd_2")
		r.connect("brd_1/up")
		half := r.dial()
		_, _ = half.Write([]byte{0x10})
		waits := make(chan error, 1)
		go func() {
			_, err := r.SetNetloss(t.Context(), owner, "brd_1", wire.Netloss{GraceSec: 1})
			waits <- err
		}()
		synctest.Wait()
		r.Stop()
		r.Stop()
		if err := <-waits; !errors.Is(err, board.ErrLost) && !errors.Is(err, board.ErrNoAnswer) {
			t.Errorf("got %v, want ErrLost or ErrNoAnswer", err)
		}
		if st := r.store.state(); st.Online || st.FirstSeenAt.IsZero() || st.Since.IsZero() {
			t.Errorf("stored %+v, want the board offline, seen, and since when", st)
		}
		l := pipe.NewListener("late")
		if err := r.Serve(l); err != nil {
			t.Error(err)
		}
		if _, err := l.Dial(t.Context()); err == nil {
			t.Error("a listener that is served late stays open")
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{}); !errors.Is(err, board.ErrOffline) {
			t.Errorf("got %v, want err to be board.ErrOffline", err)
		}
		_ = half.Close()
	})
}

// flaky fails to accept for a while.
type flaky struct {
	*pipe.Listener
	left int
}

func (f *flaky) Accept() (net.Conn, error) {
	if f.left > 0 {
		f.left--
		return nil, errors.New("too many open files")
	}
	return f.Listener.Accept()
}

func TestServe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		f := &flaky{pipe.NewListener("flaky"), 6}
		done := make(chan error, 1)
		go func() { done <- r.Serve(f) }()
		start := time.Now()
		conn := must.Get(f.Dial(t.Context()))(t)
		if took := time.Since(start); took != 315*time.Millisecond || r.Counts().AcceptErrors.Load() != 6 {
			t.Errorf("got %s, %d errors, want %s and 6", took, r.Counts().AcceptErrors.Load(), 315*time.Millisecond)
		}
		_, _ = conn.Write(good("brd_1").bytes())
		if got, _ := answer(t, conn); len(got) != 4 {
			t.Errorf("got %x, want a CONNACK", got)
		}
		_ = f.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want err to be net.ErrClosed", err)
		}
		_ = conn.Close()
	})
}

// TestSaving: writes are batched, and retried.
func TestSaving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		for i := range 50 {
			b.say(wire.UpState, wire.State{Doors: []wire.Standing{{Channel: 1, State: "open", Leaf: "open", Since: int64(i)}}})
		}
		r.store.broken(errors.New("disk full"))
		r.store.mu.Lock()
		saves := r.store.saves
		r.store.mu.Unlock()
		time.Sleep(10 * time.Second)
		r.store.broken(nil)
		time.Sleep(2 * time.Second)
		st := r.store.state()
		if saves != 1 || st.Standings[1].Since != 49 || st.Standings[1].DoorID != "dor_1" || !st.Online {
			t.Errorf("got %d writes, then %+v, want 1, Standings[1].Since 49, Standings[1].DoorID dor_1 and Online true", saves, st)
		}
	})
}
