package entry_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/server/entry"
)

// TestDenied: whoever watches sees each recorded refusal of a call or a link, masked, with the grant that it is about; an
// opening is none.
func TestDenied(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var got []string
	h.Service = entry.New(entry.Config{Clock: h.Clock, Store: h.Store, Device: h.door, Openings: &h.openings, Wait: 8 * time.Second,
		Denied: func(d entry.Denial) {
			got = append(got, fmt.Sprintf("%s %s %s %s %q %v", d.PlaceID, d.Method, d.Reason, d.Who, d.GrantID, d.At.Equal(h.Clock.Now())))
		}})
	p := h.permit("order-1", 1, "dor_1")
	call := func(from string) {
		if _, err := h.Call(ctx, number, from); err != nil {
			t.Fatal(err)
		}
	}
	call(kim)
	call("01099998888")
	h.Clock.Advance(epoch.Add(400 * 24 * time.Hour))
	call(kim)
	if _, err := h.Open(ctx, p.Token, "dor_1"); err == nil {
		t.Error("an expired link opened the door, want it denied")
	}
	want := []string{
		`plc_a phone no_valid_grant 010-****-8888 "" true`,
		`plc_a phone expired 010-****-5678 "` + p.ID + `" true`,
		`plc_a link expired 010-****-5678 "` + p.ID + `" true`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
