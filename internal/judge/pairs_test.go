package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestPair: a presentation belongs to the journal line that it names, however late it was reported, and to no other.
// One that names none belongs to the line just before it.
func TestPair(t *testing.T) {
	t.Parallel()
	moved := func(seq, at int64) *history.Event {
		return &history.Event{Kind: history.Actuation, Cause: "onsite", DoorID: "dor_1", JournalSeq: seq, At: at}
	}
	came := func(seq, at int64) *history.Event {
		return &history.Event{Kind: history.Presented, DoorID: "dor_1", JournalSeq: seq, At: at}
	}
	for name, c := range map[string]struct {
		events  []*history.Event
		lines   int
		orphans int
	}{
		"told at once":            {[]*history.Event{moved(7, 1000), came(7, 1000)}, 1, 0},
		"told seconds later":      {[]*history.Event{moved(7, 1000), came(7, 4000)}, 1, 0},
		"another line":            {[]*history.Event{moved(7, 1000), came(8, 1000)}, 0, 1},
		"an earlier line":         {[]*history.Event{moved(8, 1000), came(7, 1000)}, 0, 1},
		"no number, at once":      {[]*history.Event{moved(7, 1000), came(0, 1500)}, 1, 0},
		"no number, much later":   {[]*history.Event{moved(7, 1000), came(0, 4000)}, 0, 1},
		"two lines, one visitor":  {[]*history.Event{moved(7, 1000), moved(8, 1000), came(8, 1000)}, 1, 1},
		"a line for two visitors": {[]*history.Event{moved(7, 1000), came(7, 1000), came(7, 1000)}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := (&board{onsite: c.events}).pair()
			if len(p.lines) != c.lines || len(p.orphan) != c.orphans {
				t.Errorf("got %d pairs and %d lines without a presentation, want %d and %d", len(p.lines), len(p.orphan), c.lines, c.orphans)
			}
		})
	}
}
