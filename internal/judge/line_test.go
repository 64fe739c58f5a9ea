package judge

import (
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
		s := lineState{known: true}
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
		s := lineState{known: true}
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

// TestTooOldInAHello: who says 40 h after a minute mustn't turn people away until it has been synchronized.
func TestTooOldInAHello(t *testing.T) {
	t.Parallel()
	for age, want := range map[int64]Status{37 * 3600_000: Pass, 60_000: Fail} {
		h := oneBoard()
		h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
		h.cut("brd_1")
		h.pass(age)
		h.emit(history.Event{Kind: history.Line, BoardID: "brd_1", Op: "up"})
		h.emit(history.Event{Kind: history.Online, BoardID: "brd_1", PlaceID: "plc_a", Epoch: h.boards["brd_1"].epoch + 1, Revision: h.boards["brd_1"].rev, OutageAgeMs: max(age, 40*3600_000)})
		h.boards["brd_1"].cutAt = 0
		h.present("brd_1", "kim", vocab.Denied, vocab.OutageLimit, "")
		if got := ent1(NewView(h.events)); (got.Status == Fail) != (want == Fail) {
			t.Errorf("after %d ms: got %s, want %s", age, got, want)
		}
	}
}
