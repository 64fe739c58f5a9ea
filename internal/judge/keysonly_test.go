package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestAnswersAloneProveNoSingleOpening: with clients' events only, equal answers under a key
// are no evidence of what the door did, other ones are a breach.
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
		if got := Cmd5(NewView(c.events)); got.Status != c.want {
			t.Errorf("%s: CMD-5 is %s (%s), want %s", name, got.Status, got.Number, c.want)
		}
	}
}
