package place_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// TestWhatBoardsGetHasABound: policies, closures and holidays reach a board in one message. What would make it longer
// than a board can take is refused, and changes nothing.
func TestWhatBoardsGetHasABound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var pairs [][]string
	for m := 0; m < 24*60; m += 2 {
		pairs = append(pairs, []string{fmt.Sprintf("%02d:%02d", m/60, m%60), fmt.Sprintf("%02d:%02d", m/60, m%60+1)})
	}
	length := func() int {
		all := must.Get(h.Store.Policies("plc_a", ""))(t)
		return len(must.Get(json.Marshal(all))(t))
	}
	set := func(door string, i int) error {
		r := policy("custom", "closed")
		r.Week = place.Week{"mon": pairs[i:], "tue": pairs, "wed": pairs, "thu": pairs, "fri": pairs, "sat": pairs, "sun": pairs}
		_, err := h.SetPolicy(owner, door, r)
		return err
	}
	n := 0
	for ; n < 20; n++ {
		if err := set([]string{"dor_1", "dor_2"}[n%2], n); err != nil {
			if fail.CodeOf(err) != fail.RuleViolated {
				t.Fatalf("%v, want %s", err, fail.RuleViolated)
			}
			break
		}
	}
	if got := length(); n < 5 || n > 6 || got > 512<<10 {
		t.Errorf("%d policies of 60 KB each were stored, %d bytes in all, want five or six and at most 512 KiB", n, got)
	}
	if err := set("dor_1", 0); err != nil {
		t.Errorf("one that is stored already: %v, want no error", err)
	}
	must.Get(h.DeletePolicies(owner, "dor_2", place.PolicyQuery{}))(t)
	if err := set("dor_1", n); err != nil {
		t.Errorf("after some were deleted: %v, want room for another", err)
	}

	var many []access.Holiday
	for i := range 4000 {
		many = append(many, access.Holiday{Date: epoch.AddDate(0, 0, i).Format(time.DateOnly), Name: "Holiday"})
	}
	few := many[:1000]
	must.Get(h.PatchPlace("plc_a", place.PlacePatch{Holidays: &few}))(t)
	if _, err := h.PatchPlace("plc_a", place.PlacePatch{Holidays: &many}); fail.CodeOf(err) != fail.RuleViolated {
		t.Errorf("%d holidays: %v, want %s", len(many), err, fail.RuleViolated)
	}
	if p := must.Get(h.Store.Place("plc_a"))(t); len(p.Holidays) != len(few) {
		t.Errorf("%d holidays after the refusal, want %d", len(p.Holidays), len(few))
	}
}
