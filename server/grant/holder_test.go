package grant_test

import (
	"testing"

	"github.com/doorlab/doorlab/server/fail"
)

// TestHolder: a permit's holder is its phone and its present link; of another place's grant, or of none, nothing is said.
func TestHolder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.must(request("order-1"))
	if phone, token, err := h.Holder("plc_a", p.ID); err != nil || phone != "01012345678" || token != p.Token || token == "" {
		t.Errorf("got %q, %q, %v, want the phone and the link of the permit", phone, token, err)
	}
	for place, grantID := range map[string]string{"plc_b": p.ID, "plc_a": "pmt_none"} {
		if phone, token, err := h.Holder(place, grantID); fail.CodeOf(err) != fail.NotFound || phone+token != "" {
			t.Errorf("%s at %s: got %q, %q, %v, want %s", grantID, place, phone, token, err, fail.NotFound)
		}
	}
}
