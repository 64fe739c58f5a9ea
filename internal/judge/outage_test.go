package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestPolicyChangedLater: a policy stored after an outage doesn't change how that outage is judged.
func TestPolicyChangedLater(t *testing.T) {
	t.Parallel()
	const board, place = "brd_1", "plc_1"
	at := t0
	var events []history.Event
	emit := func(e history.Event) {
		e.Seq, e.At, e.BoardID = int64(len(events)+1), at, board
		events = append(events, e)
	}
	emit(history.Event{Kind: history.Door, PlaceID: place, DoorID: "dor_1", Channel: 1})
	emit(history.Event{Kind: history.Online, PlaceID: place, Epoch: 1})
	emit(history.Event{Kind: history.Netloss, Text: `{"graceSec":600,"channels":{"1":"open"}}`})
	emit(history.Event{Kind: history.Offline, Epoch: 1})
	at += 600_000 // the outage begins when the line goes down
	emit(history.Event{Kind: history.Actuation, PlaceID: place, DoorID: "dor_1", Channel: 1, Boot: 1, Action: "pulse", Cause: "outage", OutageAgeMs: 600_000})
	emit(history.Event{Kind: history.Online, PlaceID: place, Epoch: 2, OutageAgeMs: 600_000})
	emit(history.Event{Kind: history.Netloss, Text: `{"graceSec":5,"channels":{"1":"close"}}`})
	if v := off3(NewView(events)); v.Status != Pass || v.Checked != 1 {
		t.Errorf("%s, %d checked: %s, want PASS of 1", v.Status, v.Checked, v.Number)
	}
}

// TestPolicyGoesWithTheFlash: a board that lost its flash behaves like one that was never configured, and
// immediately, because it has lost its clock too.
func TestPolicyGoesWithTheFlash(t *testing.T) {
	t.Parallel()
	const board, place = "brd_1", "plc_1"
	for action, want := range map[string]Status{"lock": Pass, "hold": Fail} {
		var events []history.Event
		for _, e := range []history.Event{
			{Kind: history.Door, PlaceID: place, DoorID: "dor_1", Channel: 1},
			{Kind: history.Online, PlaceID: place, Epoch: 1},
			{Kind: history.Netloss, Text: `{"graceSec":600,"channels":{"1":"hold"}}`},
			{Kind: history.Wiped},
			{Kind: history.Actuation, PlaceID: place, DoorID: "dor_1", Channel: 1, Boot: 2, Action: action, Cause: "outage", OutageAgeMs: -1},
			{Kind: history.Offline, Epoch: 1},
			{Kind: history.Online, PlaceID: place, Epoch: 2, OutageAgeMs: -1},
		} {
			e.Seq, e.At, e.BoardID = int64(len(events)+1), t0, board
			events = append(events, e)
		}
		if v := off3(NewView(events)); v.Status != want {
			t.Errorf("%s: %s: %s, want %s", action, v.Status, v.Number, want)
		}
	}
}

// TestWipedInAnOutage: if a board loses its flash during an outage, what it did before that is judged by the policy
// it had then.
func TestWipedInAnOutage(t *testing.T) {
	t.Parallel()
	const board, place = "brd_1", "plc_1"
	for action, want := range map[string]Status{"hold": Pass, "off": Fail} {
		var events []history.Event
		for _, e := range []history.Event{
			{Kind: history.Door, PlaceID: place, DoorID: "dor_1", Channel: 1},
			{Kind: history.Online, PlaceID: place, Epoch: 1},
			{Kind: history.Netloss, Text: `{"graceSec":0,"channels":{"1":"hold"}}`},
			{Kind: history.Line, Op: "down", Text: "offline"},
			{Kind: history.Actuation, PlaceID: place, DoorID: "dor_1", Channel: 1, Boot: 1, Action: action, Cause: "outage"},
			{Kind: history.Offline, Epoch: 1},
			{Kind: history.Wiped},
			{Kind: history.Actuation, PlaceID: place, DoorID: "dor_1", Channel: 1, Boot: 2, Action: "lock", Cause: "outage", OutageAgeMs: -1},
			{Kind: history.Online, PlaceID: place, Epoch: 2, OutageAgeMs: -1},
		} {
			e.Seq, e.At, e.BoardID = int64(len(events)+1), t0, board
			events = append(events, e)
		}
		if v := off3(NewView(events)); v.Status != want || v.Checked != 2 {
			t.Errorf("%s: %s: %s, %d checked, want %s of 2", action, v.Status, v.Number, v.Checked, want)
		}
	}
}

// TestHeldAfterRecovery: a channel that rested in "hold" is locked when its board comes back, even if there is nothing to
// synchronize: 300 s of connection, or somebody at the reader, show that the server has spoken to the board.
func TestHeldAfterRecovery(t *testing.T) {
	t.Parallel()
	const board, place, door = "brd_1", "plc_1", "dor_1"
	lock := history.Event{Kind: history.Actuation, DoorID: door, Channel: 1, Boot: 1, Action: "lock", Cause: "outage"}
	for name, c := range map[string]struct {
		next []history.Event
		ms   int64 // until the end
		want Status
	}{
		"locked":                 {[]history.Event{lock}, FreshMs + 1, Pass},
		"never":                  {nil, FreshMs + 1, Fail},
		"not yet":                {nil, FreshMs - 1000, Pass},
		"away again":             {[]history.Event{{Kind: history.Line, Op: "down", Text: "offline"}}, FreshMs + 1, Pass},
		"not when somebody came": {[]history.Event{{Kind: history.Presented, DoorID: door}}, 1000, Fail},
		"before somebody came":   {[]history.Event{lock, {Kind: history.Presented, DoorID: door}}, 1000, Pass},
	} {
		at := t0
		var events []history.Event
		emit := func(e history.Event) {
			e.Seq, e.At, e.BoardID, e.PlaceID = int64(len(events)+1), at, board, place
			events = append(events, e)
		}
		emit(history.Event{Kind: history.Door, DoorID: door, Channel: 1})
		emit(history.Event{Kind: history.Online, Epoch: 1})
		emit(history.Event{Kind: history.Netloss, Text: `{"graceSec":600,"channels":{"1":"hold"}}`})
		emit(history.Event{Kind: history.Actuation, DoorID: door, Channel: 1, Boot: 1, Action: "hold", Cause: "command", CommandID: "cmd_1"})
		emit(history.Event{Kind: history.Line, Op: "down", Text: "offline"})
		emit(history.Event{Kind: history.Offline, Epoch: 1})
		at += 600_000
		emit(history.Event{Kind: history.Actuation, DoorID: door, Channel: 1, Boot: 1, Action: "hold", Cause: "outage", OutageAgeMs: 600_000})
		emit(history.Event{Kind: history.Line, Op: "up", Text: "offline"})
		emit(history.Event{Kind: history.Online, Epoch: 2, OutageAgeMs: 600_000})
		at++
		for _, e := range c.next {
			emit(e)
		}
		at += c.ms
		emit(history.Event{Kind: history.Label, Text: "end"})
		if v := off3(NewView(events)); v.Status != c.want {
			t.Errorf("%s: %s: %s, want %s", name, v.Status, v.Number, c.want)
		}
	}
}
