package gateway

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/record"
)

type setting struct {
	got  wire.Netloss
	err  error
	took time.Duration
}

// set calls SetNetloss in the background.
func (r *rig) set(ctx context.Context, id string, n wire.Netloss) chan setting {
	out := make(chan setting, 1)
	start := time.Now()
	go func() {
		got, err := r.SetNetloss(ctx, owner, id, n)
		out <- setting{got, err, time.Since(start)}
	}()
	synctest.Wait()
	return out
}

var owner = record.By{PlaceID: "plc_a", KeyID: "key_a", KeyName: "partner", RequestID: "req_1"}

var somePolicy = wire.Netloss{GraceSec: 60, Channels: map[int]string{1: "open", 2: "off"}}

func TestNetloss(t *testing.T) {
	t.Parallel()
	rigged(t, "ok", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		for version := range int64(2) {
			policy := wire.Netloss{GraceSec: 60, Channels: map[int]string{1: "open", 2: []string{"hold", "off"}[version]}}
			res := r.set(t.Context(), "brd_1", policy)
			c := next[wire.Config](b, wire.DownCfg)
			if c.ID == "" || c.Netloss.Version != version+1 || c.Netloss.Channels[1] != "open" {
				t.Errorf("sent %+v, want the policy as version %d with an id", c, version+1)
			}
			time.Sleep(3 * time.Second)
			if r.Status("brd_1").Policy.Version != version {
				t.Error("shown before the board confirmed it")
			}
			b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: c.ID, Result: "ok", Netloss: &c.Netloss})
			if x := <-res; x.err != nil || x.got.Version != version+1 || x.got.GraceSec != 60 || !maps.Equal(x.got.Channels, policy.Channels) || x.took != 3*time.Second {
				t.Errorf("got %+v, want %+v as version %d after 3 s", x, policy, version+1)
			}
			if n := r.store.state().Policy; n == nil || n.Version != version+1 {
				t.Errorf("stored: got %+v, want Version %v", n, version+1)
			}
		}
		if s := r.Status("brd_1"); s.Policy.Version != 2 || !s.PolicyAppliedAt.Equal(time.Now()) {
			t.Errorf("got %+v, want s.Policy.Version = 2, s.PolicyAppliedAt at time.Now()", s)
		}
	})
	rigged(t, "ok without saying what", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		res := r.set(t.Context(), "brd_1", somePolicy)
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: next[wire.Config](b, wire.DownCfg).ID, Result: "ok"})
		if x := <-res; x.err != nil || x.got.GraceSec != 60 {
			t.Errorf("got %+v, want x.err = nil, x.got.GraceSec = 60", x)
		}
	})
	rigged(t, "refused", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		res := r.set(t.Context(), "brd_1", somePolicy)
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: "cfg_other", Result: "refused", Code: "x"})
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: next[wire.Config](b, wire.DownCfg).ID, Result: "refused", Code: "unsupported"})
		var no *fail.Error
		if x := <-res; !errors.As(x.err, &no) || no.Code != fail.DeviceRefused || no.Details["deviceCode"] != "unsupported" {
			t.Errorf("got %v, want the refusal with deviceCode unsupported", x.err)
		}
		if r.Status("brd_1").Policy.Version != 0 {
			t.Error("stored all the same")
		}
	})
	rigged(t, "offline", func(t *testing.T, r *rig) {
		r.connect("brd_1") // but no hello
		if x := <-r.set(t.Context(), "brd_1", somePolicy); !errors.Is(x.err, board.ErrOffline) || x.took > 0 {
			t.Errorf("got %+v, want x.err to be board.ErrOffline, x.took <= 0", x)
		}
		if x := <-r.set(t.Context(), "brd_9", somePolicy); !errors.Is(x.err, board.ErrNotFound) {
			t.Errorf("got %+v, want x.err to be board.ErrNotFound", x)
		}
	})
}

func TestNetlossUnconfirmed(t *testing.T) {
	t.Parallel()
	rigged(t, "lost midway", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		res := r.set(t.Context(), "brd_1", somePolicy)
		b.line.Cut()
		if x := <-res; !errors.Is(x.err, board.ErrLost) || x.took > time.Second {
			t.Errorf("got %+v, want x.err to be board.ErrLost, x.took <= time.Second", x)
		}
	})
	rigged(t, "the caller gives up", func(t *testing.T, r *rig) {
		r.online("brd_1")
		ctx, cancel := context.WithCancel(t.Context())
		res := r.set(ctx, "brd_1", somePolicy)
		cancel()
		if x := <-res; !errors.Is(x.err, context.Canceled) {
			t.Errorf("got %+v, want x.err to be context.Canceled", x)
		}
	})
	rigged(t, "it cannot be stored", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		res := r.set(t.Context(), "brd_1", somePolicy)
		full := errors.New("disk full")
		r.store.broken(full)
		c := next[wire.Config](b, wire.DownCfg)
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: c.ID, Result: "ok", Netloss: &c.Netloss})
		if x := <-res; !errors.Is(x.err, full) {
			t.Errorf("got %+v, want x.err to be full", x)
		}
		if x := <-r.set(t.Context(), "brd_1", somePolicy); !errors.Is(x.err, full) {
			t.Errorf("the next change: %v, want %v while the record of the one before is missing", x.err, full)
		}
		b.quiet()
		if p, notes := r.store.state().Policy, r.store.notes(); p != nil || len(notes) > 0 {
			t.Errorf("stored %+v, records %q, want neither", p, notes)
		}
		r.store.broken(nil)
		time.Sleep(time.Minute)
		if p, notes := r.store.state().Policy, r.store.notes(); p == nil || p.Version != 1 || len(notes) != 1 {
			t.Errorf("stored %+v, records %q, want version 1 and its record once the disk is back", p, notes)
		}
	})
}

// TestNetlossAgain: a repeat of the policy that the board confirmed last is sent again, but stays the same version of the
// same age; while the board hasn't confirmed it, it is sent as a new one.
func TestNetlossAgain(t *testing.T) {
	t.Parallel()
	rigged(t, "confirmed", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		var applied time.Time
		for i, again := range []wire.Netloss{somePolicy, somePolicy, {GraceSec: 60, Channels: map[int]string{2: "off"}}} {
			res := r.set(t.Context(), "brd_1", again)
			c := next[wire.Config](b, wire.DownCfg)
			b.say(wire.UpAck, wire.SyncAck{Type: wire.SyncConfig, ID: c.ID, Result: "ok", Netloss: &c.Netloss})
			x, s := <-res, r.Status("brd_1")
			if applied.IsZero() {
				applied = s.PolicyAppliedAt
			}
			if x.err != nil || x.got.Version != 1 || s.Policy.Version != 1 || !s.PolicyAppliedAt.Equal(applied) {
				t.Errorf("call %d: got %+v, applied %s, want version 1 of %s", i+1, x, s.PolicyAppliedAt, applied)
			}
			time.Sleep(time.Minute)
		}
		if got := r.store.notes(); len(got) != 3 {
			t.Errorf("records %q, want one per operation", got)
		}
	})
	rigged(t, "not confirmed", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		for version := range int64(2) {
			res := r.set(t.Context(), "brd_1", somePolicy)
			if c := next[wire.Config](b, wire.DownCfg); c.Netloss.Version != version+1 {
				t.Errorf("sent %+v, want version %d", c.Netloss, version+1)
			}
			if x := <-res; !errors.Is(x.err, board.ErrNoAnswer) {
				t.Errorf("got %+v, want %v", x, board.ErrNoAnswer)
			}
		}
	})
}

// TestNetlossLate: whatever a board confirms after its caller's 504 has a record.
func TestNetlossLate(t *testing.T) {
	t.Parallel()
	bubble(t, "answers that nobody asked for don't make the disk write each", func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.SaveEvery = time.Hour })
		b := r.online("brd_1")
		r.store.mu.Lock()
		before := r.store.saves
		r.store.mu.Unlock()
		for v := range int64(5) {
			b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: "cfg_x", Result: "ok", Netloss: &wire.Netloss{GraceSec: 60, Version: v + 1}})
		}
		r.store.mu.Lock()
		saves := r.store.saves - before
		r.store.mu.Unlock()
		if got := r.Status("brd_1").Policy.Version; saves != 0 || got != 5 {
			t.Errorf("%d writes, version %d, want 0 and 5", saves, got)
		}
	})
	rigged(t, "no answer, and a late one", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		res := r.set(t.Context(), "brd_1", somePolicy)
		if x := <-res; !errors.Is(x.err, board.ErrNoAnswer) || x.took != 8*time.Second {
			t.Errorf("got %+v, want x.err to be board.ErrNoAnswer, x.took = 8*time.Second", x)
		}
		c := next[wire.Config](b, wire.DownCfg)
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: c.ID, Result: "ok", Netloss: &c.Netloss})
		if s := r.Status("brd_1"); s.Policy.Version != 1 {
			t.Errorf("policy %+v, want the one that the board has, version 1", s.Policy)
		}
		if got := r.store.notes(); !slices.Equal(got, []string{"outage policy of brd_1: graceSec 60, version 1"}) {
			t.Errorf("records %q, want one of the late confirmation", got)
		}
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: c.ID, Result: "ok", Netloss: &c.Netloss})
		if got := r.store.notes(); len(got) != 1 {
			t.Errorf("records %q, want one however often the board confirms", got)
		}
	})
	rigged(t, "an answer that comes after the next change was sent", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		if x := <-r.set(t.Context(), "brd_1", somePolicy); !errors.Is(x.err, board.ErrNoAnswer) {
			t.Fatalf("got %+v, want x.err to be board.ErrNoAnswer", x)
		}
		late := next[wire.Config](b, wire.DownCfg)
		res := r.set(t.Context(), "brd_1", wire.Netloss{GraceSec: 5})
		second := next[wire.Config](b, wire.DownCfg)
		r.store.broken(errors.New("disk full"))
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: late.ID, Result: "ok", Netloss: &late.Netloss})
		r.store.broken(nil)
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: second.ID, Result: "ok", Netloss: &second.Netloss})
		if x := <-res; x.err != nil || x.got.Version != 2 || x.got.GraceSec != 5 {
			t.Errorf("got %+v, want the second change, as version 2", x)
		}
		want := []string{"outage policy of brd_1: graceSec 60, version 1", "outage policy of brd_1: graceSec 5, version 2"}
		if got := r.store.notes(); !slices.Equal(got, want) {
			t.Errorf("records %q, want %q", got, want)
		}
	})
	bubble(t, "a board that never answers", func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Wait = time.Second })
		b := r.online("brd_1")
		for range maxAsked + 1 {
			if x := <-r.set(t.Context(), "brd_1", somePolicy); !errors.Is(x.err, board.ErrNoAnswer) {
				t.Fatalf("got %+v, want x.err to be board.ErrNoAnswer", x)
			}
			_ = next[wire.Config](b, wire.DownCfg)
		}
		if n := len(r.boards["brd_1"].asked); n != maxAsked {
			t.Errorf("%d changes are remembered, want %d", n, maxAsked)
		}
	})
}

func TestNetlossInTurn(t *testing.T) {
	t.Parallel()
	rigged(t, "one at a time", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		one, two := r.set(t.Context(), "brd_1", somePolicy), r.set(t.Context(), "brd_1", wire.Netloss{GraceSec: 5})
		for range 2 {
			c := next[wire.Config](b, wire.DownCfg)
			b.quiet()
			b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: c.ID, Result: "ok", Netloss: &c.Netloss})
		}
		x, y := <-one, <-two
		if x.err != nil || y.err != nil || x.got.Version+y.got.Version != 3 {
			t.Errorf("got %+v %+v, want x.err = nil, y.err = nil, x.got.Version+y.got.Version = 3", x, y)
		}
	})
	rigged(t, "the second builds on the first", func(t *testing.T, r *rig) {
		b := r.online("brd_1")
		one := r.set(t.Context(), "brd_1", wire.Netloss{GraceSec: 60, Channels: map[int]string{1: "open"}})
		c := next[wire.Config](b, wire.DownCfg)
		two := r.set(t.Context(), "brd_1", wire.Netloss{GraceSec: 60, Channels: map[int]string{2: "hold"}})
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: c.ID, Result: "ok", Netloss: &c.Netloss})
		c = next[wire.Config](b, wire.DownCfg)
		b.say(wire.UpAck, wire.SyncAck{Type: "cfg", ID: c.ID, Result: "ok", Netloss: &c.Netloss})
		x, y := <-one, <-two
		if !maps.Equal(x.got.Channels, map[int]string{1: "open", 2: "close"}) || !maps.Equal(y.got.Channels, map[int]string{1: "open", 2: "hold"}) {
			t.Errorf("got %+v and %+v, want channel 1 open in both, and channel 2 on hold in the second", x, y)
		}
	})
	rigged(t, "behind one that nobody answers", func(t *testing.T, r *rig) {
		r.online("brd_1")
		ctx, cancel := context.WithCancel(t.Context())
		one, two, three := r.set(t.Context(), "brd_1", somePolicy), r.set(t.Context(), "brd_1", somePolicy), r.set(ctx, "brd_1", somePolicy)
		cancel()
		if x := <-three; !errors.Is(x.err, context.Canceled) || x.took > 0 {
			t.Errorf("got %+v, want x.err to be context.Canceled, x.took <= 0", x)
		}
		if x, y := <-one, <-two; !errors.Is(x.err, board.ErrNoAnswer) || !errors.Is(y.err, board.ErrNoAnswer) || y.took != 8*time.Second {
			t.Errorf("got %+v %+v, want x.err to be board.ErrNoAnswer, y.err to be board.ErrNoAnswer, y.took = 8*time.Second", x, y)
		}
	})
	rigged(t, "what hello says", func(t *testing.T, r *rig) {
		b := r.connect("brd_1")
		b.say(wire.UpHello, wire.Hello{Proto: 2, Netloss: &wire.Netloss{GraceSec: 9, Version: 4, Channels: map[int]string{1: "hold", 7: "off"}}})
		s := r.Status("brd_1")
		if s.Policy.Version != 4 || s.Policy.GraceSec != 9 || s.Policy.Channels[1] != "hold" || s.Policy.Channels[2] != "close" || len(s.Policy.Channels) != 2 {
			t.Errorf(`got %+v, want s.Policy.Version = 4, s.Policy.GraceSec = 9, s.Policy.Channels[1] = "hold", s.Policy.Channels[2] = "close", len(s.Policy.Channels) = 2`, s.Policy)
		}
		b.say(wire.UpHello, wire.Hello{Proto: 2, Netloss: &wire.Netloss{}}) // its flash was wiped
		if s := r.Status("brd_1"); s.Policy.Version != 0 || s.Policy.GraceSec != 129600 || !s.PolicyAppliedAt.IsZero() {
			t.Errorf("got %+v, want s.Policy.Version = 0, s.Policy.GraceSec = 129600, s.PolicyAppliedAt unset", s.Policy)
		}
	})
}

// TestNetlossInHello: a board that stored a policy, but whose line ended before it said so, confirms it by its next hello.
func TestNetlossInHello(t *testing.T) {
	t.Parallel()
	bubble(t, "stored, but the line ended before the answer", func(t *testing.T) {
		for name, over := range map[string]bool{"the line was cut": false, "the next connection takes over": true} {
			r := newRig(t)
			b := r.online("brd_1")
			res := r.set(t.Context(), "brd_1", somePolicy)
			c := next[wire.Config](b, wire.DownCfg)
			if !over {
				b.Disconnect(0)
				synctest.Wait()
			}
			again := r.connect("brd_1")
			again.say(wire.UpHello, wire.Hello{Proto: wire.Version, Netloss: &c.Netloss})
			again.say(wire.UpHello, wire.Hello{Proto: wire.Version, Netloss: &c.Netloss})
			if x := <-res; !errors.Is(x.err, board.ErrLost) {
				t.Errorf("%s: got %+v, want %v", name, x, board.ErrLost)
			}
			time.Sleep(time.Minute)
			if got := r.store.notes(); !slices.Equal(got, []string{"outage policy of brd_1: graceSec 60, version 1"}) {
				t.Errorf("%s: records %q, want one of what the board says that it has", name, got)
			}
		}
	})
}
