package entry_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
)

// TestCallNeedsANumber: phone entry works only while the place has a number.
func TestCallNeedsANumber(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.permit("r", 1)
	assign := func(n string) {
		_, err := h.places.PatchPlace("plc_a", place.PlacePatch{EntryPhone: &n})
		h.ok(err)
	}
	assign("")
	if got, err := h.Call(ctx, number, kim); got != (entry.CallResult{}) || err != nil {
		t.Errorf("no number assigned: got %+v, %v, want an unanswered call", got, err)
	}
	if _, n := h.last(); n != 0 {
		t.Errorf("an unanswered call left %d records, want none", n)
	}
	assign(number)
	if got, err := h.Call(ctx, number, kim); err != nil || got != answered("opened", "phone", "dor_1") {
		t.Errorf("number assigned: got %+v, %v, want the door opened by phone", got, err)
	}
}

// TestNameIsNotCompared: entry depends on the phone number only; the name on the permit doesn't matter.
func TestNameIsNotCompared(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Kim", "Somebody else"} {
		h := newHouse(t)
		p := h.permit("r", 1)
		_, err := h.grants.Register(byA, grant.RegisterRequest{ExternalRef: new("r"), Phone: new(kim), Name: &name, StartsAt: &epoch, EndsAt: &p.EndsAt})
		h.ok(err)
		got, err := h.Call(ctx, number, kim)
		if d := cmp.Diff(answered("opened", "phone", "dor_1"), got); d != "" || err != nil {
			t.Errorf("name %q: %v %s", name, err, d)
		}
	}
}
