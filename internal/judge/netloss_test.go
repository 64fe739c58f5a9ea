package judge

import (
	"encoding/json"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestPolicyAsAnswered: a board rests by the policy in the PUT's answer, and GET returns that policy.
func TestPolicyAsAnswered(t *testing.T) {
	t.Parallel()
	asked := fields{"graceSec": 60, "channels": fields{"1": "hold"}}
	other := fields{"graceSec": 600, "channels": fields{"1": "hold"}}
	for name, c := range map[string]struct {
		stored   string // on the board
		put, get fields // in the API's answers
		action   string
		want     Status
	}{
		"all agree":              {`{"graceSec":60,"channels":{"1":"hold"},"version":1}`, asked, asked, "hold", Pass},
		"the board stored other": {`{"graceSec":60,"channels":{"1":"close"},"version":1}`, asked, asked, "lock", Fail},
		"PUT answers other":      {`{"graceSec":60,"channels":{"1":"hold"},"version":1}`, other, other, "hold", Fail},
		"GET answers other":      {`{"graceSec":60,"channels":{"1":"hold"},"version":1}`, asked, other, "hold", Fail},
		"a later one came":       {`{"graceSec":60,"channels":{"1":"close"},"version":2}`, asked, other, "lock", Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newBuilder()
			h.addBoard("plc_a", "brd_1")
			h.events = h.events[:1] // channel 1 is enough
			h.online("brd_1")
			call := func(method string, in, out fields) {
				at := h.wall + 1
				if method == "PUT" {
					h.emit(history.Event{Kind: history.Netloss, BoardID: "brd_1", Text: c.stored})
				}
				text, _ := json.Marshal(history.CallText{SentAt: h.at, SentNs: at, Path: "brd_1", In: in, Out: out})
				h.emit(history.Event{Kind: history.Call, PlaceID: "plc_a", Method: method, Route: netlossRoute, Status: 200, Text: string(text)})
			}
			withVersion := func(f fields) fields {
				return fields{"graceSec": f["graceSec"], "channels": f["channels"], "version": 1}
			}
			call("PUT", asked, withVersion(c.put))
			if name != "a later one came" {
				call("GET", nil, withVersion(c.get))
			}
			h.cut("brd_1")
			h.pass(60_000)
			h.emit(history.Event{Kind: history.Actuation, BoardID: "brd_1", PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), Channel: 1, Boot: 1,
				Action: c.action, Cause: "outage", OutageAgeMs: 60_000})
			if v := off3(NewView(h.events)); v.Status != c.want {
				t.Errorf("%s: %s, want %s", v.Status, v.Number, c.want)
			}
		})
	}
}

// TestPolicyByHand: a board in whose place a scenario speaks may store another policy than it was asked for, as long as
// the scenario speaks and no longer.
func TestPolicyByHand(t *testing.T) {
	t.Parallel()
	asked := fields{"graceSec": 60, "channels": fields{"1": "hold"}, "version": 1}
	other := fields{"graceSec": 600, "channels": fields{"1": "hold"}, "version": 1}
	const detach, hand, attach, put, get, wrong = "detach", "hand", "attach", "put", "get", "wrong"
	for _, c := range []struct {
		steps   []string
		checked int
		fails   bool
	}{
		{[]string{put, wrong}, 2, true},
		{[]string{detach, hand, put, wrong}, 1, false},
		{[]string{detach, put, wrong}, 2, true}, // a real board
		{[]string{put, wrong, detach, hand}, 2, true},
		{[]string{detach, hand, attach, put, wrong}, 2, true},
		{[]string{detach, hand, attach, put, get}, 2, false},
	} {
		h := newBuilder()
		h.addBoard("plc_a", "brd_1")
		h.online("brd_1")
		for _, step := range c.steps {
			e := history.Event{BoardID: "brd_1"}
			text := history.CallText{SentAt: h.at, SentNs: h.wall + 1, Path: "brd_1", Out: asked}
			switch step {
			case detach:
				e.Kind = history.Detached
			case hand:
				e.Kind = history.Hand
			case attach:
				e.Kind = history.Attached
			case put:
				e, text.In = history.Event{Kind: history.Call, Method: "PUT"}, asked
			case get:
				e = history.Event{Kind: history.Call, Method: "GET"}
			case wrong:
				e, text.Out = history.Event{Kind: history.Call, Method: "GET"}, other
			}
			if e.Kind == history.Call {
				raw, _ := json.Marshal(text)
				e.PlaceID, e.Route, e.Status, e.Text = "plc_a", netlossRoute, 200, string(raw)
			}
			h.emit(e)
		}
		got := NewView(h.events).outagePolicies()
		if got.checked != c.checked || (len(got.found) > 0) != c.fails {
			t.Errorf("%v: checked %d, breaches %v; want %d, %v", c.steps, got.checked, got.found, c.checked, c.fails)
		}
	}
}
