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

// TestPhoneOffWhileRead: once it has been answered that phone entry is off, or that the number is another place's, a
// call that had read the place before opens nothing.
func TestPhoneOffWhileRead(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string][]place.PlacePatch{
		"off":      {{PhoneEnabled: new(false)}},
		"unnamed":  {{EntryPhone: new("")}},
		"another":  {{EntryPhone: new("05099999999")}},
		"off, on":  {{PhoneEnabled: new(false)}, {PhoneEnabled: new(true)}},
		"timezone": {{Timezone: new("Europe/Berlin")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.permit("r", 1)
			b := &between{Store: h.Store, do: func() {
				for _, c := range changes {
					_, err := h.places.PatchPlace("plc_a", c)
					h.ok(err)
				}
			}}
			h.Service = entry.New(entry.Config{Clock: h.Clock, Store: b, Device: h.door, Openings: &h.openings})
			var want entry.CallResult
			if name == "off, on" || name == "timezone" {
				want = answered("opened", "phone", "dor_1")
			}
			if got, err := h.Call(ctx, number, kim); err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
			if _, n := h.last(); want.Answered != (n == 1) {
				t.Errorf("%d records, want one exactly if it opened (%t)", n, want.Answered)
			}
		})
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
