package judge

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// atOnce is a permit that opens by link and phone and is revoked, all within 3 s; then comes what happens after.
func atOnce(after func(*builder)) *View {
	h := oneBoard()
	h.register(1)
	h.press(200, "")
	h.at -= 10_000
	h.phone("opened", "phone", doorOf("brd_1", 1))
	h.did("plc_a", "POST", revokeRoute, 200, history.CallText{In: fields{"externalRef": "ref-c"}, Out: fields{"permitId": "pmt_c", "state": "revoked"}},
		func() { h.change("plc_a", "revoke", h.customerPermit(1, true)) })
	h.at -= 10_000
	after(h)
	return NewView(h.events)
}

// TestRevokedWithinThreeSeconds: a press or call right after an opening may get that opening's answer, but not if the
// permit was revoked in between. What the checkers don't judge, they don't count either.
func TestRevokedWithinThreeSeconds(t *testing.T) {
	t.Parallel()
	unanswered := func(h *builder) {
		h.did("plc_a", "POST", linkRoute, 503, history.CallText{In: fields{"t": "link of mia", "doorId": doorOf("brd_1", 1)}}, nil)
		h.events[len(h.events)-1].Code = codeStorage
	}
	for name, tc := range map[string]struct {
		after  func(*builder)
		judge  func(*View) Verdict
		status Status
		want   string // in what it says, or in what it lacks
	}{
		"a dead link is pressed":            {func(h *builder) { h.press(404, "") }, perm4, Pass, "1 dead links pressed"},
		"a dead link opens":                 {func(h *builder) { h.press(200, "") }, perm4, Fail, "let in"},
		"a dead link gets no answer":        {unanswered, perm4, Pass, "nobody pressed a dead link"},
		"a dead link tells no grant":        {func(h *builder) { h.press(404, "") }, ent1, Pass, "nobody tried a door without a valid grant"},
		"a dead link lets in":               {func(h *builder) { h.press(200, "") }, ent1, Fail, "let in"},
		"nothing is decided":                {unanswered, ent1, Pass, "nobody tried a door without a valid grant"},
		"a revoked phone is denied":         {func(h *builder) { h.phone("denied", "revoked", "") }, ent1, Pass, ""},
		"a revoked phone opens":             {func(h *builder) { h.phone("opened", "phone", doorOf("brd_1", 1)) }, ent1, Fail, "let in"},
		"a revoked phone opens (one rule)":  {func(h *builder) { h.phone("opened", "phone", doorOf("brd_1", 1)) }, ent3, Fail, "let in"},
		"a revoked phone is denied by rule": {func(h *builder) { h.phone("denied", "revoked", "") }, ent3, Pass, "3 decisions on links and calls"},
	} {
		got := tc.judge(atOnce(tc.after))
		if said := got.Number + " " + strings.Join(got.Untried, ", "); got.Status != tc.status || !strings.Contains(said, tc.want) {
			t.Errorf("%s: got %s, lacks %q; want %s and %q in it", name, got, got.Untried, tc.status, tc.want)
		}
		if tc.status == Pass && !strings.HasPrefix(tc.want, "nobody") {
			if got := tc.judge(atOnce(tc.after)); len(got.Untried) > 0 {
				t.Errorf("%s: %s lacks %q, want nothing", name, got, got.Untried)
			}
		}
	}
}

// TestPermitsOwnOpening: somebody who gets in as a member hasn't shown that a permit opens.
func TestPermitsOwnOpening(t *testing.T) {
	t.Parallel()
	h := oneBoard()
	m := refGrant{ID: "mem_c", Kind: "membership", PhoneHash: "hash of mia", Doors: []string{doorOf("brd_1", 1)}, StartsAt: t0}
	h.did("plc_a", "POST", labMembership, 200, history.CallText{In: fields{"phone": "mia", "startsAt": rfc(t0)}, Out: fields{"membershipId": "mem_c"}},
		func() { h.change("plc_a", "membership", m) })
	h.phone("opened", "phone", doorOf("brd_1", 1))
	if got := perm1(NewView(h.events)); got.Status != Pass || len(got.Untried) == 0 {
		t.Errorf("a member's call: got %s, lacks %q; want PASS, and a permit's opening lacking", got, got.Untried)
	}
}
