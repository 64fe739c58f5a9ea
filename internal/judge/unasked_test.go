package judge

import (
	"encoding/json"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// moves adds a movement of brd_1's first relay.
func (h *builder) moves(action, cause string) {
	h.emit(history.Event{Kind: history.Actuation, BoardID: "brd_1", PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), Channel: 1, Boot: 1,
		Action: action, Cause: cause, Revision: h.boards["brd_1"].rev})
}

// TestEveryMovementHasAReason: a relay moves for a command with an id, a person, an outage or the end of a hold, and for
// nothing else.
func TestEveryMovementHasAReason(t *testing.T) {
	runPlants(t, []planted{
		{"for a command without an id", func(_ *testing.T, h *builder) { h.moves("pulse", "command") },
			[]string{"CMD-5"}, history.Actuation, "did pulse for a command without an id"},
		{"for a policy", func(_ *testing.T, h *builder) { h.moves("pulse", "policy") },
			[]string{"ENT-1"}, history.Actuation, `did pulse for "policy"`},
		{"for nothing", func(_ *testing.T, h *builder) { h.moves("hold", "") },
			[]string{"ENT-1"}, history.Actuation, `did hold for ""`},
		{"an end that holds", func(t *testing.T, h *builder) {
			h.hold("brd_1", 300_000)
			h.edit(t, 0, func(e history.Event) bool { return e.Cause == "hold_end" }, func(e *history.Event) { e.Action = "pulse" })
		}, []string{"CMD-7"}, history.Actuation, "did pulse at the end of a hold"},
	})
}

// TestHoldsThatARunFinds: a hold that stands when a run begins has no command any more.
func TestHoldsThatARunFinds(t *testing.T) {
	t.Parallel()
	h := offlineBoard()
	h.moves("hold", "command")
	if got := failing(Judge(NewView(history.Since(history.Event{At: h.at, WallNs: h.wall}, [][]history.Event{h.events}, nil)))); len(got) > 0 {
		t.Errorf("failing clauses %v, want none", got)
	}
}

// TestARelayThatNeverFalls: that a board has never told of a fall doesn't mean that it doesn't tell of them.
func TestARelayThatNeverFalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other   bool // another board tells of a fall
		pulseMs int64
		bad     bool
	}{"another board's did": {true, 0, true}, "its journal says how long it pulses": {false, 5000, true}, "an old build": {false, 0, false}} {
		h := offlineBoard()
		h.addBoard("plc_a", "brd_2")
		h.online("brd_1")
		h.moves("pulse", "command")
		h.events[len(h.events)-1].PulseMs, h.events[len(h.events)-1].CommandID = c.pulseMs, "cmd_1"
		if c.other {
			h.emit(history.Event{Kind: history.Released, BoardID: "brd_2", Channel: 1})
		}
		h.pass(60_000)
		h.moves("deny", "onsite")
		if got := len(NewView(h.events).driven().of("CMD-1").found) > 0; got != c.bad {
			t.Errorf("%s: a breach: %v, want %v", name, got, c.bad)
		}
	}
}

// TestRestartsInTheTestPlace: a restart of the server excuses only the 504s of the requests that it cut off.
func TestRestartsInTheTestPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start int64 // seconds after the request
		bad   bool
	}{"two hours before": {-7200, true}, "while it was waiting": {2, false}, "ten seconds after the answer": {13, false}, "an hour after": {3600, true}} {
		at := func(second int64, e history.Event) history.Event {
			e.At, e.WallNs = t0+second*1000, (t0+second*1000)*1e6
			return e
		}
		text := history.CallText{Kind: "test", SentAt: t0, SentNs: t0 * 1e6, In: map[string]any{"op": "open"}}
		v := cmd8(NewView(history.Merge([]history.Event{at(-10_000, history.Event{Kind: history.Started}), at(c.start, history.Event{Kind: history.Started}),
			at(3, history.Event{Kind: history.Call, Method: "POST", Route: "/device/v1/devices/{id}/commands", Status: 504, Code: "device_no_response",
				Text: string(must.Get(json.Marshal(text))(t))})})))
		if (v.FirstBad != nil) != c.bad {
			t.Errorf("%s: %s, want a breach: %v", name, v, c.bad)
		}
	}
}
