package evidence

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// TestProofsTakenBack: a step that asserts nothing after all doesn't count, neither for its own clauses nor for those of
// its expectations; a failure counts in any case.
func TestProofsTakenBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asserts bool
		status  judge.Status
		want    int
	}{{true, judge.Pass, 2}, {false, judge.Pass, 0}, {false, judge.Fail, 2}} {
		step := &report.Step{Name: "look", Asserts: c.asserts, Status: c.status, Clauses: []string{"CMD-1", "CMD-2"},
			Charges: []report.Charge{{Clauses: []string{"CMD-1"}, Name: "x", Status: c.status}}}
		if got := Proofs([]*report.Step{step}, "one"); len(got) != c.want {
			t.Errorf("%s, asserts: %t: got %v, want %d proofs", c.status, c.asserts, got, c.want)
		}
	}
}
