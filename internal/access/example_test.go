package access_test

import (
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
)

// A person with a permit at an auth door. Once the permit has ended, it is expired.
func ExampleDecide() {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	permit := access.Grant{ID: "pmt_1", Kind: access.KindPermit, Doors: []string{"dor_front"},
		StartsAt: noon.UnixMilli(), EndsAt: noon.Add(time.Hour).UnixMilli()}
	for _, at := range []time.Time{noon, noon.Add(time.Hour)} {
		a := access.Decide(access.Question{Now: at, Method: vocab.Onsite, DoorID: "dor_front", Mode: access.ModeAuth, Grants: []access.Grant{permit}})
		fmt.Println(a.Allow, a.Reason, a.Grant)
	}
	// Output:
	// true onsite pmt_1
	// false expired
}

// A board that has lost its server keeps deciding for 36 hours, to the millisecond.
func ExampleOutageOver() {
	const hour = 60 * 60 * 1000
	fmt.Println(access.OutageOver(36*hour), access.OutageOver(36*hour+1))
	fmt.Println("a lost clock:", access.OutageOver(-1))
	// Output:
	// false true
	// a lost clock: true
}
