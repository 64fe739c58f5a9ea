package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/world"
)

// TestNoNumber: a form with a NaN, which JSON doesn't have, or with two places for one fault is refused before anything is
// asked.
func TestNoNumber(t *testing.T) {
	t.Parallel()
	for field, form := range map[string]url.Values{
		"share": {"fault": {"offline"}, "on": {"share"}, "share": {"NaN"}},
		"share is filled in, but boards is chosen": {"fault": {"offline"}, "on": {"boards"}, "boards": {"brd_1"}, "share": {"20"}},
		"boards is filled in, but share is chosen": {"fault": {"offline"}, "on": {"share"}, "boards": {"brd_1"}, "share": {"10"}},
		"place is filled in, but share is chosen":  {"fault": {"offline"}, "on": {"share"}, "place": {"plc_1"}, "share": {"10"}},
		"p50Ms must be a number":                   {"fault": {"slow"}, "on": {"place"}, "place": {"plc_1"}, "param.p50Ms": {"Inf"}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/faults", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if _, err := new(Console).addFault(r); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v: %v, want it refused for %s", form, err, field)
		}
	}
}

// TestBoardsByName: boards are named as the page's list shows them, or by id; those that are called the same by id only.
func TestBoardsByName(t *testing.T) {
	t.Parallel()
	n := namesOf(&world.World{Places: []world.Place{
		{ID: "plc_1", Name: "Gangnam", Boards: []world.Board{{ID: "brd_1", Name: "Front"}, {ID: "brd_2", Name: "Back"}}},
		{ID: "plc_2", Name: "Mapo", Boards: []world.Board{{ID: "brd_3", Name: "Front"}, {ID: "brd_4", Name: "Twin"}, {ID: "brd_5", Name: "Twin"}}}}})
	for text, want := range map[string][]string{
		"Gangnam · Front":               {"brd_1"},
		"brd_1 brd_2,brd_9":             {"brd_1", "brd_2", "brd_9"},
		"Mapo · Front, Gangnam · Back ": {"brd_3", "brd_2"},
		"Mapo · Twin":                   {"Mapo", "·", "Twin"},
		"":                              {},
	} {
		if got := n.boardIDs(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if n.full("brd_4") != "brd_4" || n.placeID("Mapo") != "plc_2" || n.placeID("plc_1") != "plc_1" || n.placeID("Nowhere") != "Nowhere" {
		t.Errorf("a twin is called %s, Mapo is %s; want brd_4 and plc_2", n.full("brd_4"), n.placeID("Mapo"))
	}
}
