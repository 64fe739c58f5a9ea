package judge

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// divided judges a history like a run that is too long for memory, in groups of at most so many events.
func divided(t *testing.T, events []history.Event, most int64) []Verdict {
	t.Helper()
	d := must.Get(history.NewDivision(t.TempDir()))(t)
	defer func() { _ = d.Close() }()
	var p Parts
	d.Next()
	for _, e := range events {
		if e.Kind == history.Call && e.PlaceID == "" {
			e.PlaceID = "plc_a" // a load's calls name their key's place
		}
		p.See(&e)
		must.OK(t, d.Add(e))
	}
	must.OK(t, d.Groups(most, func(lists [][]history.Event) error { p.Judge(history.Merge(lists...)); return nil }))
	out := p.Verdicts()
	for i := range out {
		out[i].Occasions = nil
	}
	return out
}

// TestPartsJudgeAsTheWhole: judged one place at a time, a history gets the same verdicts and numbers as when it is
// judged at once.
func TestPartsJudgeAsTheWhole(t *testing.T) {
	t.Parallel()
	calls := newBuilder()
	calls.keys()
	for name, events := range map[string][]history.Event{"clean": clean().events, "20 places": large(3000), "callers": calls.events} {
		want := Judge(NewView(events))
		for i := range want {
			want[i].Occasions = nil // nothing that is divided has steps
		}
		if diff := cmp.Diff(want, divided(t, events, 1)); diff != "" {
			t.Errorf("%s: judged by places (-whole +places)\n%s", name, diff)
		}
		if diff := cmp.Diff(want, divided(t, events, 1<<30)); diff != "" {
			t.Errorf("%s: judged as one group (-whole +group)\n%s", name, diff)
		}
	}
}

// TestPartsFindPlantedBugs: bugs that are found in the whole history are also found place by place.
func TestPartsFindPlantedBugs(t *testing.T) {
	t.Parallel()
	for _, p := range slices.Concat(commandPlants(), relayPlants(), keyPlants(), recordPlants(), syncPlants(), recoveryPlants(), outagePlants(),
		onsitePlants(), restPlants(), authPlants(), permitPlants()) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			h := clean()
			p.plant(t, h)
			if got := failing(divided(t, h.events, 1)); !slices.Equal(got, p.clauses) {
				t.Errorf("judged by places %v fail, want %v", got, p.clauses)
			}
		})
	}
}
