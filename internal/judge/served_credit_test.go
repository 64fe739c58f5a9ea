package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestCreditedOpening: somebody with a permit and a membership gets in with the permit.
func TestCreditedOpening(t *testing.T) {
	t.Parallel()
	member := refGrant{ID: "mem_c", Kind: "membership", PhoneHash: "hash of mia", Doors: []string{doorOf("brd_1", 1)}, StartsAt: t0}
	names := func(id string) func(*builder) {
		return func(h *builder) { h.last(history.Actuation, func(e *history.Event) { e.GrantID = id }) }
	}
	for name, tc := range map[string]struct {
		after func(*builder)
		bad   bool
		tried bool
	}{
		"the permit":                {names("pmt_c"), false, true},
		"nobody knows":              {func(*builder) {}, false, true},
		"the membership":            {names("mem_c"), true, false},
		"nobody's grant":            {names("pmt_9"), true, false},
		"another caller's, as well": {func(h *builder) { names("mem_9")(h); h.entered("phone"); names("pmt_c")(h); h.late() }, false, true},
		"an earlier opening's": {func(h *builder) {
			names("mem_c")(h)
			h.last(history.Call, func(e *history.Event) { rewrite(e, func(c *history.CallText) { c.SentNs = e.WallNs - 1 }) })
		}, false, true},
	} {
		h := oneBoard()
		h.did("plc_a", "POST", labMembership, 200, history.CallText{In: fields{"phone": "mia", "startsAt": rfc(t0)}, Out: fields{"membershipId": "mem_c"}},
			func() { h.change("plc_a", "membership", member) })
		h.register(1)
		h.phone("opened", "phone", doorOf("brd_1", 1))
		tc.after(h)
		for _, got := range []Verdict{perm1(NewView(slices.Clone(h.events))), ent1(NewView(slices.Clone(h.events)))} {
			if (got.Status == Fail) != tc.bad || got.Clause == "PERM-1" && (len(got.Untried) == 0) != tc.tried {
				t.Errorf("%s: got %s, lacks %q; want a breach: %t, tried: %t", name, got, got.Untried, tc.bad, tc.tried)
			}
		}
	}
}

// late moves the last call to the end.
func (h *builder) late() {
	i := len(h.events) - 1
	for h.events[i].Kind != history.Call {
		i--
	}
	e := h.events[i]
	h.events = slices.Delete(h.events, i, i+1)
	h.emit(e)
	h.events[len(h.events)-1].At = e.At
}
