package judge

import (
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestRecordsOfRefusals: a refused press or call has one record, and a board uploads nothing that nobody tried at its reader.
func TestRecordsOfRefusals(t *testing.T) {
	denied := func(method string) func(history.Event) bool {
		return func(e history.Event) bool {
			return e.Kind == history.RecordIn && e.Method == method && e.Result == "denied" && e.BoardID == "" && e.Reason != "link_invalid"
		}
	}
	second := func(e *history.Event) { e.RecordID = "rec_x" }
	pressed := func(h *builder) {
		h.did("plc_a", "POST", linkRoute, 409, history.CallText{In: fields{"t": "link of nobody", "doorId": doorOf("brd_1", 1)}, Out: fields{"rule": "expired"}},
			func() { h.refused("link", doorOf("brd_1", 1), "expired") })
	}
	dead := func(e history.Event) bool { return e.Kind == history.RecordIn && e.Reason == "link_invalid" }
	runPlants(t, []planted{
		{"a refused press without a record", func(t *testing.T, h *builder) { pressed(h); h.drop(t, denied("link")) },
			[]string{"ENT-4"}, history.Call, "was denied for expired, but has no record"},
		{"a refused press with two", func(t *testing.T, h *builder) { pressed(h); h.after(t, denied("link"), second) },
			[]string{"ENT-4"}, history.RecordIn, "has a second record"},
		{"a refused press recorded otherwise", func(t *testing.T, h *builder) {
			pressed(h)
			h.edit(t, 0, denied("link"), func(e *history.Event) { e.Reason = "revoked" })
		}, []string{"ENT-4"}, history.Call, "has no record"},
		{"a dead link's press without a record", func(t *testing.T, h *builder) { h.drop(t, dead) },
			[]string{"ENT-4"}, history.Call, "was denied for link_invalid, but has no record"},
		{"a dead link's press recorded without its door", func(t *testing.T, h *builder) {
			h.edit(t, 0, dead, func(e *history.Event) { e.DoorID = "" })
		}, []string{"ENT-4"}, history.Call, "was denied for link_invalid, but has no record"},
		{"refused calls without records", func(t *testing.T, h *builder) { h.drop(t, denied("phone")) },
			[]string{"ENT-4"}, history.Call, "has no record"},
		{"refused calls recorded twice", func(t *testing.T, h *builder) { h.after(t, denied("phone"), second) },
			[]string{"ENT-4"}, history.RecordIn, "has a second record"},
		{"a board uploads what nobody tried", func(t *testing.T, h *builder) {
			h.record(history.Event{PlaceID: "plc_a", BoardID: "brd_1", DoorID: doorOf("brd_1", 1), RecordSeq: 99, Result: "opened", Reason: "onsite", Method: "onsite"})
		}, []string{"ENT-4"}, history.RecordIn, "nobody was at its reader then"},
	})
}

// pressDead presses mia's dead link; recorded is the door of the record, "none" without one, "" = there is no record.
func (h *builder) pressDead(door, recorded string) {
	h.did("plc_a", "POST", linkRoute, 404, history.CallText{In: fields{"t": "link 1", "doorId": door}}, func() {
		switch recorded {
		case "":
		case "none":
			h.refused("link", "", "link_invalid")
		default:
			h.refused("link", recorded, "link_invalid")
		}
	})
}

// TestDeadLinksAreRecorded: a press of a dead link has a record with its door, if that is one of the link's place.
func TestDeadLinksAreRecorded(t *testing.T) {
	t.Parallel()
	own := doorOf("brd_1", 1)
	for name, c := range map[string]struct {
		door, recorded string
		breaches       int
	}{
		"its door":         {own, own, 0},
		"no record":        {own, "", 1},
		"no door":          {own, "none", 1},
		"an unknown door":  {"dor_nobody", "none", 0},
		"recorded there":   {"dor_nobody", own, 1},
		"without a record": {"dor_nobody", "", 1},
	} {
		h := oneBoard()
		h.again("link 1")
		h.revoke(h.at, "lost", false)
		h.pressDead(c.door, c.recorded)
		tally := &tally{}
		if NewView(h.events).refused(tally); len(tally.found) != c.breaches {
			t.Errorf("%s: found %v, want %d", name, tally.found, c.breaches)
		}
	}
}

// TestUnrecordedRefusals: a number's seventh refused call within a minute isn't recorded, whichever was answered first, and
// whether the first ones are in the history or not. Nobody else's share is used up before that.
func TestUnrecordedRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		called   string // what becomes of each call: a is answered, r recorded, b both
		want     int    // of those with a record
		breaches int
	}{
		"six calls":              {"bbbbbb", 6, 0},
		"nine":                   {"bbbbbbaaa", 6, 0},
		"the seventh came first": {"abbbbbb", 6, 0},
		"six from elsewhere":     {"rrrrrra", 0, 0},
		"five from elsewhere":    {"rrrrra", 0, 1},
		"none is recorded":       {"aaaaaaa", 0, 7},
	} {
		h := clean()
		before := NewView(h.events).refused(&tally{})
		h.pass(600_000)
		refused := func() { h.refused("phone", "", "no_valid_grant") }
		calls := strings.TrimLeft(c.called, "r")
		for range len(c.called) - len(calls) {
			refused()
		}
		sent := h.wall + 1 // all of these at once
		for _, what := range calls {
			change := refused
			if what == 'a' {
				change = nil
			}
			h.did("plc_a", "POST", phoneRoute, 200, history.CallText{In: fields{"from": "eve"}, Out: fields{"answered": true, "result": "denied", "reason": "no_valid_grant", "doorId": ""}}, change)
			h.last(history.Call, func(e *history.Event) { e.Text = sentNs.ReplaceAllString(e.Text, `"sentNs":`+num(sent)) })
		}
		tally := &tally{}
		if got := NewView(h.events).refused(tally) - before; got != c.want || len(tally.found) != c.breaches {
			t.Errorf("%s: %d recorded, want %d; found %v, want %d", name, got, c.want, tally.found, c.breaches)
		}
	}
}

var sentNs = regexp.MustCompile(`"sentNs":\d+`)
