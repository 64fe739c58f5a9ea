package world

import (
	"testing"
	"time"
)

// TestReports: boards report as their place says, and p99 is never sooner than the median.
func TestReports(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for name, c := range map[string]struct {
		given *Report
		want  Report
	}{
		"nothing given": {nil, Report{80 * ms, 400 * ms}},
		"zero":          {&Report{}, Report{80 * ms, 400 * ms}},
		"given":         {&Report{ms, 5 * ms}, Report{ms, 5 * ms}},
		"only a median": {&Report{P50: ms}, Report{ms, ms}},
	} {
		if got := (&Place{Report: c.given}).Reports(); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
