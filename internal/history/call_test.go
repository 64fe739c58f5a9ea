package history

import (
	"encoding/json"
	"testing"
)

// TestRoutesOfAnyID: whatever ids a world file gives, the same path is the same route.
func TestRoutesOfAnyID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"plc_1", "plc_gangnam", "plc_gang_nam", "plc_gang-nam", "plc__", "plc_front-1_2", "plc_a1b2c3d4e5f6", "plc_live-2026"} {
		e := CallEvent(CallIn{Method: "GET", Path: "/core/v1/public/places/" + id + "/schedule?days=3", Status: 200})
		var text CallText
		if err := json.Unmarshal([]byte(e.Text), &text); err != nil {
			t.Fatal(err)
		}
		if e.Route != "/core/v1/public/places/{id}/schedule" || text.Path != id {
			t.Errorf("%s: got the route %s of %q", id, e.Route, text.Path)
		}
	}
	for _, part := range []string{"places", "dor_", "brd", "door_1", "plc_a b", "entry-permits"} {
		if e := CallEvent(CallIn{Path: "/x/" + part}); e.Route != "/x/"+part {
			t.Errorf("%s: got the route %s, want it unchanged", part, e.Route)
		}
	}
}

// TestFormOfATokenGivenOut: a token has the same form when it is given out as when it is sent.
func TestFormOfATokenGivenOut(t *testing.T) {
	t.Parallel()
	token := "a1b2c3d4e5f6a7b8.c9d0e1f2a3b4c5d6.e7f8a9b0c1d2e3f4"
	for name, e := range map[string]Event{
		"given out": CallEvent(CallIn{Method: "POST", Path: "/core/v1/auth/apikey/token", Status: 200, Answer: []byte(`{"success":true,"data":{"accessToken":"` + token + `"}}`)}),
		"sent":      CallEvent(CallIn{Method: "GET", Path: "/device/v1/devices", Token: token, Status: 200, Answer: []byte(`{"success":true,"data":[]}`)}),
	} {
		var text CallText
		if err := json.Unmarshal([]byte(e.Text), &text); err != nil || text.Parts != 3 {
			t.Errorf("%s: got %d parts (%v), want 3", name, text.Parts, err)
		}
	}
}
