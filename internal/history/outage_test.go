package history

import "testing"

// TestPolicyChangedLater: a policy that is stored after an outage does not
// change what the outage is judged by.
func TestPolicyChangedLater(t *testing.T) {
	t.Parallel()
	const board, place = "brd_1", "plc_1"
	at := t0
	var events []Event
	emit := func(e Event) {
		e.Seq, e.At, e.BoardID = int64(len(events)+1), at, board
		events = append(events, e)
	}
	emit(Event{Kind: Door, PlaceID: place, DoorID: "dor_1", Channel: 1})
	emit(Event{Kind: Online, PlaceID: place, Epoch: 1})
	emit(Event{Kind: Netloss, Text: `{"graceSec":600,"channels":{"1":"open"}}`})
	emit(Event{Kind: Offline, Epoch: 1})
	at += 600_000
	emit(Event{Kind: Actuation, PlaceID: place, DoorID: "dor_1", Channel: 1, Boot: 1, Action: "pulse", Cause: "outage", OutageAgeMs: 600_000})
	emit(Event{Kind: Online, PlaceID: place, Epoch: 2, OutageAgeMs: 600_000})
	emit(Event{Kind: Netloss, Text: `{"graceSec":5,"channels":{"1":"close"}}`})
	if v := Off3(NewView(events)); v.Status != Pass || v.Checked != 1 {
		t.Errorf("%s: %s", v.Status, v.Number)
	}
}
