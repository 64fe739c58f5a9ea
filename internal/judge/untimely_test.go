package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestUntimely: what came too early, too late or by accident doesn't count; what comes closest to it and does is beside it.
func TestUntimely(t *testing.T) {
	t.Parallel()
	later := func(ms int64) func(*builder) { return func(h *builder) { h.pass(ms) } }
	exchanged := func(h *builder) { h.exchange(h.at, "key-1", "tok-1") }
	used := func(h *builder) { h.call(h.at, permitsRoute, 200, history.CallText{Token: "tok-1"}) }
	expired := func(h *builder) {
		h.call(h.at, permitsRoute, 401, history.CallText{Token: "tok-1"})
		h.events[len(h.events)-1].Code = "token_expired"
	}
	read := func(h *builder) {
		h.did("plc_a", "GET", "/space/v1/partner/entry-logs", 200, history.CallText{}, nil)
	}
	opened := func(h *builder) { h.command("brd_1", h.id("key"), "open", vocab.Reported, true, 0) }
	removed := func(n int) func(*builder) {
		return func(h *builder) {
			h.did("plc_a", "DELETE", policiesRoute, 200, history.CallText{Kind: "test", Path: doorOf("brd_1", 1), Out: fields{"deleted": n}}, nil)
		}
	}
	given := func(from, to int64) func(*builder) {
		return func(h *builder) {
			h.pass(10)
			h.did("plc_a", "POST", createRoute, 200, history.CallText{In: fields{"externalRef": "ref-1", "phone": "kim", "startsAt": rfc(t0 + from), "endsAt": rfc(t0 + to)}, Out: fields{"permitId": "pmt_9"}}, nil)
		}
	}
	for name, tc := range map[string]struct {
		clause string
		do     []func(*builder)
		lacks  string // "" = it counts
	}{
		"a token that never worked is refused":  {"AUTH-1", []func(*builder){exchanged, later(910_000), expired}, "no token that a step had asked for worked"},
		"a token works, and is refused later":   {"AUTH-1", []func(*builder){exchanged, used, later(910_000), expired}, ""},
		"a token is refused a day later":        {"AUTH-2", []func(*builder){exchanged, later(24 * hourMs), expired}, ""},
		"a token is refused a month later":      {"AUTH-2", []func(*builder){exchanged, later(30 * 24 * hourMs), expired}, "as expired within a day"},
		"records are read before there are any": {"ENT-4", []func(*builder){read, later(10), opened}, "no records were read"},
		"49 commands are recorded":              {"ENT-4", slices.Repeat([]func(*builder){opened}, 49), "no records were read"},
		"50 commands are recorded":              {"ENT-4", slices.Repeat([]func(*builder){opened}, 50), ""},
		"records are read":                      {"ENT-4", []func(*builder){opened, later(10), read}, ""},
		"windows that aren't there are removed": {"CMD-8", []func(*builder){removed(0)}, "no command, window or outage policy"},
		"a window is removed":                   {"CMD-8", []func(*builder){removed(1)}, ""},
		"a period that moves a little":          {"PERM-3", []func(*builder){given(0, 3_600_000), given(20, 3_600_020)}, "changed a period"},
		"a period that moves a minute":          {"PERM-3", []func(*builder){given(0, 3_600_000), given(60_000, 3_600_000)}, ""},
	} {
		h := kimsBoard()
		for _, do := range tc.do {
			do(h)
		}
		for _, v := range Judge(NewView(h.events)) {
			got := strings.Join(v.Untried, "; ")
			if v.Clause == tc.clause && ((got == "") != (tc.lacks == "") || !strings.Contains(got, tc.lacks)) {
				t.Errorf("%s: %s, lacks %q; want %q in it", name, v, got, tc.lacks)
			}
		}
	}
}
