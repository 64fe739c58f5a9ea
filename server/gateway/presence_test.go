package gateway

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

func TestPresence(t *testing.T) {
	t.Parallel()
	rigged(t, "unknown, online, offline, online", func(t *testing.T, r *rig) {
		b := r.connect("brd_1")
		if s := r.Status("brd_1"); s.State != "unknown" || !s.LastSeenAt.IsZero() || s.Policy.GraceSec != 129600 || s.Policy.Channels[2] != "close" {
			t.Errorf("connected only: got %+v, want unknown, never seen, and the default policy", s)
		}
		start := time.Now()
		b.say(wire.UpHello, wire.Hello{Proto: 2, Revision: 7, Buffered: 2, Dropped: 1, Doors: []wire.Standing{{Channel: 2, State: "unlocked", Leaf: "closed"}, {Channel: 9, State: "open", Leaf: "open"}}})
		a := b.ack()
		s := r.Status("brd_1")
		if a.Type != wire.AckHello || !a.Accepted || a.Epoch == 0 || a.Epoch != s.Epoch || a.Time != start.UnixMilli() {
			t.Errorf("the hello is answered with %+v, want it accepted at %d under the epoch %d", a, start.UnixMilli(), s.Epoch)
		}
		if s.State != "online" || !s.Since.Equal(start) || s.Buffered != 2 || s.Dropped != 1 || len(s.Standings) != 1 || s.Standings[2].DoorID != "dor_2" {
			t.Errorf(`got %+v, want s.State = "online", s.Since at start, s.Buffered = 2, s.Dropped = 1, len(s.Standings) = 1, s.Standings[2].DoorID = "dor_2"`, s)
		}
		b.say(wire.UpRec, wire.Records{Records: []wire.Record{onsite(1)}, Dropped: 1})
		if b.ack(); r.Status("brd_1").Buffered != 1 {
			t.Errorf("one of two buffered records came in: %d left, want 1", r.Status("brd_1").Buffered)
		}
		if st := r.store.state(); st.FirstSeenAt.IsZero() {
			t.Error("the first hello was not written at once")
		}
		time.Sleep(time.Minute)
		b.say(wire.UpPing, struct{}{})
		b.ack()
		if s := r.Status("brd_1"); s.Standings[2].ReportedAt != start.UnixMilli() || !s.LastSeenAt.Equal(start.Add(time.Minute)) {
			t.Errorf("after a ping: standing reported at %d, last seen %v; want the hello's time and now", s.Standings[2].ReportedAt, s.LastSeenAt)
		}
		b.say(wire.UpHello, wire.Hello{Proto: wire.Version, Revision: 7})
		b.ack()
		if s := r.Status("brd_1"); s.State != "online" || !s.Since.Equal(start) {
			t.Errorf("after a second hello: %s since %v, want online since %v", s.State, s.Since, start)
		}
		b.Disconnect(0)
		synctest.Wait()
		s = r.Status("brd_1")
		if s.State != "offline" || s.Epoch != 0 || !s.Since.Equal(start.Add(time.Minute)) {
			t.Errorf(`got %+v, want s.State = "offline", s.Epoch = 0, s.Since at start.Add(time.Minute)`, s)
		}
		r.online("brd_1")
		if got := r.Status("brd_1").Epoch; got <= a.Epoch {
			t.Errorf("epoch %d after %d, want it to rise", got, a.Epoch)
		}
		if got := r.kinds("online", "offline"); got != "online 1; offline 1; online 2" {
			t.Errorf(`got %v, want "online 1; offline 1; online 2"`, got)
		}
		if got := r.backs.all(); got != "connected brd_1 1 rev 7; connected brd_1 1 rev 7; gone brd_1 1; connected brd_1 2 rev 0" {
			t.Errorf(`got %v, want "connected brd_1 1 rev 7; connected brd_1 1 rev 7; gone brd_1 1; connected brd_1 2 rev 0"`, got)
		}
	})
}

func TestPresenceFollowsTheLine(t *testing.T) {
	t.Parallel()
	rigged(t, "a second hello keeps the epoch", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		was := r.Status("brd_1").Epoch
		b.say(wire.UpHello, wire.Hello{Proto: 2, Revision: 3})
		if a := b.ack(); a.Epoch != was || r.Counts().Online.Load() != 1 {
			t.Errorf("the second hello has epoch %d and %d boards are online, want epoch %d and one", a.Epoch, r.Counts().Online.Load(), was)
		}
	})
	rigged(t, "silent: the keep-alive ends it", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		start := time.Now()
		b.line.up.Store(true)
		b.line.down.Store(true)
		time.Sleep(44 * time.Second)
		if r.Status("brd_1").State != "online" {
			t.Error("offline before 1.5 times the keep-alive")
		}
		time.Sleep(4 * time.Second)
		s := r.Status("brd_1")
		if took := s.Since.Sub(start); s.State != "offline" || took < 45*time.Second || took > 47*time.Second {
			t.Errorf("%s after %s, want offline after 45 to 47 s", s.State, took)
		}
		b.line.Cut()
	})
	rigged(t, "a later life", func(t *testing.T, r *rig) {
		r.online("brd_1")
		old := r.Status("brd_1")
		r.Stop()
		if s := r.Status("brd_1"); s.State != "offline" {
			t.Errorf("stopped: got %+v, want State offline", s)
		}
		r.store.mu.Lock()
		st := r.store.states["brd_1"]
		st.Online, st.LastSeenAt = true, st.LastSeenAt.Add(time.Hour) // as after a kill
		r.store.states["brd_1"] = st
		r.store.mu.Unlock()
		r.lis = pipe.NewListener("again")
		r.start()
		if s := r.Status("brd_1"); s.State != "offline" || !s.Since.Equal(st.LastSeenAt) || !s.LastSeenAt.Equal(st.LastSeenAt) {
			t.Errorf(`got %+v, want s.State = "offline", s.Since at st.LastSeenAt, s.LastSeenAt at st.LastSeenAt`, s)
		}
		r.online("brd_1")
		if now := r.Status("brd_1"); now.Epoch <= old.Epoch {
			t.Errorf("epoch %d after %d, want it to rise", now.Epoch, old.Epoch)
		}
	})
	bubble(t, "a jump of time is contact", func(t *testing.T) {
		v := clock.NewVirtual(time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC), nil)
		v.Freeze()
		r := newRig(t, func(c *Config) { c.Clock = v })
		b := r.online("brd_1")
		to := v.Now().Add(36 * time.Hour)
		must.OK(t, v.Advance(to))
		if s := r.Status("brd_1"); s.State != "online" || !s.LastSeenAt.Equal(to) {
			t.Errorf(`got %+v, want s.State = "online", s.LastSeenAt at to`, s)
		}
		b.line.Cut()
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "offline" || !s.LastSeenAt.Equal(to) {
			t.Errorf("after the cut: %s, last seen %v; want offline, last seen at %v as before", s.State, s.LastSeenAt, to)
		}
		r.Stop()
		r.lis = pipe.NewListener("again")
		r.start(func(c *Config) { c.Clock = v })
		if s := r.Status("brd_1"); s.State != "offline" || !s.LastSeenAt.Equal(to) {
			t.Errorf("after a restart: %s, last seen %v; want offline, last seen at %v as before", s.State, s.LastSeenAt, to)
		}
	})
}

// TestTakeover: presence belongs to the connection that said hello last.
func TestTakeover(t *testing.T) {
	t.Parallel()
	rigged(t, "the old one's end comes late", func(t *testing.T, r *rig) {
		a := r.online("brd_1")
		old := r.boards["brd_1"].cur
		b := r.online("brd_1")
		if !a.ended() {
			t.Error("the old connection was not closed")
		}
		epoch := r.Status("brd_1").Epoch
		r.boards["brd_1"].enqueue(item{l: old, channel: wire.UpRpt, payload: encode(wire.Report{CommandID: "cmd_1", Result: "ok"})})
		r.boards["brd_1"].enqueue(item{l: old, channel: wire.UpHello, payload: encode(wire.Hello{Proto: 2})})
		r.boards["brd_1"].enqueue(item{l: old}) // its end is reported a second time
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "online" || s.Epoch != epoch {
			t.Errorf(`got %+v, want s.State = "online", s.Epoch = epoch`, s)
		}
		if got := r.kinds("online", "offline"); got != "online 1; offline 1; online 2" {
			t.Errorf(`got %v, want "online 1; offline 1; online 2"`, got)
		}
		if n := r.Counts(); n.Takeovers.Load() != 1 || n.Online.Load() != 1 || n.Reports.Load() != 0 {
			t.Errorf("got %+v, want n.Takeovers = 1, n.Online = 1, n.Reports = 0", n)
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_2"}); err != nil || next[wire.Command](b, wire.DownCmd).Epoch != epoch {
			t.Errorf("got %v, want no error, next[wire.Command](b, wire.DownCmd).Epoch = epoch", err)
		}
	})
	rigged(t, "by one that says no hello", func(t *testing.T, r *rig) {
		r.online("brd_1")
		r.connect("brd_1")
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "offline" {
			t.Errorf(`got %+v, want s.State = "offline"`, s)
		}
		if err := r.Send(t.Context(), "brd_1", wire.Command{}); !errors.Is(err, board.ErrOffline) {
			t.Errorf("got %v, want err to be board.ErrOffline", err)
		}
	})
	rigged(t, "of a board that has stopped reading", func(t *testing.T, r *rig) {
		a := r.online("brd_1")
		a.line.down.Store(true)
		for range 100 {
			_ = r.Send(t.Context(), "brd_1", wire.Command{ID: "cmd_1"})
		}
		r.online("brd_1")
		if work, open := r.flight.Pending(); work != 0 || open > 1 { // the answer to hello: paho doesn't count it
			t.Errorf("in flight: got %d %d, want 0 and at most 1", work, open)
		}
		a.line.Cut()
	})
	rigged(t, "over and over", func(t *testing.T, r *rig) {
		var last *tester
		for range 20 {
			last = r.online("brd_1")
		}
		if s := r.Status("brd_1"); s.State != "online" || r.Counts().Online.Load() != 1 || r.Counts().Connected.Load() != 1 {
			t.Errorf(`got %+v %+v, want s.State = "online", r.Counts().Online = 1, r.Counts().Connected = 1`, s, r.Counts())
		}
		last.Disconnect(0)
		synctest.Wait()
		if n := r.Counts(); n.Online.Load() != 0 || n.Connected.Load() != 0 || r.Status("brd_1").State != "offline" {
			t.Errorf(`got %+v, want n.Online = 0, n.Connected = 0, r.Status("brd_1").State = "offline"`, n)
		}
	})
}
