package judge

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// TestAnswersThatSayNothingOfTokens: what is refused before anybody looks at a limit or a token, and what a server can't
// store, is no breach of the promises about them.
func TestAnswersThatSayNothingOfTokens(t *testing.T) {
	t.Parallel()
	late := int64(912_000 + spreadMs + 60_000) // of a key that was revoked at 912 s
	coded := func(h *builder, code string) { h.events[len(h.events)-1].Code = code }
	for name, c := range map[string]struct {
		plant func(h *builder)
		want  []string
	}{
		"GETs of the exchange": {func(h *builder) {
			for i := range int64(exchanges + 1) {
				if i < 25 {
					h.exchange(h.at, "key-3", "tok-3")
					continue
				}
				h.call(h.at, ExchangeRoute, 405, history.CallText{From: "127.0.0.1"})
				coded(h, "method_not_allowed")
				h.events[len(h.events)-1].Method = "GET"
			}
		}, nil},
		"an unknown path": {func(h *builder) {
			h.call(h.at+late, "/space/v1/nothing", 404, history.CallText{Token: "tok-2"})
			coded(h, "not_found")
		}, nil},
		"a body too large": {func(h *builder) {
			h.call(h.at+late, permitsRoute, 400, history.CallText{Token: "tok-2"})
			coded(h, "body_too_large")
		}, nil},
		"too many": {func(h *builder) { h.call(h.at+late, permitsRoute, 429, history.CallText{Token: "tok-2"}) }, nil},
		"too many commands in progress": {func(h *builder) {
			h.call(h.at+late, permitsRoute, 429, history.CallText{Token: "tok-2"})
			coded(h, "too_many_in_flight")
		}, []string{"AUTH-5"}},
		"a full disk": {func(h *builder) {
			h.call(h.at+late, permitsRoute, 503, history.CallText{Token: "tok-2"})
			coded(h, codeStorage)
		}, nil},
		"a missing scope": {func(h *builder) { h.call(h.at+late, permitsRoute, 403, history.CallText{Token: "tok-2"}) }, []string{"AUTH-2", "AUTH-5"}},
		"a foreign id and a full disk": {func(h *builder) {
			h.call(h.at+1000, "/space/v1/partner/entry-permits/{id}", 503, history.CallText{Token: "tok-1", Path: "plc_t"})
			coded(h, codeStorage)
		}, nil},
		"a foreign id and no board": {func(h *builder) {
			h.call(h.at+1000, "/space/v1/partner/entry-permits/{id}", 503, history.CallText{Token: "tok-1", Path: "plc_t"})
			coded(h, "store_offline")
		}, []string{"AUTH-4"}},
	} {
		h := newBuilder()
		h.emit(history.Event{Kind: history.Started})
		h.base("plc_a")
		h.base("plc_t")
		h.keys()
		c.plant(h)
		if got := failing(Judge(NewView(h.events))); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: failing clauses %v, want %v", name, got, c.want)
		}
	}
}

// TestHoursAtOnceWithAnotherPlaces: two changes of one place's hours at once leave open which one the other kept, even if
// another place's hours were changed in between.
func TestHoursAtOnceWithAnotherPlaces(t *testing.T) {
	t.Parallel()
	h := newBuilder()
	at := func(ms int64, e history.Event) {
		e.At, e.WallNs = t0+ms, (t0+ms)*1e6
		h.events = append(h.events, e)
	}
	hours := func(ms, rev int64, place, week string) {
		at(ms, history.Event{Kind: history.Content, PlaceID: place, Revision: rev, Op: history.ContentHours, Text: `{"timezone":"Asia/Seoul","week":{` + week + `}}`})
	}
	patch := func(sent, answered int64, place, day string) {
		text := history.CallText{SentAt: t0 + sent, SentNs: (t0 + sent) * 1e6, Path: place, In: fields{"hours": fields{"week": fields{day: [][2]string{{"09:00", "18:00"}}}}}}
		at(answered, history.Event{Kind: history.Call, PlaceID: place, Method: "PATCH", Route: placeRoute, Status: 200, Text: string(must.Get(json.Marshal(text))(t))})
	}
	const nine = `:[["09:00","18:00"]]`
	for _, place := range []string{"plc_a", "plc_b"} {
		hours(-10, 1, place, "")
		at(-10, history.Event{Kind: history.Content, PlaceID: place, Revision: 1, Op: history.ContentBase})
	}
	hours(8, 2, "plc_a", `"mon"`+nine)
	patch(0, 10, "plc_a", "mon")
	hours(12, 2, "plc_b", `"wed"`+nine)
	patch(11, 13, "plc_b", "wed")
	hours(15, 3, "plc_a", `"mon"`+nine+`,"tue"`+nine)
	patch(5, 20, "plc_a", "tue")
	if v := hrs1(NewView(history.Merge(h.events))); v.FirstBad != nil {
		t.Errorf("got %s, want no breach", v.FirstBad.Why)
	}
}

// TestNobodyKnowsTheServersTime: a client with nothing but a key doesn't know what time it is for the server.
func TestNobodyKnowsTheServersTime(t *testing.T) {
	t.Parallel()
	for started, want := range map[bool]Status{false: Skipped, true: Fail} {
		h := newBuilder()
		if started {
			h.emit(history.Event{Kind: history.Started})
		}
		h.read("pending", h.at-40, h.at+3600_000)
		if v := perm7(NewView(h.events)); v.Status != want {
			t.Errorf("the server's start is known: %v: %s, want %s", started, v, want)
		}
	}
}

// TestPoliciesAtOnce: of two outage policies that are stored at once the one with the later version stays, whichever PUT
// was answered first.
func TestPoliciesAtOnce(t *testing.T) {
	t.Parallel()
	h := newBuilder()
	h.addBoard("plc_a", "brd_1")
	h.online("brd_1")
	policy := func(version int64) fields {
		return fields{"graceSec": 60 * version, "channels": fields{"1": "hold"}, "version": version}
	}
	sent := h.wall + 1
	stored := func(version int64) {
		text := must.Get(json.Marshal(policy(version)))(t)
		h.emit(history.Event{Kind: history.Netloss, BoardID: "brd_1", Text: string(text)})
	}
	call := func(method string, sent int64, version int64) {
		text := history.CallText{SentAt: h.at, SentNs: sent, Path: "brd_1", In: policy(version), Out: policy(version)}
		h.emit(history.Event{Kind: history.Call, PlaceID: "plc_a", Method: method, Route: netlossRoute, Status: 200, Text: string(must.Get(json.Marshal(text))(t))})
	}
	stored(1)
	stored(2)
	call("PUT", sent, 2)
	call("PUT", sent, 1)
	call("GET", h.wall+1, 2)
	if got := NewView(h.events).outagePolicies(); len(got.found) > 0 {
		t.Errorf("GET of the later version: %s, want no breach", got.found[0].why)
	}
	call("GET", h.wall+1, 1)
	if got := NewView(h.events).outagePolicies(); len(got.found) != 1 {
		t.Errorf("GET of the earlier version: %d breaches, want 1", len(got.found))
	}
}

// TestAPressOverAJump: a free window may have come and gone while a call was in progress.
func TestAPressOverAJump(t *testing.T) {
	t.Parallel()
	for took, want := range map[int64]bool{1000: true, 12 * 3600 * 1000: false} {
		h := newBuilder()
		h.emit(history.Event{Kind: history.Started})
		h.base("plc_a")
		h.addBoard("plc_a", "brd_1")
		h.online("brd_1")
		h.register(9)
		h.press(409, "no_valid_grant")
		h.last(history.Call, func(e *history.Event) { e.At += took })
		if got := ent1(NewView(h.events)).Status == Fail; got != want {
			t.Errorf("a press of %d ms: a breach: %v, want %v", took, got, want)
		}
	}
}

// TestStrangeHistories: no history crashes the judge or stops it.
func TestStrangeHistories(t *testing.T) {
	t.Parallel()
	strange := []refGrant{{ID: "g", PhoneHash: "kim", Doors: []string{doorOf("brd_1", 1)}}}
	if got := callDoors(strange, 1, []string{doorOf("brd_1", 1)}); len(got) != 1 {
		t.Errorf("a grant of an unknown kind gives %v, want its entry door", got)
	}
	h := offlineBoard()
	h.online("brd_1")
	h.change("plc_a", "register", strange[0])
	h.present("brd_1", "kim", "opened", "onsite", "g")
	h.emit(history.Event{Kind: history.Intent, Key: "k", CommandID: "c1"})
	h.emit(history.Event{Kind: history.Intent, Key: "k"})
	for _, v := range Judge(NewView(h.events)) {
		if v.Clause == "CMD-5" && v.Status != Fail {
			t.Errorf("%s, want FAIL for a second command without an id", v)
		}
	}
}
