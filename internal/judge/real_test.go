package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// guest replaces the simulated brd_1 with a real board that says hello and knows nothing.
func (h *builder) guest() {
	const id = "brd_1"
	b := h.boards[id]
	h.emit(history.Event{Kind: history.Detached, BoardID: id})
	h.emit(history.Event{Kind: history.Offline, BoardID: id, Epoch: b.epoch})
	b.rev, b.seq = 0, 0
	h.online(id)
}

// attach brings the simulated board back with its old flash.
func (h *builder) attach(id string, revision int64) {
	b := h.boards[id]
	old := b.epoch
	h.emit(history.Event{Kind: history.Attached, BoardID: id})
	b.rev = revision
	h.online(id)
	h.emit(history.Event{Kind: history.Offline, BoardID: id, Epoch: old})
}

// asked is a command to brd_1 while it has no journal.
func (h *builder) asked(key string, outcome vocab.Outcome) string {
	cmd := h.command("brd_1", key, "open", outcome, false, 0)
	h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
		return e.CommandID == cmd && (e.Kind == history.Actuation || e.Kind == history.Fault)
	})
	return cmd
}

// A real board inherits nothing from the simulated one that it replaces. It is judged without a journal: counted, but
// not as evidence.
func TestRealBoardInheritsNothing(t *testing.T) {
	t.Parallel()
	h := clean()
	before := NewView(append([]history.Event{}, h.events...))
	flash := h.boards["brd_1"].rev
	h.guest()
	h.asked("k-real-1", vocab.Reported)
	h.asked("k-real-2", vocab.Refused)
	h.asked("k-real-3", vocab.Offline)
	h.record(history.Event{PlaceID: "plc_a", BoardID: "brd_1", DoorID: doorOf("brd_1", 1), RecordSeq: 1, Result: "opened", Reason: "onsite", Method: "onsite"})
	h.change("plc_a", "register", grant("pmt_6", "noh", false))
	h.attach("brd_1", flash)
	h.command("brd_1", "k-back", "open", vocab.Reported, true, 0)
	h.pass(1000)
	h.emit(history.Event{Kind: history.Label, Text: "end"})
	after := NewView(h.events)
	for _, v := range Judge(after) {
		if v.Status == Fail {
			t.Errorf("want no FAIL, got %s\n%s", v, v.FirstBad)
		}
	}
	for _, c := range []struct {
		judge     func(*View) Verdict
		real, own int // own: evidence that the simulated board adds
	}{{cmd1, 1, 1}, {cmd3, 1, 0}, {cmd5, 2, 4}, {ent1, 1, 0}} { // commands of real boards are judged by what the server says
		was, got := c.judge(before), c.judge(after)
		if got.Real != c.real || got.Checked-was.Checked != c.own {
			t.Errorf("%s counts %d of real boards and %d more with a journal, want %d and %d", got.Clause, got.Real, got.Checked-was.Checked, c.real, c.own)
		}
	}
	rows := Ledger([]Verdict{cmd1(after)}, nil, Basis{})
	for _, r := range rows {
		if r.Clause == "CMD-1" && !strings.Contains(r.Told(), "1 of real boards, judged without a journal") {
			t.Errorf("the ledger says %q, want the real board's command counted", r.Told())
		}
	}
}

// TestOnlyRealBoards: real boards alone prove no clause that needs a journal.
func TestOnlyRealBoards(t *testing.T) {
	t.Parallel()
	h := newBuilder()
	h.emit(history.Event{Kind: history.Started, Text: "server"})
	h.base("plc_a")
	h.addBoard("plc_a", "brd_1")
	h.online("brd_1")
	h.guest()
	h.asked("k", vocab.Reported)
	v := cmd1(NewView(h.events))
	if v.Status != Skipped || v.Checked != 0 || v.Real != 1 {
		t.Errorf("%s with %d checked and %d of real boards, want SKIPPED with 0 and 1", v, v.Checked, v.Real)
	}
}

// Wrong behaviour of a real board is charged if it shows without a journal.
func TestRealBoardIsCharged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant       func(t *testing.T, h *builder)
		clause, why string
	}{
		"says opened twice": {func(t *testing.T, h *builder) {
			h.after(t, is(history.Received, h.asked("k", vocab.Reported)), same)
		}, "CMD-1", "reported ok twice on one connection"},
		"says opened, then refused": {func(t *testing.T, h *builder) {
			h.after(t, is(history.Received, h.asked("k", vocab.Reported)), func(e *history.Event) { e.Result, e.Reason = "refused", "busy" })
		}, "CMD-1", "reported refused (busy) by a real board that had already reported it ok"},
		"never answers, but acknowledges content": {func(t *testing.T, h *builder) {
			cmd := h.asked("k", vocab.NoResponse)
			h.edit(t, 0, is(history.Answer, cmd), func(e *history.Event) { e.WallNs += 8000 * 1e6 })
			h.wall += 9000 * 1e6
			h.change("plc_a", "register", grant("pmt_6", "noh", false))
		}, "CMD-4", "got no report"},
		"never answers, but the next one": {func(t *testing.T, h *builder) {
			cmd := h.asked("k", vocab.NoResponse)
			h.edit(t, 0, is(history.Answer, cmd), func(e *history.Event) { e.WallNs += 8000 * 1e6 })
			h.wall += 9000 * 1e6
			next := h.asked("k2", vocab.Reported)
			h.edit(t, 0, is(history.Received, next), func(e *history.Event) { e.Epoch = h.boards["brd_1"].epoch })
		}, "CMD-4", "got no report"},
		"opened, but it had refused": {func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.Received, h.asked("k", vocab.Reported)), func(e *history.Event) { e.Result, e.Reason = "refused", "busy" })
		}, "CMD-1", "but its real board had not said so"},
		"refused, but it had opened": {func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.Received, h.asked("k", vocab.Refused)), func(e *history.Event) { e.Result, e.Reason = "ok", "" })
		}, "CMD-3", "but its real board had not said so"},
		"never takes content": {func(t *testing.T, h *builder) {
			h.events = h.events[:len(h.events)-1] // its acknowledgement
			h.pass(FreshMs + 1000)
			h.emit(history.Event{Kind: history.Label})
		}, "SYNC-1", "never reached brd_1, although it was connected"},
		"falls back": {func(t *testing.T, h *builder) {
			h.emit(history.Event{Kind: history.Applied, BoardID: "brd_1", PlaceID: "plc_a", Revision: 1})
		}, "SYNC-1", "went back from revision"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := clean()
			h.guest()
			c.plant(t, h)
			for _, v := range Judge(NewView(h.events)) {
				switch {
				case v.Clause == c.clause && (v.Status != Fail || !strings.Contains(v.FirstBad.Why, c.why)):
					t.Errorf("%s, want FAIL with %q", v, c.why)
				case v.Clause != c.clause && v.Status == Fail && c.clause != "SYNC-1": // revocations are missing there, too
					t.Errorf("charged too: %s, want only %s", v, c.clause)
				}
			}
		})
	}
}

// A real board isn't charged for silence: nothing shows that it ever received the command.
func TestRealBoardsSilence(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(h *builder){
		"nothing was heard afterwards": func(*builder) {},
		"it was heard on another connection": func(h *builder) {
			h.emit(history.Event{Kind: history.Offline, BoardID: "brd_1", Epoch: h.boards["brd_1"].epoch})
			h.online("brd_1")
			h.change("plc_a", "register", grant("pmt_6", "noh", false))
		},
	} {
		h := clean()
		h.guest()
		cmd := h.asked("k", vocab.NoResponse)
		h.edit(t, 0, is(history.Answer, cmd), func(e *history.Event) { e.WallNs += 8000 * 1e6 })
		h.wall += 9000 * 1e6
		plant(h)
		if v := cmd4(NewView(h.events)); v.Status == Fail {
			t.Errorf("%s: %s, want no breach", name, v)
		}
	}
}

// A board in whose place a scenario speaks may report anything. What the server makes of it is judged.
func TestBoardByHand(t *testing.T) {
	t.Parallel()
	twice := func(t *testing.T, h *builder, outcome vocab.Outcome, first vocab.Result) {
		cmd := h.asked("k", outcome)
		h.after(t, is(history.Received, cmd), same)
		h.edit(t, 0, is(history.Received, cmd), func(e *history.Event) { e.Result = first })
	}
	for name, c := range map[string]struct {
		plant       func(t *testing.T, h *builder)
		clause, why string // "" = no breach
	}{
		"repeats its report":               {func(t *testing.T, h *builder) { twice(t, h, vocab.Reported, "ok") }, "", ""},
		"says something else first":        {func(t *testing.T, h *builder) { twice(t, h, vocab.Reported, "maybe") }, "", ""},
		"opened, but it had only refused":  {func(t *testing.T, h *builder) { twice(t, h, vocab.Reported, "refused"); onlyRefused(h) }, "CMD-1", "but its real board had not said so"},
		"opened, but another one had said": {func(t *testing.T, h *builder) { byAnother(h, h.asked("k", vocab.Reported)) }, "CMD-1", "but its real board had not said so"},
		"refused, but it had opened": {func(t *testing.T, h *builder) {
			h.edit(t, 0, is(history.Received, h.asked("k", vocab.Refused)), func(e *history.Event) { e.Result, e.Reason = "ok", "" })
		}, "CMD-3", "but its real board had not said so"},
		"a real board comes after it": {func(t *testing.T, h *builder) {
			h.attach("brd_1", h.boards["brd_1"].rev)
			h.guest()
			twice(t, h, vocab.Reported, "ok")
		}, "CMD-1", "reported ok twice on one connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := clean()
			h.guest()
			h.emit(history.Event{Kind: history.Hand, BoardID: "brd_1"})
			c.plant(t, h)
			for _, v := range Judge(NewView(h.events)) {
				switch {
				case v.Clause == c.clause && (v.Status != Fail || !strings.Contains(v.FirstBad.Why, c.why)):
					t.Errorf("%s, want FAIL with %q", v, c.why)
				case v.Clause != c.clause && v.Status == Fail:
					t.Errorf("charged too: %s (%s), want only %q", v, v.FirstBad.Why, c.clause)
				}
			}
		})
	}
}

// TestReportsThatAreDropped: a refusal with a code that the protocol doesn't have settles nothing, and a report that a scenario
// speaks may have been about another door.
func TestReportsThatAreDropped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hand bool
		code vocab.Reason // "" = it has opened
		bad  bool
	}{{false, "", true}, {false, "jammed", true}, {false, "sleepy", false}, {true, "", false}, {true, "sleepy", false}} {
		h := clean()
		h.guest()
		if c.hand {
			h.emit(history.Event{Kind: history.Hand, BoardID: "brd_1"})
		}
		cmd := h.asked("k", vocab.NoResponse)
		h.edit(t, 0, is(history.Answer, cmd), func(e *history.Event) { e.WallNs += 8000 * 1e6 })
		h.after(t, is(history.Publish, cmd), func(e *history.Event) {
			*e = history.Event{Kind: history.Received, At: e.At, WallNs: e.WallNs, BoardID: "brd_1", CommandID: cmd, Result: vocab.OK, Reason: c.code}
			if c.code != "" {
				e.Result = vocab.Refused
			}
		})
		if v := cmd4(NewView(h.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("by hand %v, code %q, and a 504: %s, want a breach: %v", c.hand, c.code, v, c.bad)
		}
	}
}

// TestHandProvesNothing: commands and records of a board that a scenario speaks for aren't those of a real board.
func TestHandProvesNothing(t *testing.T) {
	t.Parallel()
	for _, hand := range []bool{false, true} {
		h := clean()
		h.guest()
		if hand {
			h.emit(history.Event{Kind: history.Hand, BoardID: "brd_1"})
		}
		h.asked("k-1", vocab.Reported)
		h.asked("k-2", vocab.Refused)
		h.asked("k-3", vocab.NoResponse)
		h.record(history.Event{PlaceID: "plc_a", BoardID: "brd_1", DoorID: doorOf("brd_1", 1), RecordSeq: 1, Result: "opened", Reason: "onsite", Method: "onsite"})
		v := NewView(h.events)
		for _, judge := range []func(*View) Verdict{cmd1, cmd3, cmd5, ent1} {
			if got := judge(v); (got.Real > 0) == hand {
				t.Errorf("hand %v: %s counts %d of real boards", hand, got.Clause, got.Real)
			}
		}
		if n, _ := v.cmd4(); (n.real > 0) == hand {
			t.Errorf("hand %v: CMD-4 counts %d of real boards", hand, n.real)
		}
	}
}

// onlyRefused makes every report on the last command a refusal.
func onlyRefused(h *builder) {
	cmd := ""
	for _, e := range h.events {
		if e.Kind == history.Received {
			cmd = e.CommandID
		}
	}
	for i := range h.events {
		if e := &h.events[i]; e.Kind == history.Received && e.CommandID == cmd {
			e.Result, e.Reason = vocab.Refused, "busy"
		}
	}
}

// byAnother makes another board the sender of every report on a command.
func byAnother(h *builder, cmd string) {
	for i := range h.events {
		if e := &h.events[i]; e.Kind == history.Received && e.CommandID == cmd {
			e.BoardID = "brd_2"
		}
	}
}
