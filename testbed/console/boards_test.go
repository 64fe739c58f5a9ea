package console

import (
	"testing"

	"github.com/doorlab/doorlab/internal/world"
)

// TestBoardSearch: a board is found by its id, its name, its place's name and its own doors, whatever the case.
func TestBoardSearch(t *testing.T) {
	t.Parallel()
	n := namesOf(&world.World{Places: []world.Place{{ID: "plc_1", Name: "Gangnam", Boards: []world.Board{
		{ID: "brd_1", Name: "Front", Doors: []world.Door{{ID: "dor_1", Name: "Main entrance"}, {ID: "dor_2", Name: "Side"}}},
		{ID: "brd_2", Doors: []world.Door{{ID: "dor_3", Name: "Back"}}},
	}}}})
	for query, want := range map[string][2]bool{"": {true, true}, "BRD_1": {true, false}, "front": {true, false}, "gangNAM": {true, true}, "entrance": {true, false},
		"DOR_2": {true, false}, "back": {false, true}, "dor_3": {false, true}, "nothing": {}} {
		v := boardsView{Query: query}
		for i, id := range []string{"brd_1", "brd_2"} {
			if got := v.matches(Board{ID: id, PlaceID: "plc_1"}, n.boards[id], 0); got != want[i] {
				t.Errorf("%q finds %s: %v, want %v", query, id, got, want[i])
			}
		}
	}
	if v := (boardsView{Query: "gangnam"}); v.matches(Board{ID: "brd_9"}, n.boards["brd_9"], 0) {
		t.Error("a board of no known place is found by a place's name")
	}
}
