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
