package judge

import (
	"slices"
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

// TestKeyElsewhere: to another place, a key that was used before is a new one. That shows CMD-5, and only there.
func TestKeyElsewhere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		second string
		tried  bool
	}{"the same key": {"mark of k", true}, "another key": {"mark of j", false}} {
		h := kimsBoard()
		h.base("plc_b")
		h.addBoard("plc_b", "brd_9")
		h.online("brd_9")
		for _, at := range [][2]string{{"brd_1", "mark of k"}, {"brd_9", tc.second}} {
			from := len(h.events)
			h.command(at[0], "k", "open", vocab.Reported, true, 0)
			for i := range h.events[from:] {
				if e := &h.events[from+i]; e.Kind == history.Attempt {
					e.KeyMark = at[1]
				}
			}
			h.pass(10_000)
		}
		got := cmd5(NewView(h.events))
		if got.Status != Pass || (len(got.Untried) == 0) != tc.tried || tc.tried && (len(got.Occasions) != 1 || got.Occasions[0].Place != "plc_b") {
			t.Errorf("%s: got %s, lacks %q, put to the test at %+v; tried is to be %t, at plc_b alone", name, got, got.Untried, got.Occasions, tc.tried)
		}
	}
}

// TestNoToken: a text that isn't a token at all shows AUTH-2 if it is refused as one that isn't valid, though not the case
// of a forged one.
func TestNoToken(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		token, code string
		tried       bool
	}{{"letmein", "token_invalid", true}, {"", "token_missing", false}, {"letmein", "token_missing", false}} {
		h := oneBoard()
		h.exchange(h.at, "key-1", "tok-1")
		h.call(h.at+1000, devicesRoute, 401, history.CallText{Token: tc.token})
		h.events[len(h.events)-1].Code = tc.code
		got := auth2(NewView(parted(h.events)))
		if (len(got.Untried) == 0) != tc.tried || !slices.Contains(got.Unseen, "a forged token") {
			t.Errorf("%q, %s: lacks %q, nobody saw %q; tried is to be %t, without a forged token", tc.token, tc.code, got.Untried, got.Unseen, tc.tried)
		}
	}
}

// parted is a history whose tokens have three parts.
func parted(all []history.Event) []history.Event {
	return answering("POST", ExchangeRoute, func(_ *history.Event, c *history.CallText) { c.Parts = 3 })(all)
}
