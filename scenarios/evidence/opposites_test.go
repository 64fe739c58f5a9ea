package evidence

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/each"
)

// TestOtherRefusals: what breaks a promise that names a refusal are other refusals, never that one itself.
func TestOtherRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clause string
		status int
		others []int
	}{
		{"AUTH-4", 404, []int{401, 409}},
		{"AUTH-5", 401, []int{404, 429}},
		{"CMD-2", 409, []int{401, 404, 502, 504}},
		{"CMD-3", 502, []int{409, 503, 504}},
		{"CMD-4", 504, []int{409, 502}},
		{"CMD-5", 409, []int{400}},
		{"CMD-5", 504, nil},
		{"PERM-4", 404, []int{409, 429}},
		{"PERM-5", 409, []int{400, 403}},
		{"PERM-6", 400, []int{404, 409}},
		{"LEG-1", 404, nil},
	} {
		got := each.Of(OtherRefusals(c.clause, c.status), func(a Answer) int { return a.Status })
		slices.Sort(got)
		if !slices.Equal(got, c.others) {
			t.Errorf("%s in place of %d: got %v, want %v", c.clause, c.status, got, c.others)
		}
	}
}
