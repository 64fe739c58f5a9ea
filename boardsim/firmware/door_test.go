package firmware

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
)

// Door states. Each case is a script of timed verbs, followed by the expected state.
func TestDoorStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, state, acted string }{
		{"a pulse leaves it locked", "open", locked, "pulse command"},
		{"leaf within the pulse", "open +4999 push", Open, "pulse command"},
		{"leaf after the pulse is forced", "open +5000 push", warning, "pulse command"},
		{"leaf without anything is forced", "push", warning, ""},
		{"force is forced", "hold force", warning, "hold command"},
		{"leaf closes", "push shut", locked, ""},
		{"held", "hold", unlocked, "hold command"},
		{"leaf while held", "hold push", Open, "hold command"},
		{"leaf closes while held", "hold push shut", unlocked, "hold command"},
		{"open keeps a hold", "hold open +6000", unlocked, "hold command, pulse command"},
		{"60 s exactly", "open push +60000", Open, "pulse command"},
		{"over 60 s", "open push +60001", warning, "pulse command"},
		{"opened again it has 60 s of its own", "+10 open push +50000 shut open push +60000", Open, "pulse command, pulse command"},
		{"over 60 s while held", "hold push +600000", Open, "hold command"},
		{"close while the leaf is open", "hold push close", warning, "hold command, lock command"},
		{"hold 1 minute", "hold1 +59999", unlocked, "hold command"},
		{"hold over", "hold1 +60000", locked, "hold command, lock hold_end"},
		{"hold over with the leaf open", "hold1 push +60000", Open, "hold command, lock hold_end"},
		{"its 60 s begin", "hold1 push +120000", Open, "hold command, lock hold_end"},
		{"and end", "hold1 push +120001", warning, "hold command, lock hold_end"},
		{"hold replaced", "hold1 +30000 hold +60000", unlocked, "hold command, hold command"},
		{"hold replaced by minutes", "hold +30000 hold1 +60000", locked, "hold command, hold command, lock hold_end"},
		{"hold on a forced leaf", "push hold", Open, "hold command"},
		{"close", "hold close", locked, "hold command, lock command"},
		{"close cuts the pulse", "open close push", warning, "pulse command, lock command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).online()
			for verb := range strings.FieldsSeq(c.script) {
				b.play(verb)
			}
			b.want("state", b.state(0), c.state)
			b.want("acted", strings.ReplaceAll(b.acted(), "1 ", ""), c.acted)
		})
	}
}

// TestRelease: a relay releases as soon as nothing drives it, and not before.
func TestRelease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, fell string }{
		{"a pulse", "open +60000", "1 +5000"},
		{"not before its end", "open +4999", ""},
		{"two pulses are one drive", "open +3000 open +60000", "1 +8000"},
		{"one after the other", "open +6000 open +60000", "1 +5000, 1 +11000"},
		{"close cuts the pulse", "open +1000 close +60000", "1 +1000"},
		{"a hold outlasts the pulse", "open hold1 +300000", "1 +60000"},
		{"a pulse outlasts the hold", "hold1 +58000 open +60000", "1 +63000"},
		{"a hold until locked", "hold +300000 close", "1 +300000"},
		{"nothing was driven", "close +60000", ""},
		{"one step over it all", "open +1000000", "1 +5000"},
	} {
		b := newBench(t).online()
		start := b.now
		for verb := range strings.FieldsSeq(c.script) {
			b.play(verb)
		}
		if start != 0 {
			t.Fatalf("the bench begins at %d, want 0", start)
		}
		b.want(c.name, strings.Join(b.fell, ", "), c.fell)
	}
}

func (b *bench) play(verb string) {
	switch verb {
	case "open", "hold", "close":
		b.command(verb, "dor_1", 0)
	case "hold1":
		b.command(wire.CmdHold, "dor_1", 1)
	case "push", "shut", "force":
		b.step(Event{Kind: Leaf, DoorID: "dor_1", Action: map[string]string{"push": LeafOpen, "shut": LeafClose, "force": LeafForce}[verb]})
	default:
		d := int64(0)
		for _, r := range verb[1:] {
			d = d*10 + int64(r-'0')
		}
		b.to(b.now + d)
	}
}

func TestCommandsThatAreRefused(t *testing.T) {
	t.Parallel()
	ok := wire.Command{ID: "cmd_x", Epoch: 7, DoorID: "dor_1", Channel: 1, Command: wire.CmdOpen, NotAfterMs: 5000}
	for _, c := range []struct {
		name    string
		change  func(*wire.Command)
		session int64
		code    string
	}{
		{"in time", func(*wire.Command) {}, 4999, ""},
		{"at notAfter", func(*wire.Command) {}, 5000, ""},
		{"after notAfter", func(*wire.Command) {}, 5001, "expired"},
		{"session not known", func(*wire.Command) {}, 0, "expired"},
		{"an earlier connection's", func(c *wire.Command) { c.Epoch = 6 }, 1, "expired"},
		{"unknown door", func(c *wire.Command) { c.DoorID = "dor_9" }, 1, "unsupported"},
		{"another channel", func(c *wire.Command) { c.Channel = 2 }, 1, "unsupported"},
		{"unknown verb", func(c *wire.Command) { c.Command = "explode" }, 1, "unsupported"},
		{"by channel alone", func(c *wire.Command) { c.DoorID, c.Channel = "", 2 }, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).online()
			cmd := ok
			c.change(&cmd)
			r := b.send(cmd, c.session)
			b.want("code", r.Code, c.code)
			line := b.lines[len(b.lines)-1]
			want := ActPulse
			if c.code != "" {
				want = ActRefuse
			}
			b.want("line", string(line.Action), string(want))
		})
	}
}

// A refusal is remembered like any report: the repeat is refused too, even if the board could act by then.
func TestRememberedRefusal(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	c := wire.Command{ID: "cmd_a", Epoch: 7, DoorID: "dor_1", Command: wire.CmdOpen, NotAfterMs: 5000}
	for _, ev := range []Event{{Refuse: "busy"}, {}} {
		ev.Kind, ev.Command, ev.SessionMs = Command, c, 100
		got := ""
		for _, e := range b.step(ev) {
			if e.Kind == Report {
				got = e.Report.Code
			}
		}
		b.want("report", got, "busy")
	}
	b.want("one refusal, no pulse", b.acted(), "1 refuse command")
}

// What a board must remember across a reboot is in flash.
func TestStateInFlash(t *testing.T) {
	t.Parallel()
	s := State{Boot: 1, Seq: 6, Dropped: 7, Netloss: wire.Netloss{GraceSec: 8, Version: 9, Channels: map[int]string{1: wire.RestOff}},
		Doors:  []Door{{ID: "dor_1", Channel: 1, LeafOpen: true, LeafAt: 2, Warn: true, Held: true, HoldEnd: 3, PulseEnd: 4, Rest: wire.RestHold, SinceAt: 5}},
		Outage: Outage{Online: true, Contact: 10, Lost: true, Over: true, Rested: true}}
	var back State
	if raw, err := json.Marshal(s); err != nil || json.Unmarshal(raw, &back) != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%+v came back from the flash as %+v", s, back)
	}
}

// Records are uploaded in the order they were made, even if the board's clock was set back in between.
func TestRecordsGoUpInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	b.cut()
	for _, skew := range []int64{0, -hour, hour} {
		b.skew = skew
		b.present("p", "dor_1")
	}
	b.pubs = nil
	b.online()
	var got []int64
	for _, e := range b.pubs {
		if r, ok := e.Payload.(wire.Records); ok {
			for _, x := range r.Records {
				got = append(got, x.Seq)
			}
		}
	}
	if !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("records %v went up, want 1 2 3", got)
	}
}

func TestRememberedCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	c := wire.Command{ID: "cmd_a", Epoch: 7, DoorID: "dor_1", Command: wire.CmdOpen, NotAfterMs: 5000}
	first := b.send(c, 1)
	b.step(Event{Kind: Reboot})
	b.online()
	c.Epoch = b.s.Epoch
	again := b.send(c, 9000)
	if again.Result != first.Result || again.At != first.At {
		t.Errorf("stored report %+v, then %+v, want Result %v and At %v", first, again, first.Result, first.At)
	}
	b.want("one actuation", b.acted(), "1 pulse command")
	for range MaxDone {
		b.command(wire.CmdOpen, "dor_2", 0)
	}
	if len(b.s.Done) != MaxDone {
		t.Errorf("remembers %d, want %d", len(b.s.Done), MaxDone)
	}
}

func TestUnackedReportsGoUpAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	b.command(wire.CmdOpen, "dor_1", 0)
	b.command(wire.CmdOpen, "dor_1", 0)
	b.command(wire.CmdOpen, "dor_1", 0)
	b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckRpt, CommandID: "cmd_2"}})
	b.step(Event{Kind: Forget, CommandID: "cmd_3"})
	b.cut()
	b.published("")
	b.online()
	got := b.published(wire.UpRpt)
	if len(got) != 1 || got[0].(wire.Report).CommandID != "cmd_1" {
		t.Errorf("sent again: got %+v, want only the report of cmd_1", got)
	}
}

func TestOnSiteReasons(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	wall := t0
	permit := func(id, phone, token string, from, to int64, doors ...string) access.Grant {
		return access.Grant{ID: id, Kind: access.KindPermit, PhoneHash: phone, TokenHash: token, Doors: doors, StartsAt: from, EndsAt: to}
	}
	revoked := permit("pmt_r", "revoked", "dead", wall-1, wall+hour, "dor_1")
	revoked.Revoked = true
	y := snapshot(5, permit("pmt_1", "ok", "tok", wall-1, wall+hour, "dor_1"), permit("pmt_2", "soon", "", wall+1, wall+hour, "dor_1"),
		permit("pmt_3", "gone", "", wall-2, wall, "dor_1"), revoked, grantOf("mem_1", "member", ""))
	ws := []access.Window{}
	y.Windows = &ws
	b.step(Event{Kind: Sync, Change: Prepare(y)})
	for phone, want := range map[string]string{"ok": "opened onsite", "soon": "denied not_started", "gone": "denied expired",
		"revoked": "denied revoked", "nobody": "denied no_valid_grant", "member": "opened onsite"} {
		b.want(phone, b.present(phone, "dor_1"), want)
	}
	b.want("scope", b.present("ok", "dor_2"), "denied door_out_of_scope")
	b.want("link", b.presented(Event{Kind: Present, DoorID: "dor_1", TokenHash: "tok"}), "opened onsite")
	if r := b.s.Records[len(b.s.Records)-1]; r.HolderHash != "ok" || r.PhoneHash != "" {
		t.Errorf("by a link: held by %q, shown %q, want the holder that the board knows", r.HolderHash, r.PhoneHash)
	}
	b.want("dead link", b.presented(Event{Kind: Present, DoorID: "dor_1", TokenHash: "old"}), "denied link_invalid")
	b.want("revoked link", b.presented(Event{Kind: Present, DoorID: "dor_1", TokenHash: "dead"}), "denied link_invalid")
	if rs := b.s.Records; rs[len(rs)-2].HolderHash != "" || rs[len(rs)-1].HolderHash != "revoked" {
		t.Errorf("by links that open nothing: held by %q and %q, want nobody, and whom it was revoked for", rs[len(rs)-2].HolderHash, rs[len(rs)-1].HolderHash)
	}
	b.acted()
	mode := func(m string) {
		ws := []access.Window{{ID: "pol_1", DoorID: "dor_1", Ref: access.RefAlways, Mode: m, CreatedAt: 1}}
		b.step(Event{Kind: Sync, Change: Prepare(wire.Sync{From: b.s.Content.Revision, To: b.s.Content.Revision + 1, Windows: &ws})})
	}
	mode(access.ModeFree)
	b.cut() // window modes hold while offline
	b.want("free", b.present("nobody", "dor_1"), "opened free_window")
	b.want("its line", b.acted(), "1 pulse free")
	b.online()
	mode(access.ModeClosed)
	b.want("closed", b.present("ok", "dor_1"), "denied closed_window")
	b.want("its line", b.acted(), "1 deny onsite")
}
