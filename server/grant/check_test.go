package grant

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// TestLongestPermit: a permit lasts no longer than its doors and the place allow, whichever allows less, and the refusal
// names that door, or none if it is the place's own maximum. (No world has a place with less than 720 h, but its row does.)
func TestLongestPermit(t *testing.T) {
	t.Parallel()
	doors := []place.Door{{ID: "dor_1", PermitMaxHours: 720}, {ID: "dor_2", PermitMaxHours: 48}}
	for _, c := range []struct {
		place int
		ids   []string
		want  string // maximum and door
	}{
		{720, []string{"dor_1"}, "720 dor_1"},
		{720, []string{"dor_1", "dor_2"}, "48 dor_2"},
		{100, []string{"dor_1"}, "100 <nil>"},
		{100, []string{"dor_1", "dor_2"}, "48 dor_2"},
		{24, []string{"dor_2"}, "24 <nil>"},
		{9000, []string{"dor_1"}, "720 dor_1"},
	} {
		var most int
		var door string
		if _, err := fmt.Sscan(c.want, &most, &door); err != nil {
			t.Fatal(err)
		}
		check := func(hours time.Duration) error {
			starts := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
			return notTooLong(place.Place{PermitMaxHours: c.place}, doors, c.ids, starts, starts.Add(hours))
		}
		if err := check(time.Duration(most) * time.Hour); err != nil {
			t.Errorf("%v at a place of %d h: %d h are refused: %v", c.ids, c.place, most, err)
		}
		f, ok := errors.AsType[*fail.Error](check(time.Duration(most)*time.Hour + time.Millisecond))
		if !ok || f.Code != fail.PermitPeriodTooLong || fmt.Sprint(f.Details["maxHours"], " ", f.Details["doorId"]) != c.want {
			t.Errorf("%v at a place of %d h, a millisecond over %d h: got %+v, want a refusal with %s", c.ids, c.place, most, f, c.want)
		}
	}
}
