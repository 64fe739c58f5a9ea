package judge

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// emptied brings brd_1 back with an empty flash, to a server that sends it nothing.
func emptied(h *builder) {
	b := h.boards["brd_1"]
	h.cut("brd_1")
	h.emit(history.Event{Kind: history.Wiped, BoardID: "brd_1"})
	h.emit(history.Event{Kind: history.Line, BoardID: "brd_1", Op: "up"})
	h.emit(history.Event{Kind: history.Online, BoardID: "brd_1", PlaceID: "plc_a", Epoch: b.epoch + 1})
	h.pass(2 * FreshMs)
	h.emit(history.Event{Kind: history.Label})
}

// TestLostFlashes: what a board had before its flash was lost doesn't count, neither as being in sync nor as an excuse for
// records that were due by then.
func TestLostFlashes(t *testing.T) {
	lostRecord := func(t *testing.T, h *builder) {
		h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
		h.events = h.events[:len(h.events)-1] // its record
	}
	wiped := func(h *builder) {
		h.cut("brd_2")
		h.emit(history.Event{Kind: history.Wiped, BoardID: "brd_2"})
		h.boards["brd_2"].rev = 0
		h.back("brd_2")
	}
	runPlants(t, []planted{
		{"a flash that is never filled again", func(_ *testing.T, h *builder) { emptied(h) },
			[]string{"SYNC-1", "SYNC-2", "OFF-4"}, history.Online, "never got to revision"},
		{"a flash that is filled again after two hours", func(_ *testing.T, h *builder) {
			emptied(h)
			h.pass(2 * 3600_000)
			h.apply("brd_1")
		}, []string{"SYNC-1", "SYNC-2"}, history.Committed, "reached brd_1 only after"},
		{"a real board's that is never filled again", func(_ *testing.T, h *builder) {
			h.guest()
			h.emit(history.Event{Kind: history.Online, BoardID: "brd_1", PlaceID: "plc_a", Epoch: h.boards["brd_1"].epoch + 1})
			h.pass(2 * FreshMs)
			h.emit(history.Event{Kind: history.Label})
		}, []string{"OFF-4"}, history.Online, "never got to revision"},
		{"a record that a later one had overtaken", func(t *testing.T, h *builder) {
			lostRecord(t, h)
			h.present("brd_2", "cho", "opened", "onsite", "pmt_3")
			wiped(h)
		}, []string{"ENT-4"}, history.Presented, "never arrived"},
		{"a record that was due for an hour", func(t *testing.T, h *builder) {
			lostRecord(t, h)
			h.pass(3600_000)
			h.emit(history.Event{Kind: history.Label})
			wiped(h)
		}, []string{"ENT-4"}, history.Presented, "never arrived"},
	})
}

// TestARepeatSettlesNothing: that somebody asked again for a command that a dead server had left excuses no missing record.
func TestARepeatSettlesNothing(t *testing.T) {
	t.Parallel()
	l := &listed{}
	l.at(1, history.Event{Kind: history.Started})
	l.command(2, "cmd_0", "k0", "rec_0", vocab.Opened, vocab.Reported, 1) // reported in records
	l.at(10, history.Event{Kind: history.Intent, CommandID: "cmd_1", Key: "k1", DoorID: "dor_a", Op: "open"})
	l.at(12, history.Event{Kind: history.Started})
	l.at(13, history.Event{Kind: history.Online, BoardID: "brd_a", Epoch: 2})
	l.at(20, history.Event{Kind: history.Attempt, Key: "k1", DoorID: "dor_a", Request: "again"})
	l.at(20, history.Event{Kind: history.Answer, CommandID: "cmd_1", Key: "k1", Request: "again", Status: 504, Outcome: vocab.NoResponse})
	l.at(100, history.Event{Kind: history.Label})
	if v := ent4(NewView(l.events)); v.FirstBad == nil || !strings.Contains(v.Number, "cmd_1 ended noResponse but has no record") {
		t.Errorf("got %s, want that cmd_1 has no record", v.Number)
	}
}

// TestRestartsLongAfterAReport: a restart excuses an unsettled record only if it came before the report can have been
// settled.
func TestRestartsLongAfterAReport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		second int // of the restart; the report came in second 210
		bad    bool
	}{{"three minutes later", 400, true}, {"four seconds later", 214, false}, {"before it", 205, false}} {
		l := newListed()
		l.at(c.second, history.Event{Kind: history.Started})
		delete(l.records[1], "settledAs")
		l.call(t, 600, "/space/v1/partner/entry-logs", "", "sinceDays=30&limit=500", l.records)
		if v := ent4(NewView(history.Merge(l.events))); (v.FirstBad != nil) != c.bad || c.bad && !strings.Contains(v.Number, "isn't settled") {
			t.Errorf("%s: got %s, want a breach: %v", c.name, v.Number, c.bad)
		}
	}
}

// TestRecordsShowWhoCame: a board's record shows the phone that was presented, masked as its ends are, and where, even if
// the credited grant is somebody else's by now.
func TestRecordsShowWhoCame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grant string
		edit  func(*history.Event) // of the record
		bad   bool
	}{
		"as presented":          {"", func(e *history.Event) { e.Text = "010-****-1234" }, false},
		"without its beginning": {"", func(e *history.Event) { e.Text = "1234" }, true},
		"somebody else":         {"", func(e *history.Event) { e.Text = "010-****-9999" }, true},
		"the grant's holder":    {"pmt_3", func(e *history.Event) { e.Text = "010-****-9999" }, true},
		"at another door":       {"", func(e *history.Event) { e.DoorID = doorOf("brd_1", 2) }, true},
	} {
		h := oneBoard()
		h.present("brd_1", "cho", "denied", "no_valid_grant", c.grant)
		h.last(history.Presented, func(e *history.Event) { e.Text = "010-****-1234" })
		h.last(history.RecordIn, c.edit)
		if v := ent4(NewView(h.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("%s: ENT-4 is %s, want a breach: %t", name, v.Number, c.bad)
		}
	}
}
