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

// kimsBoard is a place with a board, and kim's permit for its first door.
func kimsBoard() *builder {
	h := newBuilder()
	h.emit(history.Event{Kind: history.Started, Text: "server"})
	h.base("plc_a")
	h.addBoard("plc_a", "brd_1")
	h.online("brd_1")
	h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
	h.pass(10_000)
	return h
}

func looked(h *builder) { h.emit(history.Event{Kind: history.Look, Text: "boards", PlaceID: "plc_a"}) }

// TestVacuous: what looks like a case of a promise, but would be so whatever the promise is worth, doesn't count; what comes
// closest to it and does count is beside it.
func TestVacuous(t *testing.T) {
	t.Parallel()
	let := func(h *builder) { h.present("brd_1", "kim", "opened", "onsite", "pmt_1") }
	revoked := func(h *builder) { h.change("plc_a", "revoke", grant("pmt_1", "kim", true, doorOf("brd_1", 1))) }
	denied := func(reason vocab.Reason) func(*builder) {
		return func(h *builder) { h.present("brd_1", "kim", vocab.Denied, reason, "") }
	}
	stranger := func(h *builder) { h.present("brd_1", "nobody", vocab.Denied, vocab.OutageLimit, "") }
	later := func(ms int64) func(*builder) { return func(h *builder) { h.pass(ms) } }
	cut := func(h *builder) { h.cut("brd_1") }
	back := func(h *builder) { h.back("brd_1") }
	atOnce := func(h *builder) { // the change is committed in the same moment
		revoked(h)
		for i := range h.events {
			if e := &h.events[i]; e.Op == "revoke" {
				e.At = h.at
			}
		}
	}
	held := func(minutes int) func(*builder) {
		return func(h *builder) {
			h.minutes = minutes
			h.command("brd_1", "k-hold", "hold", vocab.Reported, true, 0)
		}
	}
	ended := func(h *builder) {
		h.emit(history.Event{Kind: history.Actuation, BoardID: "brd_1", PlaceID: "plc_a", DoorID: doorOf("brd_1", 1), Channel: 1, Boot: 1, Action: "lock", Cause: "hold_end"})
	}
	closed := func(h *builder) { h.command("brd_1", "k-close", "close", vocab.Reported, true, 0) }
	for name, tc := range map[string]struct {
		clause string
		do     []func(*builder)
		lacks  string // "" = it counts
	}{
		"at the moment of the cut":        {"OFF-1", []func(*builder){cut, let}, ""},
		"a millisecond later":             {"OFF-1", []func(*builder){cut, later(1), let}, ""},
		"weeks after the limit":           {"OFF-2", []func(*builder){cut, later(20 * 24 * hourMs), denied(vocab.OutageLimit)}, ""},
		"a stranger after the limit":      {"OFF-2", []func(*builder){cut, later(37 * hourMs), stranger}, ""},
		"an hour after the limit":         {"OFF-2", []func(*builder){cut, later(37 * hourMs), denied(vocab.OutageLimit)}, ""},
		"in the instant of the change":    {"SYNC-3", []func(*builder){cut, later(60_000), atOnce, let}, "only in the instant of the change"},
		"ten minutes after the change":    {"SYNC-3", []func(*builder){cut, later(60_000), atOnce, later(600_000), let}, ""},
		"in the instant, and afterwards":  {"SYNC-3", []func(*builder){cut, later(60_000), atOnce, let, back, denied(vocab.Revoked)}, ""},
		"in the instant, and nobody else": {"SYNC-3", []func(*builder){cut, later(60_000), atOnce, let, back}, "nobody looked after recovery"},
		"nobody looked at what came back": {"OFF-4", []func(*builder){cut, later(60_000), let, looked, back}, "nobody looked at a board once it was back"},
		"somebody looked at it":           {"OFF-4", []func(*builder){cut, later(60_000), let, back, looked}, ""},
		"somebody tried its door":         {"OFF-4", []func(*builder){cut, later(60_000), let, back, let}, ""},
		"somebody gave it a command":      {"OFF-4", []func(*builder){cut, later(60_000), let, back, closed}, ""},
		"somebody read its records": {"OFF-4", []func(*builder){cut, later(60_000), let, back, func(h *builder) {
			h.did("plc_a", "GET", "/space/v1/partner/entry-logs", 200, history.CallText{Told: []any{fields{"recordId": "rec_1"}}}, nil)
		}}, ""},
		"a hold that is closed at once":     {"CMD-7", []func(*builder){held(30), closed}, "nobody saw a hold end"},
		"a hold that is closed in time":     {"CMD-7", []func(*builder){held(30), later(pulsedMs), closed}, ""},
		"a hold that ends, unseen":          {"CMD-7", []func(*builder){held(5), later(300_000), ended}, "nobody saw a hold end"},
		"a hold that ends, seen before":     {"CMD-7", []func(*builder){held(5), looked, later(300_000), ended}, "nobody saw a hold end"},
		"a hold that ends, seen":            {"CMD-7", []func(*builder){held(5), later(300_000), ended, looked}, ""},
		"a hold without an end, unseen":     {"CMD-7", []func(*builder){held(0), later(300_000), revoked}, "nobody saw a hold end"},
		"a hold without an end, looked at":  {"CMD-7", []func(*builder){held(0), later(300_000), looked}, ""},
		"a hold without an end, too early":  {"CMD-7", []func(*builder){held(0), later(30_000), looked}, "nobody saw a hold end"},
		"a hold, looked at long before end": {"CMD-7", []func(*builder){held(30), later(300_000), looked}, "nobody saw a hold end"},
	} {
		h := kimsBoard()
		for _, do := range tc.do {
			do(h)
		}
		for _, v := range Judge(NewView(h.events)) {
			if v.Clause != tc.clause {
				continue
			}
			got := strings.Join(v.Untried, "; ")
			if v.Status != Pass || (got == "") != (tc.lacks == "") || !strings.Contains(got, tc.lacks) {
				t.Errorf("%s: %s, lacks %q; want PASS, lacking %q", name, v, got, tc.lacks)
			}
		}
	}
}

// TestUntoldCallers: callers whom the reference doesn't know, because they may have been imported, show ENT-1 by what their steps expect.
func TestUntoldCallers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results []string
		want    Status
		lacks   string
	}{
		"nobody":                   {nil, Skipped, "nobody with a valid grant tried a door"},
		"a caller who gets in":     {[]string{"opened"}, Pass, "nobody tried a door without a valid grant"},
		"one in, and one kept out": {[]string{"opened", "denied"}, Pass, ""},
		"one whom nobody answers":  {[]string{""}, Skipped, "nobody with a valid grant tried a door"},
	} {
		h := kimsBoard() // the history doesn't say who registered kim
		for i, result := range c.results {
			out := fields{"answered": true, "result": result, "doorId": doorOf("brd_1", 1)}
			if result == "denied" {
				out["reason"], out["doorId"] = "no_valid_grant", ""
			}
			h.did("plc_a", "POST", phoneRoute, 200, history.CallText{In: fields{"from": fmt.Sprint("caller", i)}, Out: out}, nil)
		}
		got := ent1(NewView(h.events))
		lacks := strings.Join(got.Untried, "; ")
		if got.Status != c.want || (lacks == "") != (c.lacks == "") || !strings.Contains(lacks, c.lacks) {
			t.Errorf("%s: %s, lacks %q; want %s, lacking %q", name, got, lacks, c.want, c.lacks)
		}
	}
}

// TestOrdinaryWeek: a schedule shows that closures, holidays and saved hours are applied only if there are any in it.
func TestOrdinaryWeek(t *testing.T) {
	t.Parallel()
	const plain = `"timezone":"Asia/Seoul","week":{"mon":[["09:00","18:00"]],"tue":[["09:00","18:00"]]}`
	open := fields{"date": "2026-11-23", "weekday": "mon", "open": true, "intervals": []any{fields{"start": "09:00", "end": "18:00", "startsAt": "2026-11-23T00:00:00Z", "endsAt": "2026-11-23T09:00:00Z"}}}
	shut := fields{"date": "2026-11-23", "weekday": "mon", "open": false, "intervals": []any{}, "note": fields{"type": "closure", "name": "Refit"}}
	late := fields{"date": "2026-11-23", "weekday": "mon", "open": true, "intervals": []any{fields{"start": "12:00", "end": "18:00", "startsAt": "2026-11-23T03:00:00Z", "endsAt": "2026-11-23T09:00:00Z"}}}
	for name, tc := range map[string]struct {
		now   string // the hours after a change, "" = none
		shown fields
		want  bool
	}{
		"an ordinary day":     {"", open, false},
		"a closure":           {`{` + plain + `,"closures":[{"from":"2026-11-23","to":"2026-11-23","name":"Refit"}]}`, shut, true},
		"new hours":           {`{"timezone":"Asia/Seoul","week":{"mon":[["12:00","18:00"]]}}`, late, true},
		"new hours elsewhere": {`{"timezone":"Asia/Seoul","week":{"mon":[["09:00","18:00"]],"tue":[]}}`, open, false},
	} {
		h := newBuilder()
		h.at = time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC).UnixMilli() // a Monday, noon in Seoul
		h.emit(history.Event{Kind: history.Content, PlaceID: "plc_a", Revision: 1, Op: history.ContentHours, Text: "{" + plain + "}"})
		h.emit(history.Event{Kind: history.Content, PlaceID: "plc_a", Revision: 1, Op: history.ContentBase})
		h.addBoard("plc_a", "brd_1")
		h.online("brd_1")
		if tc.now != "" {
			h.emit(history.Event{Kind: history.Committed, PlaceID: "plc_a", Revision: 2, Digest: "d2", Op: "hours"})
			h.emit(history.Event{Kind: history.Content, PlaceID: "plc_a", Revision: 2, Op: history.ContentHours, Text: tc.now})
		}
		h.did("plc_a", "GET", scheduleRoute, 200, history.CallText{Path: "plc_a", Query: "days=1", Out: fields{"timezone": "Asia/Seoul", "days": []any{tc.shown}}}, nil)
		if got := hrs2(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: %s, lacks %q; counted is to be %t", name, got, got.Untried, tc.want)
		}
	}
}

// TestPlaceOfNobody: a place that nobody has isn't another place, unless all that is known are requests.
func TestPlaceOfNobody(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		id    string
		known bool
		want  bool
	}{
		"somebody's":                    {"plc_t", true, true},
		"nobody's":                      {"plc_none", true, false},
		"nobody knows, by keys alone":   {"plc_none", false, true},
		"somebody's, whose nobody knew": {"plc_t", false, true},
	} {
		h := newBuilder()
		if tc.known {
			h = kimsBoard()
			h.base("plc_t")
		}
		h.call(h.at, ExchangeRoute, 200, history.CallText{Own: true, SentNs: h.wall, In: fields{"key": "key-1"}, Out: fields{"accessToken": "tok-1", "expiresIn": 900, "placeId": "plc_a", "scopes": []any{"space:partner"}}})
		h.call(h.at, placesRoute+"{id}/events", 403, history.CallText{SentNs: h.wall, Token: "tok-1", Path: tc.id})
		h.events[len(h.events)-1].Code = "place_forbidden"
		for _, judge := range []func(*View) Verdict{auth1, auth4} {
			if got := judge(NewView(h.events)); (len(got.Untried) == 0) != tc.want {
				t.Errorf("%s: %s lacks %q; tried is to be %t", name, got.Clause, got.Untried, tc.want)
			}
		}
	}
}

// TestNothingRemoved: removing windows where there are none does nothing over a legacy path.
func TestNothingRemoved(t *testing.T) {
	t.Parallel()
	for deleted, want := range map[float64]bool{0: false, 1: true} {
		h := kimsBoard()
		h.did("plc_a", "DELETE", policiesRoute, 200, history.CallText{Path: doorOf("brd_1", 1), Out: fields{"deleted": deleted}}, nil)
		if got := leg1(NewView(h.events)); (len(got.Untried) == 0) != want {
			t.Errorf("%v removed: lacks %q; tried is to be %t", deleted, got.Untried, want)
		}
	}
}

// TestOccasions: a verdict says when and where its promise was put to the test.
func TestOccasions(t *testing.T) {
	t.Parallel()
	places := map[string][]string{}
	for _, v := range Judge(NewView(clean().events)) {
		for _, o := range v.Occasions {
			if o.From == 0 || o.To < o.From {
				t.Errorf("%s has an occasion from %d to %d", v.Clause, o.From, o.To)
			}
			if at := fmt.Sprint(o.Place, " ", o.Door); !slices.Contains(places[v.Clause], at) {
				places[v.Clause] = append(places[v.Clause], at)
			}
		}
	}
	for clause, want := range map[string]string{"CMD-2": "plc_a dor_brd_2_1", "CMD-3": "plc_a dor_brd_1_1", "CMD-4": "plc_a dor_brd_1_1", "CMD-5": "plc_a dor_brd_1_1, plc_a dor_brd_2_1",
		"OFF-1": "plc_a dor_brd_2_1", "OFF-2": "plc_a dor_brd_2_1", "OFF-3": "plc_a dor_brd_2_1, plc_a dor_brd_2_2", "ENT-2": "plc_w dor_brd_w_1", "AUTH-2": " ", "CMD-8": " "} {
		if got := strings.Join(places[clause], ", "); got != want {
			t.Errorf("%s was put to the test at %q, want %q", clause, got, want)
		}
	}
	twice := Combine(Judge(NewView(clean().events)), Judge(NewView(clean().events)))
	for _, v := range twice {
		if len(v.Occasions) > 0 {
			t.Errorf("%s of two worlds has %d occasions, want none: a file is judged by its own", v.Clause, len(v.Occasions))
		}
	}
}
