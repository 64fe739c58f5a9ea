package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

const hourMs = 3600 * 1000

// TestHoursFollowed: a change of hours counts as evidence once something that it makes different has been looked at
// after it.
func TestHoursFollowed(t *testing.T) {
	t.Parallel()
	door := doorOf("brd_w", 1)
	window := func(ref string) func(*builder) {
		return func(h *builder) {
			h.windows("plc_w", fmt.Sprintf(`[{"id":"pol_9","doorId":%q,"ref":%q,"mode":"closed"}]`, door, ref))
		}
	}
	for name, tc := range map[string]struct {
		before, after func(*builder)
		want          bool
	}{
		"a schedule":                       {nil, func(h *builder) { h.did("plc_w", "GET", scheduleRoute, 200, history.CallText{Path: "plc_w"}, nil) }, true},
		"a schedule of another place":      {nil, func(h *builder) { h.did("plc_a", "GET", scheduleRoute, 200, history.CallText{Path: "plc_a"}, nil) }, false},
		"a schedule before":                {func(h *builder) { h.did("plc_w", "GET", scheduleRoute, 200, history.CallText{Path: "plc_w"}, nil) }, nil, false},
		"a reader":                         {window("after_hours"), func(h *builder) { h.present("brd_w", "eve", "denied", "closed_window", "") }, true},
		"a reader whose window is another": {window("always"), func(h *builder) { h.present("brd_w", "eve", "denied", "closed_window", "") }, false},
		"a link": {window("business_hours"), func(h *builder) {
			h.did("plc_w", "POST", linkRoute, 409, history.CallText{In: fields{"t": "x", "doorId": door}}, nil)
		}, true},
		"a caller": {window("business_hours"), func(h *builder) {
			h.did("plc_w", "POST", phoneRoute, 200, history.CallText{In: fields{"from": "eve"}}, nil)
		}, true},
		"a list of windows":                    {window("business_hours"), func(h *builder) { h.did("plc_w", "GET", policiesRoute, 200, history.CallText{Path: door}, nil) }, true},
		"a refused list":                       {window("business_hours"), func(h *builder) { h.did("plc_w", "GET", policiesRoute, 404, history.CallText{Path: door}, nil) }, false},
		"a window, and nobody":                 {window("business_hours"), nil, false},
		"a reader when it is closed as before": {window("business_hours"), func(h *builder) { h.pass(12 * hourMs); h.present("brd_w", "eve", "denied", "closed_window", "") }, false},
		"a schedule of a day that is as before": {nil, func(h *builder) {
			h.pass(24 * hourMs)
			day := time.UnixMilli(h.at).In(time.FixedZone("", 9*3600)).Format(time.DateOnly)
			h.did("plc_w", "GET", scheduleRoute, 200, history.CallText{Path: "plc_w", Query: "days=1",
				Out: fields{"timezone": "Asia/Seoul", "days": []any{fields{"date": day, "weekday": "tue", "open": false, "intervals": []any{}}}}}, nil)
		}, false},
		"a window, and a stranger at another place": {window("business_hours"), func(h *builder) { h.present("brd_1", "eve", "denied", "no_valid_grant", "") }, false},
	} {
		h := newBuilder()
		h.at = time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC).UnixMilli() // a Monday, noon in Seoul
		h.base("plc_a")
		h.base("plc_w")
		h.addBoard("plc_a", "brd_1")
		h.addBoard("plc_w", "brd_w")
		h.online("brd_1")
		h.online("brd_w")
		for _, do := range []func(*builder){tc.before, (*builder).newHours, tc.after} {
			if do != nil {
				do(h)
			}
		}
		if got := hrs1(NewView(h.events)); (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: lacks %q; tried is to be %t", name, got.Untried, tc.want)
		}
	}
}

// TestLooked: a change on a board counts as evidence once the board has been looked at.
func TestLooked(t *testing.T) {
	t.Parallel()
	looks := func(h *builder) { h.emit(history.Event{Kind: history.Look, Text: "synced"}) }
	for name, tc := range map[string]struct {
		before, after func(*builder)
		want          bool
	}{
		"nobody":            {nil, nil, false},
		"another place's":   {nil, func(h *builder) { h.emit(history.Event{Kind: history.Look, Text: "boards", PlaceID: "plc_b"}) }, false},
		"the place's":       {nil, func(h *builder) { h.emit(history.Event{Kind: history.Look, Text: "boards", PlaceID: "plc_a"}) }, true},
		"a step":            {nil, looks, true},
		"a step before":     {looks, nil, false},
		"somebody came":     {nil, func(h *builder) { h.present("brd_1", "kim", "opened", "onsite", "pmt_1") }, true},
		"a stranger came":   {nil, func(h *builder) { h.present("brd_1", "eve", "denied", "no_valid_grant", "") }, false},
		"somebody had come": {func(h *builder) { h.present("brd_1", "kim", "denied", "no_valid_grant", "") }, nil, false},
		"the permit is read": {nil, func(h *builder) {
			h.did("plc_a", "GET", createRoute+"/{id}", 200, history.CallText{Path: "pmt_1"}, nil)
		}, true},
	} {
		h := offlineBoard()
		h.online("brd_1")
		if tc.before != nil {
			tc.before(h)
		}
		h.pass(10_000)
		h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
		h.pass(10_000)
		if tc.after != nil {
			tc.after(h)
		}
		if got := sync1(NewView(h.events)); (len(got.Untried) == 0) != tc.want || got.Checked == 0 {
			t.Errorf("%s: lacks %q of %d; tried is to be %t", name, got.Untried, got.Checked, tc.want)
		}
	}
}

// TestKeyRevoked: after the run has revoked a key, a refused exchange or token is not a breach, but serving it too
// late is.
func TestKeyRevoked(t *testing.T) {
	t.Parallel()
	key := map[string]any{"key": "key-9"}
	gone := func(h *builder) {
		h.pass(10)
		h.did("plc_a", "DELETE", keyRoute, 200, history.CallText{In: key}, nil)
		h.pass(10)
	}
	used := func(status int) func(*builder) {
		return func(h *builder) { h.call(h.at, permitsRoute, status, history.CallText{SentNs: h.wall, Token: "tok-9"}) }
	}
	exchanged := func(status int) func(*builder) {
		return func(h *builder) {
			h.call(h.at, ExchangeRoute, status, history.CallText{SentNs: h.wall, In: key, Out: map[string]any{"accessToken": "tok-10", "expiresIn": 900, "placeId": "plc_a", "scopes": []string{"space:partner"}}})
		}
	}
	expired := func(h *builder) {
		h.pass(spreadMs)
		used(401)(h)
		h.events[len(h.events)-1].Code = "token_expired"
	}
	later := func(h *builder) { h.pass(spreadMs) }
	muchLater := func(h *builder) { h.pass(spreadMs + lateMs + 1000) }
	for name, tc := range map[string]struct {
		after []func(*builder)
		want  Status
		bad   string
		tried bool
	}{
		"a token is refused":          {[]func(*builder){used(401)}, Pass, "", true},
		"an exchange is refused":      {[]func(*builder){exchanged(401)}, Pass, "", true},
		"served for a moment more":    {[]func(*builder){used(200), used(401)}, Pass, "", true},
		"refused for its age":         {[]func(*builder){expired}, Pass, "", false},
		"refused just in time":        {[]func(*builder){later, used(401)}, Pass, "", true},
		"refused hours later":         {[]func(*builder){muchLater, used(401)}, Pass, "", false},
		"nobody tries":                {nil, Skipped, "", false},
		"a token is served too late":  {[]func(*builder){later, used(200)}, Fail, "after the key was revoked", false},
		"exchanged too late":          {[]func(*builder){later, exchanged(200)}, Fail, "after the key was revoked", false},
		"one address asks too often":  {[]func(*builder){exchanged(429)}, Skipped, "", false},
		"another key goes on working": {[]func(*builder){func(h *builder) { h.exchange(h.at, "key-8", "tok-8") }}, Skipped, "", false},
	} {
		h := newBuilder()
		h.base("plc_a")
		h.exchange(h.at, "key-9", "tok-9")
		used(200)(h)
		gone(h)
		for _, do := range tc.after {
			do(h)
		}
		v := NewView(h.events)
		if got := auth5(v); got.Status != tc.want || !strings.Contains(got.Number, tc.bad) || (len(got.Untried) == 0) != tc.tried {
			t.Errorf("%s: got %s, lacks %q; want %s with %q in it, tried %t", name, got, got.Untried, tc.want, tc.bad, tc.tried)
		}
		if got := auth1(v); got.Status != Pass {
			t.Errorf("%s: got %s, want AUTH-1 to pass", name, got)
		}
	}
	h := newBuilder()
	h.base("plc_a")
	h.exchange(h.at, "key-9", "tok-9")
	used(401)(h)
	gone(h)
	if got := auth1(NewView(h.events)); got.Status != Fail {
		t.Errorf("a token that is refused before its key is revoked: got %s, want FAIL", got)
	}
}

// TestMomentOfTheCut: time may stand still at a cut; whatever happens at that moment counts as during the outage.
func TestMomentOfTheCut(t *testing.T) {
	t.Parallel()
	h := offlineBoard()
	h.online("brd_1")
	h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
	h.pass(10_000)
	h.cut("brd_1")
	h.change("plc_a", "revoke", grant("pmt_1", "kim", true, doorOf("brd_1", 1)))
	h.at -= 1000
	h.present("brd_1", "kim", "opened", "onsite", "pmt_1")
	h.back("brd_1")
	h.present("brd_1", "kim", "denied", "revoked", "")
	v := NewView(h.events)
	for _, got := range []Verdict{sync3(v), off1(v), off4(v)} {
		if got.Status != Pass || got.Checked == 0 || len(got.Untried) > 0 {
			t.Errorf("%s, %d checked, lacks %q; want PASS, and nothing lacking", got, got.Checked, got.Untried)
		}
	}
}

// TestGrantsMadeADifference: when everybody has the same single grant, an opening doesn't show that it matters which
// grant somebody has. A second, revoked grant does, and so does a person with a grant of another kind.
func TestGrantsMadeADifference(t *testing.T) {
	t.Parallel()
	member := grant("mem_1", "kim", false, doorOf("brd_1", 1))
	member.Kind = "membership"
	for name, tc := range map[string]struct {
		grants []refGrant
		person string
		credit string
		want   bool
	}{
		"a permit":                             {[]refGrant{grant("pmt_1", "kim", false, doorOf("brd_1", 1))}, "kim", "pmt_1", false},
		"a membership beside a revoked permit": {[]refGrant{grant("pmt_1", "kim", true, doorOf("brd_1", 1)), member}, "kim", "mem_1", true},
	} {
		h := offlineBoard()
		h.online("brd_1")
		for _, g := range tc.grants {
			h.change("plc_a", "register", g)
		}
		h.present("brd_1", tc.person, "opened", "onsite", tc.credit)
		if got := ent1(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: got %s, lacks %q; tried is to be %t", name, got, got.Untried, tc.want)
		}
	}
	h := offlineBoard()
	h.online("brd_1")
	lee := member
	lee.ID, lee.PhoneHash = "mem_2", "lee"
	h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
	h.change("plc_a", "membership", lee)
	h.present("brd_1", "kim", "opened", "onsite", "pmt_1")
	h.present("brd_1", "lee", "opened", "onsite", "mem_2")
	if got := ent1(NewView(h.events)); got.Status != Pass || len(got.Untried) > 0 {
		t.Errorf("a permit and a membership: got %s, lacks %q, want nothing lacking", got, got.Untried)
	}
}

// TestRequiredUntried: a guarantee that was never put to the test isn't a PASS; if it must be proven, it is INVALID.
func TestRequiredUntried(t *testing.T) {
	t.Parallel()
	none := Verdict{Clause: "CMD-5", Status: Pass, Checked: 1, Number: "1 keys"}.tried(0, "no key was used again at its place")
	for _, tc := range []struct {
		require []string
		want    Status
	}{{nil, Skipped}, {[]string{"CMD-5"}, Invalid}, {[]string{"all"}, Invalid}, {[]string{"CMD-1"}, Skipped}} {
		rows := Ledger([]Verdict{none}, nil, Basis{Require: tc.require})
		if i := slices.IndexFunc(rows, func(r Row) bool { return r.Clause == "CMD-5" }); rows[i].Status != tc.want {
			t.Errorf("required %v: got %s, want %s", tc.require, rows[i], tc.want)
		}
	}
}

// TestForeignOrOtherwise: an id of another place is evidence for AUTH-4 only if it is what the call was refused for.
func TestForeignOrOtherwise(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"device_not_found": true, "place_forbidden": true, "invalid_door_ids": true, "missing_field": false,
		"scope_missing": false, "token_expired": false, "method_not_allowed": false, "not_found": false} {
		h := newBuilder()
		h.base("plc_a")
		h.exchange(h.at, "key-1", "tok-1")
		h.call(h.at+1000, devicesRoute+"/{id}", 404, history.CallText{Token: "tok-1", Path: "plc_elsewhere"})
		h.events[len(h.events)-1].Code = code
		h.addBoard("plc_elsewhere", "brd_9")
		h.base("plc_elsewhere")
		if got := auth4(NewView(h.events)); (len(got.Untried) == 0) != want {
			t.Errorf("refused as %s: lacks %q; tried is to be %t", code, got.Untried, want)
		}
	}
}

// TestNobodysDoor: a list of doors with one that nobody has is refused for that, too, so it isn't evidence for AUTH-4.
func TestNobodysDoor(t *testing.T) {
	t.Parallel()
	for other, want := range map[string]bool{"": true, doorOf("brd_1", 1): true, "dor_nobodys": false} {
		h := oneBoard()
		h.base("plc_elsewhere")
		h.addBoard("plc_elsewhere", "brd_9")
		h.exchange(h.at, "key-1", "tok-1")
		doors := []string{doorOf("brd_9", 1)}
		if other != "" {
			doors = append(doors, other)
		}
		h.call(h.at+1000, createRoute, 400, history.CallText{Token: "tok-1", In: fields{"doorIds": doors}})
		h.events[len(h.events)-1].Code = "invalid_door_ids"
		if got := auth4(NewView(h.events)); (len(got.Untried) == 0) != want {
			t.Errorf("next to %q: lacks %q; tried is to be %t", other, got.Untried, want)
		}
	}
}

// TestHoldSeen: a hold that nothing disturbs is evidence once somebody reads the doors a minute after it began.
func TestHoldSeen(t *testing.T) {
	t.Parallel()
	read := func(route string, after int64) func(*builder) {
		return func(h *builder) {
			h.pass(after)
			h.did("plc_a", "GET", route, 200, history.CallText{}, nil)
		}
	}
	for name, tc := range map[string]struct {
		do   func(*builder)
		want bool
	}{
		"nobody looks":      {func(h *builder) { h.pass(5 * holdStoodMs) }, false},
		"too early":         {read("/device/v1/devices/{id}", holdStoodMs/2), false},
		"after a minute":    {read("/device/v1/devices/{id}", holdStoodMs+1000), true},
		"at something else": {read("/device/v1/boards", holdStoodMs+1000), false},
	} {
		h := offlineBoard()
		h.online("brd_1")
		h.command("brd_1", "k-held", "hold", vocab.Reported, true, 0)
		tc.do(h)
		if got := cmd7(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: got %s, lacks %q; want PASS, tried %t", name, got, got.Untried, tc.want)
		}
	}
}
