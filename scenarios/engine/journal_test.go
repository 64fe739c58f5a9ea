package engine

import (
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestJournalOfDoors: of a board that is named only through doors, only their lines are read.
func TestJournalOfDoors(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]int{`"dor_1"`: 1, `["dor_1"]`: 1, `["dor_1", "dor_2"]`: 3, `"brd_1"`: 3, `["dor_1", "brd_1"]`: 3, `one`: 3, `one.doors`: 3, `[one.doors[1]]`: 2} {
		f := newFake(t)
		f.lines = []m{{"doorId": "dor_1", "seq": 1}, {"doorId": "dor_2", "seq": 2}, {"doorId": "dor_2", "seq": 3}}
		res, out := play(t, f, fmt.Sprintf("steps: [{cohort: {name: one, boards: 1}}, {journal: {of: '%s'}, expect: count == %d}]", of, want), Options{})
		if res.Files[0].Status != judge.Pass {
			t.Errorf("of %s: got %s, want %d lines\n%s", of, res.Files[0].Status, want, out)
		}
	}
}
