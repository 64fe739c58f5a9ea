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
			return e.Kind == history.RecordIn && e.Method == method && e.Result == "denied" && e.BoardID == ""
		}
	}
	second := func(e *history.Event) { e.RecordID = "rec_x" }
	pressed := func(h *builder) {
		h.did("plc_a", "POST", linkRoute, 409, history.CallText{In: fields{"t": "link of nobody", "doorId": doorOf("brd_1", 1)}, Out: fields{"rule": "expired"}},
			func() { h.refused("link", doorOf("brd_1", 1), "expired") })
	}
	runPlants(t, []planted{
		{"a refused press without a record", func(t *testing.T, h *builder) { pressed(h); h.drop(t, denied("link")) },
			[]string{"ENT-4"}, history.Call, "was denied for expired, but has no record"},
		{"a refused press with two", func(t *testing.T, h *builder) { pressed(h); h.after(t, denied("link"), second) },
			[]string{"ENT-4"}, history.RecordIn, "has a second record"},
		{"a refused press recorded otherwise", func(t *testing.T, h *builder) {
			pressed(h)
			h.edit(t, 0, denied("link"), func(e *history.Event) { e.Reason = "revoked" })
		}, []string{"ENT-4"}, history.Call, "has no record"},
		{"refused calls without records", func(t *testing.T, h *builder) { h.drop(t, denied("phone")) },
			[]string{"ENT-4"}, history.Call, "has no record"},
		{"refused calls recorded twice", func(t *testing.T, h *builder) { h.after(t, denied("phone"), second) },
			[]string{"ENT-4"}, history.RecordIn, "has a second record"},
		{"a board uploads what nobody tried", func(t *testing.T, h *builder) {
			h.record(history.Event{PlaceID: "plc_a", BoardID: "brd_1", DoorID: doorOf("brd_1", 1), RecordSeq: 99, Result: "opened", Reason: "onsite", Method: "onsite"})
		}, []string{"ENT-4"}, history.RecordIn, "nobody was at its reader then"},
	})
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
