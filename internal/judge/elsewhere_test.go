package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestRecordsReadElsewhere: reading the records of a place says nothing about those of another one.
func TestRecordsReadElsewhere(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]bool{"plc_a": true, "plc_w": false} {
		h := raced()
		h.base("plc_w")
		h.command("brd_1", "k", "open", vocab.Reported, true, 0)
		h.did(place, "GET", "/space/v1/partner/entry-logs", 200, history.CallText{}, nil)
		if got := ent4(NewView(h.events)); (len(got.Untried) == 0) != want {
			t.Errorf("records of %s are read: lacks %q; tried is to be %t", place, got.Untried, want)
		}
	}
}

// TestStateToldByLink: links that open and that are refused as expired show two states of permits.
func TestStateToldByLink(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		rule   string
		want   Status
		tried  bool
	}{"refused": {409, "expired", Pass, true}, "opened": {200, "", Fail, true}, "not pressed": {0, "", Skipped, false}} {
		h := raced()
		h.register(1)
		h.press(200, "")
		h.pass(6 * 24 * 3600 * 1000)
		if tc.status != 0 {
			h.press(tc.status, tc.rule)
		}
		if got := perm7(NewView(h.events)); got.Status != tc.want || (len(got.Untried) == 0) != tc.tried {
			t.Errorf("%s: %s, lacks %q; want %s, tried %t", name, got, got.Untried, tc.want, tc.tried)
		}
	}
}

// TestEndsAlike: a link that the board refuses, like a command for its door, shows what both have in common.
func TestEndsAlike(t *testing.T) {
	t.Parallel()
	for _, command := range []bool{true, false} {
		h := raced()
		h.register(1)
		if command {
			h.command("brd_1", "k", "open", vocab.Refused, false, 0)
		}
		h.press(502, "")
		h.events[len(h.events)-1].Code = "device_refused"
		if got := ent3(NewView(h.events)); got.Checked != 1 || (len(got.Untried) == 0) != command {
			t.Errorf("with a command %t: %s, lacks %q", command, got, got.Untried)
		}
	}
}
