package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// On a busy machine a board may learn of a cut two seconds late. Close to 36 h, even half a second is too much.
func TestOutageAgeOfABusyMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		since, says int64
		wrong       bool
	}{
		{635, 126, false}, {2000, 0, false}, {2001, 0, true}, {1000, 3001, true},
		{limitMs - 1000, limitMs - 1500, false}, {limitMs - 1000, limitMs - 1501, true},
	} {
		s := lineState{known: true, heard: true}
		s.see(&history.Event{Kind: history.Line, Op: "down", Text: "offline", At: 1})
		if _, wrong := s.wrong(&history.Event{At: 1 + c.since, OutageAgeMs: c.says}); wrong != c.wrong {
			t.Errorf("a board says %d ms when its line has been down for %d: wrong is %t, want %t", c.says, c.since, wrong, c.wrong)
		}
	}
}

// Until its keep-alive expires, a board that nobody notified may believe that its dead line is alive, but no longer
// than that.
func TestOutageAgeOfASilentLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		since, says int64
		wrong       bool
	}{
		{ageSilentMs, 0, false}, {ageSilentMs + 1, 0, true}, {600_000, 0, true}, {600_000, 600_000, false},
		{600_000, 600_000 + ageSilentMs, false}, {600_000, 600_001 + ageSilentMs, true}, {37 * 3600_000, 3600_000, true},
	} {
		s := lineState{known: true, heard: true}
		s.see(&history.Event{Kind: history.Line, Op: "down", Text: "oneway-up", At: 1})
		if _, wrong := s.wrong(&history.Event{At: 1 + c.since, OutageAgeMs: c.says}); wrong != c.wrong {
			t.Errorf("a board says %d ms when its line has been dead for %d: wrong is %t, want %t", c.says, c.since, wrong, c.wrong)
		}
	}
}

// TestLostClocks: a board that hasn't died knows how long its line has been down, whatever it says.
func TestLostClocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reboot bool
		want   Status
	}{"after a reboot": {true, Pass}, "a minute after a cut": {false, Fail}} {
		h := oneBoard()
		h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
		if c.reboot {
			h.emit(history.Event{Kind: history.Rebooted, BoardID: "brd_1"})
		}
		h.cut("brd_1")
		h.pass(60_000)
		h.present("brd_1", "kim", vocab.Denied, vocab.OutageLimit, "")
		for _, kind := range []string{history.Presented, history.Actuation} {
			h.last(kind, func(e *history.Event) { e.OutageAgeMs = -1 })
		}
		if got := off2(NewView(h.events)); got.Status != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestTooOldInAHello: who says 40 h after a minute mustn't turn people away until it has been synchronized. If others note
// lines than hellos, a jump may lie between the two.
func TestTooOldInAHello(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		age  int64
		line int // who tells of it
		want Status
	}{{37 * 3600_000, 0, Pass}, {60_000, 0, Fail}, {60_000, 1, Pass}} {
		h := oneBoard()
		h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
		h.cut("brd_1")
		h.last(history.Line, func(e *history.Event) { e.Src = c.line })
		h.pass(c.age)
		h.emit(history.Event{Kind: history.Line, BoardID: "brd_1", Op: "up"})
		h.emit(history.Event{Kind: history.Online, BoardID: "brd_1", PlaceID: "plc_a", Epoch: h.boards["brd_1"].epoch + 1, Revision: h.boards["brd_1"].rev, OutageAgeMs: max(c.age, 40*3600_000)})
		h.boards["brd_1"].cutAt = 0
		h.present("brd_1", "kim", vocab.Denied, vocab.OutageLimit, "")
		if got := ent1(NewView(h.events)); (got.Status == Fail) != (c.want == Fail) {
			t.Errorf("after %d ms, told by %d: got %s, want %s", c.age, c.line, got, c.want)
		}
	}
}

// TestBriefContact: a board whose line goes down again before it has heard of its hello's acceptance has been in one outage,
// and may say so in its next hello and at its reader. Once it has acknowledged anything, it mustn't.
func TestBriefContact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		hours  int64
		heard  bool
		during int64  // ms of contact
		end    string // how it ends; "" = the server doesn't notice
		want   []string
	}{
		{"2 h", 2, false, 3000, history.Line, nil},
		{"2 h, and heard", 2, true, 3000, history.Line, []string{"OFF-2", "OFF-4"}},
		{"2 h, and three minutes of contact", 2, false, 180_000, history.Line, []string{"OFF-2", "OFF-4"}},
		{"2 h, and only the server knows when it ended", 2, false, 60_000, history.Offline, nil},
		{"37 h", 37, false, 3000, history.Line, nil},
		{"37 h, and only the server knows when it ended", 37, false, 60_000, history.Offline, nil},
		{"37 h, and nobody does", 37, false, 3000, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := oneBoard()
			b := h.boards["brd_1"]
			h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
			result, reason, by := vocab.Opened, vocab.Reason(vocab.Onsite), "pmt_1"
			if c.hours > 36 {
				result, reason, by = vocab.Denied, vocab.OutageLimit, ""
			}
			hello := func() {
				b.epoch++
				h.emit(history.Event{Kind: history.Line, BoardID: "brd_1", Op: "up"})
				h.emit(history.Event{Kind: history.Online, BoardID: "brd_1", PlaceID: "plc_a", Epoch: b.epoch, Revision: b.rev, OutageAgeMs: h.at - b.cutAt})
			}
			h.cut("brd_1")
			h.pass(c.hours * 3600_000)
			hello()
			if c.heard {
				h.apply("brd_1")
			}
			h.pass(c.during)
			if c.end != "" {
				h.emit(history.Event{Kind: c.end, BoardID: "brd_1", Op: "down", Text: "offline", Epoch: b.epoch})
				h.pass(60_000)
				h.present("brd_1", "kim", result, reason, by)
			}
			hello()
			h.present("brd_1", "kim", result, reason, by)
			for _, r := range b.buffered {
				h.record(r)
			}
			b.cutAt = 0
			h.present("brd_1", "kim", result, reason, by)
			var got []string
			for _, v := range Judge(NewView(h.events)) {
				if v.Status == Fail && v.Clause != "OFF-3" { // it never rests here
					got = append(got, v.Clause)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v fail, want %v", got, c.want)
			}
		})
	}
}
