package firmware

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
)

func (b *bench) netloss(grace int64, rest1, rest2 string) *bench {
	b.step(Event{Kind: Config, SessionMs: 1, Config: wire.Config{ID: "cfg_1", NotAfterMs: 10,
		Netloss: wire.Netloss{GraceSec: grace, Channels: map[int]string{1: rest1, 2: rest2}, Version: 1}}})
	b.lines = nil
	return b
}

func (b *bench) cut() *bench {
	b.step(Event{Kind: Disconnected})
	return b
}

// The outage table, row by row [OFF-1] [OFF-2] [OFF-3].
func TestOutageTable(t *testing.T) {
	t.Parallel()
	limit := 36 * hour
	for _, c := range []struct {
		name    string
		grace   int64 // seconds; -1 = never configured
		age     int64
		present string
		acted   string // before the presentation
		phase   string
	}{
		{"below both", 600, 599_999, "opened onsite", "", PhaseGrace},
		{"graceSec", 600, 600_000, "opened onsite", "1 pulse outage, 2 hold outage", PhaseOutage},
		{"between", 600, 12 * hour, "opened onsite", "1 pulse outage, 2 hold outage", PhaseOutage},
		{"36 h less 1 ms", 600, limit - 1, "opened onsite", "1 pulse outage, 2 hold outage", PhaseOutage},
		{"36 h exactly", 600, limit, "opened onsite", "1 pulse outage, 2 hold outage", PhaseOutage},
		{"over 36 h", 600, limit + 1, "denied outage_limit", "1 pulse outage, 2 hold outage", PhaseStopped},
		{"longer grace, 36 h exactly", 604_800, limit, "opened onsite", "", PhaseGrace},
		{"longer grace, over 36 h", 604_800, limit + 1, "denied outage_limit", "1 pulse outage, 2 hold outage", PhaseStopped},
		{"no grace", 0, 0, "opened onsite", "1 pulse outage, 2 hold outage", PhaseOutage},
		{"never configured, 36 h less 1 ms", -1, limit - 1, "opened onsite", "", PhaseGrace},
		{"never configured, 36 h exactly", -1, limit, "opened onsite", "1 lock outage, 2 lock outage", PhaseOutage},
		{"never configured, over 36 h", -1, limit + 1, "denied outage_limit", "1 lock outage, 2 lock outage", PhaseStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).online()
			if c.grace >= 0 {
				b.netloss(c.grace, wire.RestOpen, wire.RestHold)
			}
			b.to(1000).cut().to(1000 + c.age)
			b.want("resting", b.acted(), c.acted)
			b.want("phase", b.s.Phase(b.now), c.phase)
			if got := b.s.Age(b.now); got != c.age {
				t.Errorf("age %d, want %d", got, c.age)
			}
			b.want("on site", b.present("p", "dor_1"), c.present)
			b.to(b.now + 48*hour)
			b.acted()
			b.to(b.now + 48*hour)
			b.want("applied once", b.acted(), "")
		})
	}
}

func TestRestingBehaviours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rest string
		hold       int // minutes of a hold started before the cut; -1 = none, 0 = until locked
		at         int64
		acted      string
		state      string
		recovered  string
		after      string
	}{
		{"open, no hold", wire.RestOpen, -1, 100_000, "1 pulse outage", locked, "", locked},
		{"open, a hold goes on", wire.RestOpen, 0, 100_000, "1 pulse outage", unlocked, "", unlocked},
		{"open, the hold ends", wire.RestOpen, 5, 5 * 60_000, "1 pulse outage, 1 lock hold_end", locked, "", locked},
		{"hold", wire.RestHold, -1, 100_000, "1 hold outage", unlocked, "1 lock outage", locked},
		{"hold outlasts a hold", wire.RestHold, 5, 5 * 60_000, "1 hold outage", unlocked, "1 lock outage", locked},
		{"hold ends a hold at recovery", wire.RestHold, 0, 100_000, "1 hold outage", unlocked, "1 lock outage", locked},
		{"close", wire.RestClose, -1, 100_000, "1 lock outage", locked, "", locked},
		{"close ends a hold", wire.RestClose, 0, 100_000, "1 lock outage", locked, "", locked},
		{"off", wire.RestOff, -1, 100_000, "1 off outage", locked, "", locked},
		{"off, the hold timer runs", wire.RestOff, 5, 5 * 60_000, "1 off outage, 1 lock hold_end", locked, "", locked},
		{"off, the hold is driven again", wire.RestOff, 60, 100_000, "1 off outage", locked, "1 hold outage", unlocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).online().netloss(60, c.rest, wire.RestClose)
			if c.hold >= 0 {
				b.command(wire.CmdHold, "dor_1", c.hold)
			}
			b.cut()
			b.acted()
			b.to(c.at)
			b.want("acted", first(b), c.acted)
			b.want("state", b.state(0), c.state)
			b.want("on site", b.present("p", "dor_1"), "opened onsite")
			b.want("pulse over it", b.acted(), "1 pulse onsite")
			b.online()
			b.want("recovery", b.acted(), c.recovered)
			b.want("state after", b.state(0), c.after)
		})
	}
}

// Behaviours are stored by channel, whatever the order of the doors and wherever their numbers begin.
func TestRestingByChannel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.s = New("brd_1", "plc_1", []Door{{ID: "dor_1", Channel: 5}, {ID: "dor_2", Channel: 2}, {ID: "dor_3", Channel: 1}}, t0, 0)
	b.step(Event{Kind: Connected})
	b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckHello, Epoch: 7, SessionMs: 1}})
	b.step(Event{Kind: Config, SessionMs: 1, Config: wire.Config{ID: "cfg_1", NotAfterMs: 10, Netloss: wire.Netloss{GraceSec: 60, Version: 1,
		Channels: map[int]string{1: wire.RestOff, 2: wire.RestOpen, 5: wire.RestHold}}}})
	b.cut()
	b.acted()
	b.to(b.now + 60_000)
	b.want("resting", b.acted(), "1 hold outage, 2 pulse outage, 3 off outage")
}

// A pulse in progress when its channel goes off ends there: nothing stays driven.
func TestOffEndsAPulse(t *testing.T) {
	t.Parallel()
	b := newBench(t).online().netloss(2, wire.RestOff, wire.RestClose)
	b.command(wire.CmdOpen, "dor_1", 0)
	b.cut()
	b.to(b.now + 60_000)
	b.want("fell", strings.Join(b.fell, ", "), "1 +2000")
}

// A door that was forced open raises no warning while the outage holds it open.
func TestRestingHoldEndsAWarning(t *testing.T) {
	t.Parallel()
	b := newBench(t).online().netloss(60, wire.RestHold, wire.RestClose)
	b.play("force")
	b.want("forced", b.state(0), warning)
	b.cut()
	b.to(b.now + 60_000)
	b.want("held by the outage", b.state(0), Open)
}

// first returns what door 1 did.
func first(b *bench) string {
	var keep []Entry
	for _, l := range b.lines {
		if l.DoorID == "dor_1" {
			keep = append(keep, l)
		}
	}
	b.lines = keep
	return b.acted()
}

func TestSilentDropCountsFromTheLastPacket(t *testing.T) {
	t.Parallel()
	b := newBench(t).online().netloss(60, wire.RestClose, wire.RestOff)
	b.to(100_000).step(Event{Kind: Disconnected, Silent: true, Heard: 30_000})
	if got := b.s.Age(b.now); got != 70_000 {
		t.Errorf("age %d, want 70000", got)
	}
	b.want("grace was over already", b.acted(), "1 lock outage, 2 off outage")
	b.published("")
	b.step(Event{Kind: Connected})
	if h := b.published(wire.UpHello)[0].(wire.Hello); h.OutageAgeMs != 70_000 {
		t.Errorf("the hello says an age of %d, want 70000", h.OutageAgeMs)
	}
}

func TestAgeOverRebootAndLostClock(t *testing.T) {
	t.Parallel()
	b := newBench(t).online().netloss(600, wire.RestOpen, wire.RestClose)
	b.cut().to(35 * hour).step(Event{Kind: Reboot})
	if got := b.s.Age(b.now); got != 35*hour || b.s.Boot != 2 {
		t.Errorf("after a reboot: age %d, boot %d, want %d and 2", got, b.s.Boot, 35*hour)
	}
	b.acted()
	b.want("still decides", b.present("p", "dor_1"), "opened onsite")
	b.step(Event{Kind: Reboot, ClockLost: true})
	if got := b.s.Age(b.now); got != -1 {
		t.Errorf("age %d with a lost clock, want -1", got)
	}
	b.want("a lost clock is over 36 h", b.present("p", "dor_1"), "denied outage_limit")
	if b.step(Event{Kind: Reboot}); b.s.Age(b.now) != -1 {
		t.Errorf("age %d after another reboot, want -1: the clock doesn't know what it lost", b.s.Age(b.now))
	}
	b.step(Event{Kind: Connected})
	b.want("a connection alone ends nothing", b.present("p", "dor_1"), "denied outage_limit")
	b.online()
	if got := b.s.Age(b.now); got != 0 {
		t.Errorf("age %d after the server has spoken, want 0", got)
	}
	b.want("until the synchronization", b.present("p", "dor_1"), "denied outage_limit")
	b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckDigest}})
	b.want("then decisions resume", b.present("p", "dor_1"), "opened onsite")
	b.acted()
	b.step(Event{Kind: Reboot, ClockLost: true})
	b.want("lost while online: resting now", b.acted(), "1 pulse outage, 2 lock outage")
}

func TestLongOutageResumesWithTheSync(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	b.cut().to(40 * hour)
	b.online()
	if d := b.published(wire.UpDigest); len(d) != 1 {
		t.Errorf("%d digests sent to learn that nothing is missing, want 1", len(d))
	}
	b.cut() // cut again before the sync: still no decisions
	b.want("before the sync", b.present("p", "dor_1"), "denied outage_limit")
	b.online()
	delta := wire.Sync{From: 1, To: 2, Upsert: []access.Grant{grantOf("mem_2", "q", "")}}
	b.step(Event{Kind: Sync, Change: Prepare(delta)})
	b.want("old grant", b.present("p", "dor_1"), "opened onsite")
	b.want("new grant", b.present("q", "dor_1"), "opened onsite")
}

func TestSkewMovesWindowsNotTheAge(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	b.cut().to(hour)
	b.skew = 100 * hour
	if got := b.s.Age(b.now); got != hour {
		t.Errorf("age %d, want %d", got, hour)
	}
	b.step(Event{Kind: Tick})
	b.want("on site", b.present("p", "dor_1"), "opened onsite")
	if at := b.s.Records[0].At; at != t0+101*hour {
		t.Errorf("record at %d, want %d", at, t0+101*hour)
	}
}

func TestWipedForgetsAll(t *testing.T) {
	t.Parallel()
	b := newBench(t).online().netloss(60, wire.RestHold, wire.RestHold)
	b.command(wire.CmdHold, "dor_1", 0)
	b.cut()
	b.present("p", "dor_1")
	b.acted()
	b.step(Event{Kind: Reboot, Wiped: true})
	b.want("as never configured", b.acted(), "1 lock outage, 2 lock outage")
	if b.s.Content.Revision != 0 || b.s.Netloss.Version != 0 || len(b.s.Done)+len(b.s.Records) != 0 || b.s.Age(b.now) != -1 {
		t.Errorf("a wiped board still has %+v, want nothing and a lost clock", b.s)
	}
	seq := b.s.Seq
	b.present("p", "dor_1")
	if b.s.Records[0].Seq <= seq || seq < 1<<32 {
		t.Errorf("record numbers start over after %d, want them to continue above it", seq)
	}
}
