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
