package console

import (
	"testing"

	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/golive"
)

// TestKoreanExplanations: every fault, every parameter, and every point of the
// checklist in every state is explained in Korean; nothing else is.
func TestKoreanExplanations(t *testing.T) {
	t.Parallel()
	params := map[string]bool{}
	for _, f := range faults.All {
		if ko := faultsKorean[f.Name]; ko.does == "" || ko.caller == "" || ko.journal == "" {
			t.Errorf("%s: got %+v, want an explanation in Korean", f.Name, ko)
		}
		for _, p := range f.Params {
			if params[p.Name] = true; paramsKorean[p.Name] == "" {
				t.Errorf("%s: the parameter %s isn't explained in Korean", f.Name, p.Name)
			}
		}
	}
	points := golive.Check(nil).Points
	for _, p := range points {
		for _, state := range []string{golive.Unseen, golive.Proven, golive.Broken} {
			if pointsKorean[state+" "+p.ID] == "" {
				t.Errorf("the point %s, %s, isn't told in Korean", p.ID, state)
			}
		}
	}
	if len(faultsKorean) != len(faults.All) || len(paramsKorean) != len(params) || len(pointsKorean) != 3*len(points) {
		t.Errorf("%d faults, %d parameters, %d points: some don't exist any more", len(faultsKorean), len(paramsKorean), len(pointsKorean))
	}
}
