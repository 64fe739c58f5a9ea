package place_test

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/place"
)

// TestNewestPolicy: of the custom policies of a door, the one that was posted last is in force and first in the list,
// even if no time passes in between, and even if it replaces an older one.
func TestNewestPolicy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	window := func(hours int, mode string) place.PolicyRequest {
		r := policy("custom", mode)
		r.StartsAt, r.EndsAt = &epoch, new(epoch.Add(time.Duration(hours)*time.Hour))
		return r
	}
	must.Get(h.SetPolicy(owner, "dor_2", policy("always", "closed")))(t)
	for i, r := range []place.PolicyRequest{window(1, "closed"), window(2, "free"), window(1, "auth"), window(3, "closed"), window(2, "auth"), window(1, "free")} {
		p := must.Get(h.SetPolicy(owner, "dor_1", r))(t)
		list := must.Get(h.Service.Policies("plc_a", "dor_1"))(t)
		if !p.Active || list[0].ID != p.ID || h.mode(t) != *r.Mode {
			t.Errorf("%d: posted %+v, list %+v, mode %s, want it first and in force", i, p, list, h.mode(t))
		}
		if late := p.Created().Sub(epoch); late > time.Duration(i)*time.Millisecond {
			t.Errorf("%d: created %s after it was posted, want a millisecond per policy at most", i, late)
		}
	}
}
