package loadtest

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/plot"
)

// TestLimitsAreDrawnWithTheLatenciesTheyLimit: also that of a stage, over that stage only; not one far above all latencies, and
// none of what isn't a latency.
func TestLimitsAreDrawnWithTheLatenciesTheyLimit(t *testing.T) {
	t.Parallel()
	r := Result{Seconds: 20, Stages: []StageResult{{Name: "rush", From: 5, Seconds: 10}}, Thresholds: []Threshold{
		{Name: "errors", Limit: "0"}, {Name: "p99_reported", Limit: "300ms"}, {Name: "rush: p99_all", Limit: "400ms"}, {Name: "max_all", Limit: "10s"},
	}}
	lines := r.limited(plot.Line{Name: "p99", Points: []plot.Point{{X: 1, Y: 250}}})
	names := each.Of(lines, func(l plot.Line) string { return l.Name })
	if want := []string{"p99", "limit of p99_reported", "limit of rush: p99_all"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	if want := []plot.Point{{X: 5, Y: 400}, {X: 15, Y: 400}}; !slices.Equal(lines[2].Points, want) {
		t.Errorf("the stage's limit: got %v, want %v", lines[2].Points, want)
	}
}

func TestTheLongestPhaseIsNamedWithItsOwner(t *testing.T) {
	t.Parallel()
	phases := []Phase{
		{Name: phaseNames[2].name, Who: phaseNames[2].who, Latency: Latency{P99: 30}},
		{Name: phaseNames[6].name, Who: phaseNames[6].who, Latency: Latency{P99: 399}},
	}
	if got, want := longest(phases), "longest phase at p99: reported, 399 ms (board and line)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := longest(nil); got != "" {
		t.Errorf("without phases: got %q, want nothing", got)
	}
}

// TestCapacityShowsTheLimit: a step far beyond the capacity doesn't press the others flat, and the plot says so; one within
// reach leaves it as it is.
func TestCapacityShowsTheLimit(t *testing.T) {
	t.Parallel()
	r := Result{Thresholds: []Threshold{{Name: "p99_reported", Limit: "500ms"}}, Search: []Step{{Rate: 200, P50: 90, P99: 400}, {Rate: 400, P50: 9000, P99: 28000}}}
	c := capacity(r)
	if c.Max != 2000 || c.Note != "Where requests took longer than 2 s, the lines run along the edge." || c.Lines[2].Name != "limit of p99_reported" {
		t.Errorf("got a plot up to %g (%q) with %d lines, want one up to 2000 that says so, with the limit", c.Max, c.Note, len(c.Lines))
	}
	r.Search[1].P99 = 1500
	if c = capacity(r); c.Max != 0 || c.Note != "" {
		t.Errorf("got a plot up to %g (%q), want the whole of it", c.Max, c.Note)
	}
}
