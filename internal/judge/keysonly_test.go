package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestAnswersAloneProveNoSingleOpening: if only clients' events are known, equal answers under a key don't prove that
// the door opened once, but different answers are a breach.
func TestAnswersAloneProveNoSingleOpening(t *testing.T) {
	t.Parallel()
	told := func(second string) []history.Event {
		var out []history.Event
		for i, command := range []string{"cmd_1", second} {
			at := int64(1_000 + i*1_000)
			out = append(out,
				history.Event{Kind: history.Attempt, Seq: at, At: at, WallNs: at * 1e6, Request: command, PlaceID: "plc_1", DoorID: "dor_1", Key: "k", Meaning: "dor_1 open"},
				history.Event{Kind: history.Answer, Seq: at + 1, At: at + 100, WallNs: (at + 100) * 1e6, Request: command, PlaceID: "plc_1", DoorID: "dor_1", Key: "k",
					Meaning: "dor_1 open", Status: 200, Outcome: "reported", CommandID: command, BodyHash: "b"})
		}
		return out
	}
	door := history.Event{Kind: history.Door, Seq: 1, At: 1, WallNs: 1, PlaceID: "plc_1", BoardID: "brd_1", DoorID: "dor_1", Channel: 1}
	for name, c := range map[string]struct {
		events []history.Event
		want   Status
	}{
		"equal answers":           {told("cmd_1"), Skipped},
		"other answers":           {told("cmd_2"), Fail},
		"equal, boards tell, too": {append([]history.Event{door}, told("cmd_1")...), Pass},
	} {
		if got := cmd5(NewView(c.events)); got.Status != c.want {
			t.Errorf("%s: CMD-5 is %s (%s), want %s", name, got.Status, got.Number, c.want)
		}
	}
}

// TestRefusedBeforeTakesNoKey: a request that was refused before a command existed proves nothing about a single
// opening.
func TestRefusedBeforeTakesNoKey(t *testing.T) {
	t.Parallel()
	events := []history.Event{
		{Kind: history.Door, Seq: 1, At: 1, WallNs: 1, PlaceID: "plc_1", BoardID: "brd_1", DoorID: "dor_1", Channel: 1},
		{Kind: history.Attempt, Seq: 2, At: 2, WallNs: 2, Request: "r", PlaceID: "plc_1", DoorID: "dor_x", Key: "k", Meaning: "dor_x open"},
		{Kind: history.Answer, Seq: 3, At: 3, WallNs: 3, Request: "r", PlaceID: "plc_1", DoorID: "dor_x", Key: "k", Meaning: "dor_x open", Status: 404, Code: "device_not_found"},
	}
	if got := cmd5(NewView(events)); got.Status != Skipped || got.Checked != 0 {
		t.Errorf("a key of which only a 404 is known: CMD-5 is %s, %d checked (%s), want %s and 0", got.Status, got.Checked, got.Number, Skipped)
	}
}
