package report

import (
	"math"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestLagsOfFewCommits: the lags are those of the commits in the history, whatever revision a board begins with or claims
// to have: a target may be at revision 100,000 when the run begins.
func TestLagsOfFewCommits(t *testing.T) {
	t.Parallel()
	event := func(kind string, at, rev int64) history.Event {
		return history.Event{Kind: kind, PlaceID: "plc_1", BoardID: "brd_1", At: at, Revision: rev}
	}
	c := &course{events: []history.Event{
		event(history.Online, 0, 99_997), event(history.Committed, 1000, 99_999), event(history.Committed, 2000, 100_000),
		event(history.Applied, 2500, 99_999), event(history.Applied, 2600, 100_000),
		event(history.Committed, 3000, 100_002), event(history.Committed, 4000, 100_001), event(history.Applied, 5000, math.MaxInt64),
		event(history.Committed, 6000, math.MaxInt64), event(history.Applied, 7000, math.MaxInt64),
	}}
	got := c.syncLags()
	slices.Sort(got)
	if want := []float64{600, 1000, 1500, 2000}; !slices.Equal(got, want) {
		t.Errorf("lags: got %v ms, want %v ms", got, want)
	}
}

// TestLagsOfAnImport: the rows of an import share a revision, so a board that has it has them all; what the board
// acknowledges days later says nothing about them.
func TestLagsOfAnImport(t *testing.T) {
	t.Parallel()
	event := func(kind string, at, rev int64) history.Event {
		return history.Event{Kind: kind, PlaceID: "plc_1", BoardID: "brd_1", At: at, Revision: rev}
	}
	events := []history.Event{event(history.Online, 0, 3)}
	for range 20 {
		events = append(events, event(history.Committed, 1000, 4))
	}
	const days = 9 * 24 * 3600 * 1000
	events = append(events, event(history.Applied, 1200, 4), event(history.Committed, days, 5), event(history.Applied, days+300, 5))
	got := (&course{events: events}).syncLags()
	slices.Sort(got)
	if want := append(slices.Repeat([]float64{200}, 20), 300); !slices.Equal(got, want) {
		t.Errorf("lags: got %v ms, want %v ms", got, want)
	}
}
