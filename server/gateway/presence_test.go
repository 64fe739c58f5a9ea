package gateway

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	memory "github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/wire"
)

func TestPresence(t *testing.T) {
	t.Parallel()
	bubble(t, "unknown, online, offline, online", func(t *testing.T) {
		r := newRig(t)
		b := r.connect("brd_1")
		if s := r.Status("brd_1"); s.State != "unknown" || !s.LastSeenAt.IsZero() || s.Netloss.GraceSec != 129600 || s.Netloss.Channels[2] != "close" {
			t.Errorf("connected only: %+v", s)
		}
		start := time.Now()
		b.say(wire.UpHello, wire.Hello{Proto: 1, Revision: 7, Buffered: 2, Dropped: 1, Doors: []wire.Standing{{Channel: 2, State: "unlocked", Leaf: "closed"}, {Channel: 9, State: "open", Leaf: "open"}}})
		a := b.ack()
		s := r.Status("brd_1")
		if a.Type != wire.AckHello || !a.Accepted || a.Epoch == 0 || a.Epoch != s.Epoch || a.Time != start.UnixMilli() {
			t.Errorf("%+v", a)
		}
		if s.State != "online" || !s.Since.Equal(start) || s.Buffered != 2 || s.Dropped != 1 || len(s.Standings) != 1 || s.Standings[2].DoorID != "dor_2" {
			t.Errorf("%+v", s)
		}
		if st := r.store.state("brd_1"); st.FirstSeenAt.IsZero() {
			t.Error("the first hello was not written at once")
		}
		time.Sleep(time.Minute)
		b.Disconnect(0)
		synctest.Wait()
		s = r.Status("brd_1")
		if s.State != "offline" || s.Epoch != 0 || !s.Since.Equal(start.Add(time.Minute)) {
			t.Errorf("%+v", s)
		}
		r.online("brd_1")
		if got := r.Status("brd_1").Epoch; got <= a.Epoch {
			t.Errorf("epoch %d after %d", got, a.Epoch)
		}
		if got := r.kinds("online", "offline"); got != "online 1; offline 1; online 2" {
			t.Error(got)
		}
		if got := r.backs.all(); got != "connected brd_1 1 rev 7; gone brd_1 1; connected brd_1 2 rev 0" {
			t.Error(got)
		}
	})
	bubble(t, "a second hello keeps the epoch", func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		was := r.Status("brd_1").Epoch
		b.say(wire.UpHello, wire.Hello{Proto: 1, Revision: 3})
		if a := b.ack(); a.Epoch != was || r.Snapshot().Online != 1 {
			t.Errorf("%+v", a)
		}
	})
	bubble(t, "silent: the keep-alive ends it", func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		start := time.Now()
		b.line.Set(memory.State{HalfOpen: true})
		time.Sleep(44 * time.Second)
		if r.Status("brd_1").State != "online" {
			t.Error("offline before 1.5 times the keep-alive")
		}
		time.Sleep(4 * time.Second)
		s := r.Status("brd_1")
		if took := s.Since.Sub(start); s.State != "offline" || took < 45*time.Second || took > 47*time.Second {
			t.Errorf("%s after %s", s.State, took)
		}
		b.line.Cut()
	})
	bubble(t, "a later life", func(t *testing.T) {
		r := newRig(t)
		r.online("brd_1")
		old := r.Status("brd_1")
		r.Stop()
		if s := r.Status("brd_1"); s.State != "offline" {
			t.Errorf("stopped: %+v", s)
		}
		r.store.mu.Lock()
		st := r.store.states["brd_1"]
		st.Online, st.LastSeenAt = true, st.LastSeenAt.Add(time.Hour) // as after a kill
		r.store.states["brd_1"] = st
		r.store.mu.Unlock()
		r.lis = memory.NewListener("again")
		r.start()
		if s := r.Status("brd_1"); s.State != "offline" || !s.Since.Equal(st.LastSeenAt) || !s.LastSeenAt.Equal(st.LastSeenAt) {
			t.Errorf("%+v", s)
		}
		r.online("brd_1")
		if now := r.Status("brd_1"); now.Epoch <= old.Epoch {
			t.Errorf("epoch %d after %d", now.Epoch, old.Epoch)
		}
	})
	bubble(t, "a jump of time is contact", func(t *testing.T) {
		v := clock.NewVirtual(time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC), nil)
		v.Freeze()
		r := newRig(t, func(c *Config) { c.Clock = v })
		r.online("brd_1")
		to := v.Now().Add(36 * time.Hour)
		if err := v.Advance(to); err != nil {
			t.Fatal(err)
		}
		if s := r.Status("brd_1"); s.State != "online" || !s.LastSeenAt.Equal(to) {
			t.Errorf("%+v", s)
		}
	})
}

// TestTakeover: presence belongs to the connection that said hello last.
func TestTakeover(t *testing.T) {
	t.Parallel()
	bubble(t, "the old one's end comes late", func(t *testing.T) {
		r := newRig(t)
		a := r.online("brd_1")
		old := r.boards["brd_1"].cur
		b := r.online("brd_1")
		if !a.ended() {
			t.Error("the old connection was not closed")
		}
		epoch := r.Status("brd_1").Epoch
		r.boards["brd_1"].enqueue(item{l: old, channel: wire.UpRpt, payload: encode(wire.Report{CommandID: "cmd_1", Result: "ok"})})
		r.boards["brd_1"].enqueue(item{l: old, channel: wire.UpHello, payload: encode(wire.Hello{Proto: 1})})
		r.boards["brd_1"].enqueue(item{l: old}) // its end, once more
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "online" || s.Epoch != epoch {
			t.Errorf("%+v", s)
		}
		if got := r.kinds("online", "offline"); got != "online 1; offline 1; online 2" {
			t.Error(got)
		}
		if n := r.Snapshot(); n.Takeovers != 1 || n.Online != 1 || n.Reports != 0 {
			t.Errorf("%+v", n)
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_2"}); err != nil || next[wire.Command](b, wire.DownCmd).Epoch != epoch {
			t.Error(err)
		}
	})
	bubble(t, "by one that says no hello", func(t *testing.T) {
		r := newRig(t)
		r.online("brd_1")
		r.connect("brd_1")
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "offline" {
			t.Errorf("%+v", s)
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{}); !errors.Is(err, ErrOffline) {
			t.Error(err)
		}
	})
	bubble(t, "of a board that has stopped reading", func(t *testing.T) {
		r := newRig(t)
		a := r.online("brd_1")
		a.line.Set(memory.State{OnewayDown: true})
		for range 100 {
			_ = r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_1"})
		}
		r.online("brd_1")
		if work, open := r.flight.Pending(); work != 0 || open > 1 { // the answer to hello: paho does not count
			t.Errorf("in flight: %d %d", work, open)
		}
		a.line.Cut()
	})
	bubble(t, "over and over", func(t *testing.T) {
		r := newRig(t)
		var last *tester
		for range 20 {
			last = r.online("brd_1")
		}
		if s := r.Status("brd_1"); s.State != "online" || r.Snapshot().Online != 1 || r.Snapshot().Connected != 1 {
			t.Errorf("%+v %+v", s, r.Snapshot())
		}
		last.Disconnect(0)
		synctest.Wait()
		if n := r.Snapshot(); n.Online != 0 || n.Connected != 0 || r.Status("brd_1").State != "offline" {
			t.Errorf("%+v", n)
		}
	})
}

func TestHelloIsRefused(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]string{"another protocol": `{"proto":2}`, "none": `{}`, "not JSON": `hello`, "a list": `[1]`,
		"negative revision": `{"proto":1,"revision":-1}`, "age": `{"proto":1,"outageAgeMs":-2}`, "policy": `{"proto":1,"netloss":{"graceSec":700000}}`,
		"a long digest": `{"proto":1,"digest":"` + sprintf("%065d", 0) + `"}`} {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t)
			b := r.connect("brd_1")
			b.say(wire.UpHello, payload)
			if !b.ended() || r.Status("brd_1").State != "unknown" || r.Snapshot().Refused != 1 || r.backs.all() != "" {
				t.Errorf("%+v %s", r.Snapshot(), r.backs.all())
			}
			b.quiet()
		})
	}
	bubble(t, "when it cannot be remembered", func(t *testing.T) {
		r := newRig(t)
		r.store.broken(errors.New("disk full"))
		b := r.connect("brd_1")
		b.say(wire.UpHello, wire.Hello{Proto: 1})
		if !b.ended() || r.Status("brd_1").State != "unknown" {
			t.Error("shown, but not stored")
		}
		r.store.broken(nil)
		r.online("brd_1")
	})
	bubble(t, "nothing counts before it", func(t *testing.T) {
		r := newRig(t)
		b := r.connect("brd_1")
		for _, ch := range wire.Up[1:] {
			b.say(ch, `{}`)
		}
		b.quiet()
		if n := r.Snapshot(); n.Early != 6 || r.backs.all() != "" {
			t.Errorf("%+v %s", n, r.backs.all())
		}
	})
}

func TestSend(t *testing.T) {
	t.Parallel()
	bubble(t, "to nobody", func(t *testing.T) {
		r := newRig(t)
		b := r.connect("brd_1")
		for _, id := range []string{"brd_1", "brd_2", "brd_9"} { // no hello, never connected, no such board
			if err := r.Send(t.Context(), id, wire.Command{ID: "cmd_1"}); !errors.Is(err, ErrOffline) {
				t.Errorf("%s: %v", id, err)
			}
			if r.Push(id, 1, []byte("{}")) {
				t.Errorf("%s: content was sent", id)
			}
		}
		b.quiet()
		if r.kinds("publish") != "" {
			t.Error("told of a publish")
		}
	})
	bubble(t, "in order, to the epoch", func(t *testing.T) {
		r := newRig(t)
		b := r.online("brd_1")
		epoch := r.Status("brd_1").Epoch
		for i := range int64(3) {
			if err := r.Send(t.Context(), "brd_1", wire.Command{ID: sprintf("cmd_%d", i), Command: "open", NotAfterMs: 5}); err != nil {
				t.Fatal(err)
			}
			if c := next[wire.Command](b, wire.DownCmd); c.Seq != i+1 || c.Epoch != epoch || c.ID != sprintf("cmd_%d", i) || c.NotAfterMs != 5 {
				t.Errorf("%+v", c)
			}
		}
		if r.kinds("publish") != "publish 1; publish 1; publish 1" {
			t.Error(r.kinds("publish"))
		}
		if r.Push("brd_1", epoch+1, []byte("{}")) || !r.Push("brd_1", epoch, []byte(`{"to":1}`)) {
			t.Error("content went to another epoch")
		}
		if y := next[wire.Sync](b, wire.DownSync); y.To != 1 {
			t.Errorf("%+v", y)
		}
		b.Disconnect(0)
		synctest.Wait()
		if err := r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_9"}); !errors.Is(err, ErrOffline) {
			t.Error(err)
		}
	})
	bubble(t, "to a board that does not read", func(t *testing.T) {
		r := newRig(t)
		conn := r.dial()
		_, _ = conn.Write(good("brd_1").bytes())
		_, _ = conn.Write(publish("sac/v1/brd_1/hello", `{"proto":1}`))
		synctest.Wait()
		big := make([]byte, 1<<20)
		start, sent := time.Now(), 0
		for r.Push("brd_1", r.Status("brd_1").Epoch, big) {
			sent++
		}
		if sent > maxOut+2 || time.Since(start) > 0 {
			t.Errorf("%d sent in %s", sent, time.Since(start))
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{}); !errors.Is(err, ErrOffline) || r.Snapshot().CommandsUnsent != 1 {
			t.Error(err, r.Snapshot().CommandsUnsent)
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "offline" || s.Since.Sub(start) > 6*time.Second {
			t.Errorf("%s, %s", s.State, s.Since.Sub(start))
		}
		_ = conn.Close()
	})
}

func publish(topic, payload string) []byte {
	b := append([]byte{0x30, byte(2 + len(topic) + len(payload)), 0, byte(len(topic))}, topic...)
	return append(b, payload...)
}

// TestStop: nothing is left (the bubble would see it), everything is written.
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
			_, err := r.SetNetloss(t.Context(), "brd_1", wire.Netloss{GraceSec: 1})
			waits <- err
		}()
		synctest.Wait()
		r.Stop()
		r.Stop()
		if err := <-waits; !errors.Is(err, ErrLost) && !errors.Is(err, ErrNoAnswer) {
			t.Error(err)
		}
		if st := r.store.state("brd_1"); st.Online || st.FirstSeenAt.IsZero() || st.Since.IsZero() {
			t.Errorf("%+v", st)
		}
		l := memory.NewListener("late")
		if err := r.Serve(l); err != nil {
			t.Error(err)
		}
		if _, err := l.Dial(t.Context()); err == nil {
			t.Error("a listener that is served late stays open")
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{}); !errors.Is(err, ErrOffline) {
			t.Error(err)
		}
		_ = half.Close()
	})
}

// flaky accepts nothing for a while.
type flaky struct {
	*memory.Listener
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
		f := &flaky{memory.NewListener("flaky"), 6}
		done := make(chan error, 1)
		go func() { done <- r.Serve(f) }()
		start := time.Now()
		conn, err := f.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 315*time.Millisecond || r.Snapshot().AcceptErrors != 6 {
			t.Errorf("%s, %d errors", took, r.Snapshot().AcceptErrors)
		}
		_, _ = conn.Write(good("brd_1").bytes())
		if got, _ := answer(t, conn); len(got) != 4 {
			t.Errorf("%x", got)
		}
		_ = f.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		_ = conn.Close()
	})
}

// TestSaving: writes are grouped, and tried again.
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
		st := r.store.state("brd_1")
		if saves != 1 || st.Standings[1].Since != 49 || st.Standings[1].DoorID != "dor_1" || !st.Online {
			t.Errorf("%d writes, then %+v", saves, st)
		}
	})
}
