package loadtest

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/plot"
)

// TestOutcomeColors: in the chart of outcomes each has a colour of its own.
func TestOutcomeColors(t *testing.T) {
	t.Parallel()
	if len(outcomeColors) < len(outcomes) {
		t.Errorf("%d outcomes, but only %d colours", len(outcomes), len(outcomeColors))
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(outcomeColors)))); n != len(outcomeColors) || slices.Max(outcomeColors) > plot.Colors {
		t.Errorf("the colours %v: want each once, up to %d", outcomeColors, plot.Colors)
	}
}
