package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStanding: the past of boards and places is condensed to their present state. Condensing twice changes nothing.
func TestStanding(t *testing.T) {
	t.Parallel()
	past := []Event{
		{Kind: Started, Text: "server"},
		{Kind: Content, PlaceID: "p", Op: ContentGrant, GrantID: "a", Revision: 1},
		{Kind: Content, PlaceID: "p", Op: ContentHours, Revision: 1},
		{Kind: Content, PlaceID: "p", Op: ContentBase, Revision: 1},
		{Kind: Entries, PlaceID: "p", Text: `["d"]`},
		{Kind: Door, BoardID: "b", DoorID: "d", Channel: 1},
		{Kind: Online, BoardID: "b", Epoch: 1},
		{Kind: Applied, BoardID: "b", Revision: 1},
		{Kind: Actuation, BoardID: "b", Channel: 1, Action: "hold", Cause: "command", CommandID: "c1"},
		{Kind: Actuation, BoardID: "b", Channel: 1, Action: "lock", Cause: "command", CommandID: "c2"},
		{Kind: Actuation, BoardID: "b", Channel: 2, Action: "hold", Cause: "command", CommandID: "c3"},
		{Kind: Actuation, BoardID: "b", Channel: 2, Action: "pulse", Cause: "onsite"},
		{Kind: Intent, CommandID: "c4"},
		{Kind: Content, PlaceID: "p", Op: ContentGrant, GrantID: "g", Revision: 2},
		{Kind: Content, PlaceID: "p", Op: ContentRemoved, GrantID: "a", Revision: 3},
		{Kind: Line, BoardID: "b", Op: "down", Text: "flap"},
		{Kind: Line, BoardID: "b", Op: "up", Text: "flap"},
		{Kind: Applied, BoardID: "b", Revision: 3},
		{Kind: Entries, PlaceID: "p", Text: `[]`},
		{Kind: Netloss, BoardID: "w", Text: `{"graceSec":0}`},
		{Kind: Applied, BoardID: "w", Revision: 3},
		{Kind: Actuation, BoardID: "w", Channel: 1, Action: "hold", Cause: "command", CommandID: "c5"},
		{Kind: Netloss, BoardID: "b", Text: `{"graceSec":60}`},
		{Kind: Wiped, BoardID: "w"},
	}
	var s Standing
	for _, e := range past {
		s.See(e)
	}
	got := s.Events()
	want := []Event{
		{Seq: 1, Kind: Started, Text: "server"},
		{Seq: 2, Kind: Content, PlaceID: "p", Op: ContentHours, Revision: 1},
		{Seq: 3, Kind: Content, PlaceID: "p", Op: ContentBase, Revision: 3},
		{Seq: 4, Kind: Door, BoardID: "b", DoorID: "d", Channel: 1},
		{Seq: 5, Kind: Online, BoardID: "b", Epoch: 1},
		{Seq: 6, Kind: Actuation, BoardID: "b", Channel: 2, Action: "hold", Cause: "command"},
		{Seq: 7, Kind: Content, PlaceID: "p", Op: ContentGrant, GrantID: "g", Revision: 2},
		{Seq: 8, Kind: Applied, BoardID: "b", Revision: 3},
		{Seq: 9, Kind: Entries, PlaceID: "p", Text: `[]`},
		{Seq: 10, Kind: Netloss, BoardID: "b", Text: `{"graceSec":60}`},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("what stands (-want +got):\n%s", d)
	}
	var again Standing
	for _, e := range got {
		again.See(e)
	}
	if d := cmp.Diff(got, again.Events()); d != "" {
		t.Errorf("condensing twice changes the state, want it unchanged (-first +again):\n%s", d)
	}
}

// TestStandingLine: a board's line has one condition at a time. A fault that replaces another while the line is bad tells
// nothing, so the end carries the name of the last one.
func TestStandingLine(t *testing.T) {
	t.Parallel()
	line := func(op, text string) Event { return Event{Kind: Line, BoardID: "b", Op: op, Text: text} }
	for name, c := range map[string]struct {
		past, want []Event
	}{
		"another fault took over":          {[]Event{line("down", "halfopen"), line("up", "offline")}, []Event{}},
		"packets were lost before":         {[]Event{line("lossy", "packets"), line("down", "halfopen"), line("up", "halfopen")}, []Event{}},
		"packets are lost again":           {[]Event{line("lossy", "packets"), line("down", "halfopen"), line("up", "halfopen"), line("lossy", "packets")}, []Event{{Seq: 1, Kind: Line, BoardID: "b", Op: "lossy", Text: "packets"}}},
		"packets were lost, now it's down": {[]Event{line("lossy", "packets"), line("down", "halfopen")}, []Event{{Seq: 1, Kind: Line, BoardID: "b", Op: "down", Text: "halfopen"}}},
	} {
		var s Standing
		for _, e := range c.past {
			s.See(e)
		}
		if d := cmp.Diff(c.want, s.Events()); d != "" {
			t.Errorf("%s: what stands (-want +got):\n%s", name, d)
		}
	}
}
