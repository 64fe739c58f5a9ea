package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// everything is a history in which each promise was tested.
func everything() *builder {
	h := clean()
	h.call(h.at, ExchangeRoute, 429, history.CallText{In: fields{"key": "key-1"}, From: "127.0.0.1"})
	h.did("plc_a", "GET", placesRoute+"{id}/events", 403, history.CallText{Path: "plc_elsewhere"}, nil)
	h.events[len(h.events)-1].Code = "place_forbidden"
	h.create("ref-again", "pmt_7", h.at, h.at+5000)
	h.create("ref-again", "pmt_7", h.at, h.at+5000)
	h.did("plc_a", "POST", createRoute, 409, history.CallText{In: fields{"externalRef": "ref-long", "startsAt": rfc(h.at), "endsAt": rfc(h.at + maxPermitMs + 1)}}, nil)
	h.events[len(h.events)-1].Code = "permit_period_too_long"
	h.read("pending", h.at+10_000, h.at+20_000)
	h.did("plc_a", "GET", "/space/v1/partner/entry-logs", 200, history.CallText{}, nil)
	h.hold("brd_1", 5*60_000)
	h.emit(history.Event{Kind: history.Look, Text: lookAtJournal, PlaceID: "plc_a"})
	return h
}

func callOf(e *history.Event) (c history.CallText) {
	if e.Kind == history.Call {
		_ = json.Unmarshal([]byte(e.Text), &c) // the builder's calls always decode
	}
	return c
}

// without removes the matching events.
func without(match func(*history.Event) bool) func([]history.Event) []history.Event {
	return func(all []history.Event) []history.Event {
		return slices.DeleteFunc(all, func(e history.Event) bool { return match(&e) })
	}
}

// changing changes each event.
func changing(change func(*history.Event)) func([]history.Event) []history.Event {
	return func(all []history.Event) []history.Event {
		for i := range all {
			change(&all[i])
		}
		return all
	}
}

// answering changes the calls of a route.
func answering(method, route string, change func(*history.Event, *history.CallText)) func([]history.Event) []history.Event {
	return changing(func(e *history.Event) {
		if e.Kind != history.Call || e.Method != method || e.Route != route {
			return
		}
		c := callOf(e)
		change(e, &c)
		text, _ := json.Marshal(c)
		e.Text = string(text)
	})
}

// simulated turns commands with an outcome into commands that requested it.
func simulated(o vocab.Outcome) func([]history.Event) []history.Event {
	return func(all []history.Event) []history.Event {
		keys := map[string]bool{}
		for _, e := range all {
			keys[e.Key] = keys[e.Key] || e.Key != "" && e.Outcome == o
		}
		return changing(func(e *history.Event) {
			if keys[e.Key] && e.Meaning != "" {
				e.Meaning = strings.TrimSuffix(e.Meaning, `""`) + `"sim:` + string(o) + `"`
			}
		})(all)
	}
}

func decided(e *history.Event) bool {
	return e.Kind == history.Presented || e.Kind == history.Actuation
}

func asked(e *history.Event) bool { return e.Route == linkRoute || e.Route == phoneRoute }

// onlyFirst keeps only the first create of each reference.
func onlyFirst(all []history.Event) []history.Event {
	seen := map[any]bool{}
	return without(func(e *history.Event) bool {
		ref := callOf(e).In["externalRef"]
		again := e.Route == createRoute && e.Method == "POST" && seen[ref]
		seen[ref] = true
		return again
	})(all)
}

// unread removes every look at the records.
func unread(all []history.Event) []history.Event {
	return without(func(e *history.Event) bool { return e.Kind == history.Call && readsRecords.MatchString(e.Route) })(all)
}

// unchanged removes what was decided and committed while a board was away.
func unchanged(all []history.Event) []history.Event {
	away := false
	return without(func(e *history.Event) bool {
		if e.Kind == history.Line {
			away = e.Op == "down"
		}
		return away && (decided(e) || e.Kind == history.Committed)
	})(all)
}

// untriedCases are histories that lack the subject of a promise.
var untriedCases = map[string]struct {
	clause string
	but    func([]history.Event) []history.Event
	want   string
}{
	"the client's own exchanges": {"AUTH-1", func(all []history.Event) []history.Event {
		own := answering("POST", ExchangeRoute, func(_ *history.Event, c *history.CallText) { c.Own = true })
		return own(without(func(e *history.Event) bool { return e.Kind == history.Call && (e.Status == 401 || e.Status == 403) })(all))
	}, "no token that a step had asked for"},
	"no refusals":   {"AUTH-2", without(func(e *history.Event) bool { return e.Status == 401 || e.Status == 403 }), "no token was refused"},
	"few exchanges": {"AUTH-3", without(func(e *history.Event) bool { return e.Status == 429 }), "limit"},
	"nothing foreign": {"AUTH-4", without(func(e *history.Event) bool {
		return e.Kind == history.Call && (callOf(e).Path == "plc_t" || callOf(e).Path == "plc_elsewhere")
	}), "another place"},
	"a key that nobody had": {"AUTH-5", without(func(e *history.Event) bool { return callOf(e).Token == "tok-2" }), "no revoked key"},
	"nobody came":           {"PERM-1", without(func(e *history.Event) bool { return asked(e) }), "link or phone"},
	"never said again":      {"PERM-2", onlyFirst, "repeated"},
	"said otherwise":        {"PERM-2", without(func(e *history.Event) bool { return callOf(e).In["externalRef"] == "ref-again" }), "repeated"},
	"registered once":       {"PERM-3", onlyFirst, "changed a period"},
	"the same period": {"PERM-3", answering("POST", createRoute, func(_ *history.Event, c *history.CallText) {
		if c.In["startsAt"] != nil {
			c.In["startsAt"], c.In["endsAt"] = rfc(t0), rfc(t0+1000)
		}
	}), "changed a period"},
	"no dead link": {"PERM-4", without(func(e *history.Event) bool { return asked(e) || e.Route == "/entry" }), "dead link"},
	"another refusal of a period": {"PERM-5", answering("POST", createRoute, func(e *history.Event, _ *history.CallText) {
		if e.Status == 409 {
			e.Status, e.Code = 400, "invalid_period"
		}
	}), "too long"},
	"the longest that may be": {"PERM-5", without(func(e *history.Event) bool { return e.Code == "permit_period_too_long" }), "too long"},
	"doors that nobody saw": {"PERM-6", func(all []history.Event) []history.Event {
		return onlyFirst(without(func(e *history.Event) bool {
			return e.Code == "invalid_door_ids" || e.Route == createRoute+"/{id}" || e.Reason == vocab.DoorOutOfScope || strings.Contains(e.Text, string(vocab.DoorOutOfScope))
		})(all))
	}, "kept or replaced its doors"},
	"only active": {"PERM-7", without(func(e *history.Event) bool {
		return strings.Contains(e.Text, `"pending"`) || strings.Contains(e.Text, `"expired"`) || strings.Contains(e.Text, `"revoked"`)
	}), "same state"},
	"nobody let in": {"ENT-1", without(func(e *history.Event) bool {
		return asked(e) || decided(e) && (e.Result == "opened" || e.Action == "pulse")
	}), "nobody with a valid grant tried a door"},
	"nobody kept out": {"ENT-1", without(func(e *history.Event) bool {
		return asked(e) || decided(e) && (e.Result == "denied" || e.Action == "deny")
	}), "nobody tried a door without a valid grant"},
	"no window":     {"ENT-2", without(func(e *history.Event) bool { return e.BoardID == "brd_w" && decided(e) }), "window"},
	"only opened":   {"ENT-3", without(func(e *history.Event) bool { return e.Route == phoneRoute || e.Route == linkRoute && e.Status != 200 }), "only one of link and phone call"},
	"one dead link": {"ENT-3", without(func(e *history.Event) bool { return e.Route == phoneRoute || e.Route == linkRoute && e.Status != 404 }), "only one of link and phone call"},
	"dead links and calls that fail": {"ENT-3", without(func(e *history.Event) bool {
		return asked(e) && e.Status == 200 && !strings.Contains(e.Text, `"denied"`) || e.Route == linkRoute && e.Status != 404
	}), "only one of link and phone call"},
	"commands alone": {"ENT-4", func(all []history.Event) []history.Event {
		return without(func(e *history.Event) bool { return e.Kind == history.RecordIn && e.Method != "api" })(unread(all))
	}, "both a command and an attempt"},
	"attempts alone": {"ENT-4", func(all []history.Event) []history.Event {
		return without(func(e *history.Event) bool { return e.Kind == history.RecordIn && e.Method == "api" })(unread(all))
	}, "both a command and an attempt"},
	"offline on request": {"CMD-2", simulated(vocab.Offline), "offline"},
	"refused on request": {"CMD-3", simulated(vocab.Refused), "refused"},
	"silent on request":  {"CMD-4", simulated(vocab.NoResponse), "unknown outcome"},
	"no repeats": {"CMD-5", without(func(e *history.Event) bool {
		return e.Replayed || e.Code == codeReused
	}), "used again"},
	"a window let everybody in": {"OFF-1", func(all []history.Event) []history.Event {
		return changing(func(e *history.Event) {
			if e.Kind == history.Presented && e.OutageAgeMs > 0 && e.Result == "opened" {
				e.PhoneHash = "eve"
			}
		})(all)
	}, "by a grant"},
	"refused before":  {"CMD-8", answering("POST", "/device/v1/devices/{id}/commands", func(e *history.Event, _ *history.CallText) { e.Status, e.Code = 400, "missing_field" }), "no command, window or outage policy"},
	"no registration": {"SYNC-1", without(func(e *history.Event) bool { return e.Op == "register" }), "no registration reached a board"},
	"no revocation":   {"SYNC-2", without(func(e *history.Event) bool { return e.Op == "revoke" }), "no revocation reached a board"},
	"nobody looked": {"SYNC-1", func(all []history.Event) []history.Event {
		return without(func(e *history.Event) bool {
			return e.Kind == history.Presented || e.Kind == history.Call && e.Route == createRoute+"/{id}"
		})(all)
	}, "no registration reached a board that anybody looked at"},
	"nobody looked either": {"SYNC-2", func(all []history.Event) []history.Event {
		return without(func(e *history.Event) bool {
			return e.Kind == history.Presented || e.Kind == history.Call && e.Route == createRoute+"/{id}"
		})(all)
	}, "no revocation reached a board that anybody looked at"},
	"no presentations": {"SYNC-3", without(decided), "pending change"},
	"somebody else came": {"SYNC-3", changing(func(e *history.Event) {
		if e.Kind == history.Presented && e.OutageAgeMs > 0 {
			e.PhoneHash = "lee"
		}
	}), "pending change"},
	"only strangers": {"OFF-1", without(func(e *history.Event) bool {
		return decided(e) && e.OutageAgeMs > 0 && (e.Result == "opened" || e.Action == "pulse")
	}), "let in"},
	"under 36 h": {"OFF-2", without(func(e *history.Event) bool { return decided(e) && e.OutageAgeMs >= limitMs-1000 }), "36 h"},
	"only strangers after 36 h, at boards that lost their clock": {"OFF-2", func(all []history.Event) []history.Event {
		return changing(func(e *history.Event) {
			if e.Kind == history.Presented && e.OutageAgeMs > limitMs {
				e.PhoneHash, e.TokenHash, e.OutageAgeMs = "lee", "", -1
			}
		})(without(func(e *history.Event) bool { return decided(e) && e.OutageAgeMs > 0 && e.OutageAgeMs <= limitMs })(all))
	}, "nobody tried a door after 36 h"},
	"no outages": {"OFF-3", without(func(e *history.Event) bool {
		return e.OutageAgeMs > 0 || e.Cause == "outage" || e.Kind == history.Line || e.Kind == history.Offline
	}), "resting"},
	"never configured":           {"OFF-3", without(func(e *history.Event) bool { return e.Kind == history.Netloss }), "resting"},
	"nothing missed":             {"OFF-4", unchanged, "missed or recorded"},
	"hours as they were":         {"HRS-1", answering("PATCH", placeRoute, func(_ *history.Event, c *history.CallText) { c.In["hours"] = fields{"week": fields{"mon": []any{}}} }), "what they already were"},
	"hours that nothing follows": {"HRS-1", without(func(e *history.Event) bool { return e.Route == scheduleRoute }), "after opening hours had changed"},
	"always closed":              {"HRS-2", without(func(e *history.Event) bool { return e.Route == scheduleRoute && strings.Contains(e.Text, "startsAt") }), "closure"},
	"no imports":                 {"IMP-1", without(func(e *history.Event) bool { return e.Kind == history.Call }), "row"},
	"bad rows alone": {"IMP-1", answering("POST", importRoute, func(_ *history.Event, c *history.CallText) {
		for i := range c.Wrote {
			c.Rows[i], c.Wrote[i] = fields{"name": "x"}, fields{"index": i, "status": "failed"}
		}
	}), "row"},
	"only read": {"LEG-1", without(func(e *history.Event) bool { return e.Method != "GET" && strings.HasPrefix(e.Route, legacyDoors) }), "legacy path"},
}

// A promise needs its subject to have happened, however much else was checked.
func TestUntried(t *testing.T) {
	t.Parallel()
	lacks := func(events []history.Event) map[string]string {
		out := map[string]string{}
		for _, v := range Judge(NewView(events)) {
			out[v.Clause] = strings.Join(v.Untried, ", ")
		}
		return out
	}
	for clause, got := range lacks(everything().events) {
		if got != "" {
			t.Errorf("%s: the whole history is said to lack %q, want nothing", clause, got)
		}
	}
	for name, tc := range untriedCases {
		if got := lacks(tc.but(everything().events))[tc.clause]; got == "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s lacks %q, want %q in it", name, tc.clause, got, tc.want)
		}
	}
}

// A promise without a single case gets no PASS, whatever else its checker verified.
func TestNoCase(t *testing.T) {
	t.Parallel()
	for clause, but := range map[string]func([]history.Event) []history.Event{
		"CMD-7": without(func(e *history.Event) bool { return e.Action == "hold" || e.Cause == "hold_end" }),
		"ENT-2": func(all []history.Event) []history.Event {
			return without(func(e *history.Event) bool { return asked(e) || decided(e) })(all)
		},
		"OFF-2": untriedCases["under 36 h"].but,
		"OFF-3": untriedCases["no outages"].but,
	} {
		for _, v := range Judge(NewView(but(everything().events))) {
			if v.Clause == clause && (v.Status != Skipped || v.Checked != 0) {
				t.Errorf("%s is %s (%s), %d checked; want SKIPPED, and nothing checked", clause, v.Status, v.Number, v.Checked)
			}
		}
	}
	pulse := []history.Event{{Kind: history.Actuation, At: t0, Action: "pulse", Cause: "command", Boot: 1}, {Kind: history.Released, At: t0 + 5000}}
	if v := cmd1(atRelay(pulse)); v.Status != Skipped {
		t.Errorf("a pulse of 5 s and no command: CMD-1 is %s (%s), want SKIPPED", v.Status, v.Number)
	}
}

// A revocation isn't a second state of a permit: what it is before and after says nothing about time.
func TestActiveAndRevoked(t *testing.T) {
	t.Parallel()
	events := without(func(e *history.Event) bool {
		return strings.Contains(e.Text, `"pending"`) || strings.Contains(e.Text, `"expired"`)
	})(everything().events)
	for _, v := range Judge(NewView(events)) {
		if v.Clause == "PERM-7" && (len(v.Untried) == 0 || v.Checked == 0) {
			t.Errorf("active and revoked: PERM-7 lacks %q and checked %d, want another state lacking, and at least 1", v.Untried, v.Checked)
		}
	}
}

// Where only requests are known, what only server and boards can show isn't missed.
func TestUntriedByRequestsAlone(t *testing.T) {
	t.Parallel()
	clients := map[string]bool{history.Call: true, history.Attempt: true, history.Answer: true, history.Label: true}
	events := without(func(e *history.Event) bool { return !clients[e.Kind] })(everything().events)
	for _, v := range Judge(NewView(events)) {
		if len(v.Untried) > 0 {
			t.Errorf("%s lacks %q in a history of requests, want nothing", v.Clause, v.Untried)
		}
	}
}

// TestHoldsTried: what must happen during a hold before its end is evidence.
func TestHoldsTried(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		through func(*builder)
		want    bool
	}{
		"closed at once":         {func(h *builder) { h.command("brd_1", "k-end", "close", vocab.Reported, true, 0) }, false},
		"never closed":           {func(*builder) {}, false},
		"replaced at once":       {func(h *builder) { h.command("brd_1", "k-end", "hold", vocab.Reported, true, 0) }, false},
		"closed after a minute":  {func(h *builder) { h.pass(holdStoodMs); h.command("brd_1", "k-end", "close", vocab.Reported, true, 0) }, true},
		"an opening meanwhile":   {func(h *builder) { h.command("brd_1", "k-end", "open", vocab.Reported, true, 0) }, true},
		"an opening of another":  {func(h *builder) { h.command("brd_2", "k-end", "open", vocab.Reported, true, 0) }, false},
		"the line was cut":       {func(h *builder) { h.cut("brd_1") }, true},
		"another's line was cut": {func(h *builder) { h.cut("brd_2") }, false},
	} {
		h := offlineBoard()
		h.addBoard("plc_a", "brd_2")
		h.online("brd_1")
		h.online("brd_2")
		h.command("brd_1", "k-hold", "hold", vocab.Reported, true, 0)
		tc.through(h)
		if got := cmd7(NewView(h.events)); (len(got.Untried) == 0) != tc.want || got.Status != Pass {
			t.Errorf("%s: %s, lacks %q; tried is to be %t", name, got, got.Untried, tc.want)
		}
	}
}

func TestUntriedWorldsTogether(t *testing.T) {
	t.Parallel()
	none, some := Verdict{Clause: "CMD-5", Status: Pass}.tried(0, "no key was used again at its place"), Verdict{Clause: "CMD-5", Status: Pass}.tried(2, "no key was used again")
	for name, tc := range map[string]struct {
		worlds []Verdict
		want   int
	}{"one tried it": {[]Verdict{none, some}, 0}, "nobody did": {[]Verdict{none, none}, 1}, "the other has nothing of it": {[]Verdict{none, {Clause: "CMD-5", Status: Skipped, Untried: none.Untried}}, 1}} {
		if got := Combine(tc.worlds[:1], tc.worlds[1:])[0].Untried; len(got) != tc.want {
			t.Errorf("%s: got %q, want %d", name, got, tc.want)
		}
	}
}
