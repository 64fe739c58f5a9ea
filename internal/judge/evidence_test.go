package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// oneBoard is a place with one connected board and one entry door.
func oneBoard() *builder {
	h := offlineBoard()
	h.entries("plc_a", doorOf("brd_1", 1))
	h.online("brd_1")
	return h
}

// last changes the last event that matches.
func (h *builder) last(kind string, change func(*history.Event)) {
	for i := len(h.events) - 1; i >= 0; i-- {
		if h.events[i].Kind == kind {
			change(&h.events[i])
			return
		}
	}
}

// TestExactBoundary: at the exact end of a permit a call is judged if the clock stood still, for there is only one. While it
// runs, or if the server's may be another, both answers may be right, and only the one that fits the client's clock shows
// anything.
func TestExactBoundary(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		target bool // the run's server is in another process
		runs   bool
		status int
		want   Status
		tried  bool
	}{
		"standing":                   {false, false, 409, Pass, true},
		"standing, let in too long":  {false, false, 200, Fail, true},
		"running":                    {false, true, 409, Pass, true},
		"running, let in":            {false, true, 200, Pass, false},
		"another process's":          {true, false, 409, Pass, true},
		"another process's, let in":  {true, false, 200, Pass, false},
		"standing, a moment earlier": {false, false, 0, Pass, false},
	} {
		h := newBuilder()
		if tc.target {
			h.emit(history.Event{Kind: history.Begun})
		} else {
			h.emit(history.Event{Kind: history.Started})
		}
		h.base("plc_a")
		h.addBoard("plc_a", "brd_1")
		h.entries("plc_a", doorOf("brd_1", 1))
		h.online("brd_1")
		h.register(1)
		h.press(200, "")
		h.at = h.customerPermit(1, false).EndsAt - betweenMs // a press comes betweenMs later
		switch tc.status {
		case 0:
			h.at--
			h.press(200, "")
		case 200:
			h.press(200, "")
		default:
			h.press(409, string(vocab.Expired))
		}
		if tc.runs {
			h.last(history.Call, func(e *history.Event) { e.At += 3 })
		}
		if got := ent1(NewView(h.events)); got.Status != tc.want || tc.want == Pass && (len(got.Untried) == 0) != tc.tried {
			t.Errorf("%s: got %s, lacks %q; want %s, tried %t", name, got, got.Untried, tc.want, tc.tried)
		}
	}
}

// TestRefusedAsExpired: a command that came to its board too late, and was refused for that, shows what CMD-4 promises.
func TestRefusedAsExpired(t *testing.T) {
	t.Parallel()
	for reason, want := range map[vocab.Reason]bool{vocab.Expired: true, "jammed": false} {
		h := oneBoard()
		h.command("brd_1", "k-late", "open", vocab.Refused, false, 0)
		h.last(history.Received, func(e *history.Event) { e.Reason = reason })
		if got := cmd4(NewView(h.events)); (len(got.Untried) == 0) != want || want && got.Status != Pass {
			t.Errorf("refused as %s: got %s, lacks %q; tried is to be %t", reason, got, got.Untried, want)
		}
	}
}

// TestLimitTried: OFF-2 is about the end of 36 h: who comes in the last minute before and is let in, or later and isn't. A
// board that can't tell the time counts if it has content by which it could let somebody in.
func TestLimitTried(t *testing.T) {
	t.Parallel()
	at := func(age int64, result vocab.Result, reason vocab.Reason) func(*builder) {
		return func(h *builder) {
			h.cut("brd_1")
			h.pass(age)
			h.present("brd_1", "kim", result, reason, map[bool]string{true: "pmt_1"}[result == vocab.Opened])
		}
	}
	timeless := func(revision int64) func(*builder) {
		return func(h *builder) {
			h.emit(history.Event{Kind: history.Rebooted, BoardID: "brd_1"})
			at(60_000, vocab.Denied, vocab.OutageLimit)(h)
			for _, kind := range []string{history.Presented, history.Actuation} {
				h.last(kind, func(e *history.Event) { e.OutageAgeMs, e.Revision = -1, min(e.Revision, revision) })
			}
		}
	}
	for name, tc := range map[string]struct {
		do   func(*builder)
		want bool
		says string
	}{
		"two minutes before":      {at(limitMs-2*60*1000, vocab.Opened, vocab.Reason(vocab.Onsite)), false, ""},
		"one minute before":       {at(limitMs-60*1000, vocab.Opened, vocab.Reason(vocab.Onsite)), true, "0 denied after 36 h"},
		"one second before":       {at(limitMs-1000, vocab.Opened, vocab.Reason(vocab.Onsite)), true, "0 denied after 36 h"},
		"at the limit":            {at(limitMs, vocab.Opened, vocab.Reason(vocab.Onsite)), true, "at 36 h: 1"},
		"after it":                {at(limitMs+1, vocab.Denied, vocab.OutageLimit), true, "1 denied after 36 h (0 with a lost clock)"},
		"a clock is lost":         {timeless(99), true, "1 denied after 36 h (1 with a lost clock)"},
		"a board that was wiped":  {timeless(0), false, "(1 with a lost clock)"},
		"nobody in all that time": {func(h *builder) { h.cut("brd_1"); h.pass(limitMs + 1) }, false, ""},
	} {
		h := oneBoard()
		h.change("plc_a", "register", grant("pmt_1", "kim", false, doorOf("brd_1", 1)))
		tc.do(h)
		if got := off2(NewView(h.events)); (len(got.Untried) == 0) != tc.want || got.Status == Fail || !strings.Contains(got.Number, tc.says) {
			t.Errorf("%s: got %s, lacks %q; want %q, tried %t", name, got, got.Untried, tc.says, tc.want)
		}
	}
}

// TestOpenedByAPermit: a call that ends at an absent board has let nobody in.
func TestOpenedByAPermit(t *testing.T) {
	t.Parallel()
	for result, want := range map[vocab.Result]bool{vocab.Opened: true, vocab.Offline: false, vocab.NoResponse: false} {
		h := oneBoard()
		h.register(1)
		h.phone(string(result), "phone", doorOf("brd_1", 1))
		if got := perm1(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != want {
			t.Errorf("a call that ends %s: got %s, lacks %q; want PASS, tried %t", result, got, got.Untried, want)
		}
	}
}

// TestDoorsSelected: a second registration shows what doorIds mean if without it the doors would be others.
func TestDoorsSelected(t *testing.T) {
	t.Parallel()
	one, two := []string{doorOf("brd_1", 1)}, []string{doorOf("brd_1", 2)}
	for name, tc := range map[string]struct {
		first, second []string // nil = none are named
		want          bool
	}{
		"other doors":           {one, two, true},
		"the same doors":        {one, one, false},
		"named ones are kept":   {one, nil, true},
		"the default is kept":   {nil, nil, false},
		"named for the default": {nil, two, true},
	} {
		h := oneBoard()
		for _, doors := range [][]string{tc.first, tc.second} {
			g := h.customerPermit(1, false)
			in := fields{"externalRef": "ref-c", "phone": "mia", "startsAt": rfc(g.StartsAt), "endsAt": rfc(g.EndsAt)}
			if doors != nil {
				in["doorIds"] = doors
			}
			h.did("plc_a", "POST", createRoute, 200, history.CallText{In: in, Out: fields{"permitId": g.ID, "entryToken": "link of mia"}},
				func() { h.change("plc_a", "register", g) })
		}
		if got := perm6(NewView(h.events)); (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: lacks %q; tried is to be %t", name, got.Untried, tc.want)
		}
	}
}

// TestEveryKindArrives: the 300 s hold for whatever is registered or taken back, not only for permits.
func TestEveryKindArrives(t *testing.T) {
	t.Parallel()
	for op, judge := range map[string]func(*View) Verdict{"register": sync1, "membership": sync1, "reservation": sync1, "revoke": sync2, "cancel": sync2} {
		for wait, want := range map[int64]Status{299_000: Pass, 301_000: Fail} {
			h := oneBoard()
			h.rev["plc_a"]++
			h.digest["plc_a"] = "d2"
			text, _ := json.Marshal(grant("mem_1", "kim", op == "revoke" || op == "cancel", doorOf("brd_1", 1)))
			h.emit(history.Event{Kind: history.Committed, PlaceID: "plc_a", Revision: 2, Digest: "d2", GrantID: "mem_1", Op: op})
			h.emit(history.Event{Kind: history.Content, PlaceID: "plc_a", Revision: 2, Op: history.ContentGrant, GrantID: "mem_1", Text: string(text)})
			h.pass(wait)
			h.apply("brd_1")
			if got := judge(NewView(h.events)); got.Status != want {
				t.Errorf("%s after %d ms: got %s, want %s", op, wait, got, want)
			}
		}
	}
	if got := means(&history.Event{Op: "hours"}); got != "" {
		t.Errorf("hours mean %q to boards, want nothing", got)
	}
}

// TestSeenLate: what is promised at once isn't shown by somebody who looks an hour later. A permit counts from its start.
func TestSeenLate(t *testing.T) {
	t.Parallel()
	const minute = 60 * 1000
	later := func(h *builder) { h.at = h.customerPermit(1, false).StartsAt }
	for name, tc := range map[string]struct {
		before func(*builder)   // the registration
		wait   func(h *builder) // until somebody uses it, and after its revocation
		want   bool
	}{
		"at once":                   {func(*builder) {}, func(*builder) {}, true},
		"within 2 minutes":          {func(*builder) {}, func(h *builder) { h.live(100 * 1000) }, true},
		"after a jump of 2 minutes": {func(*builder) {}, func(h *builder) { h.pass(100 * 1000) }, false},
		"after many jumps": {func(*builder) {}, func(h *builder) {
			for range 10 {
				h.pass(9 * 1000)
			}
		}, false},
		"after 4 minutes": {func(*builder) {}, func(h *builder) { h.live(4 * minute) }, false},
		"an hour later":   {func(*builder) {}, func(h *builder) { h.pass(60 * minute) }, false},
		"after its start": {func(h *builder) { later(h); h.pass(-60 * minute) }, func(h *builder) { h.pass(60 * minute) }, true},
	} {
		page := func(h *builder) {
			h.did("plc_a", "GET", "/entry", 404, history.CallText{In: fields{"t": "link of mia"}}, nil)
		}
		for way, to := range map[string]struct{ use, useDead func(*builder) }{
			"link":           {func(h *builder) { h.press(200, "") }, func(h *builder) { h.press(404, "") }},
			"phone and page": {func(h *builder) { h.phone("opened", "phone", doorOf("brd_1", 1)) }, page},
		} {
			h := oneBoard()
			tc.before(h)
			h.register(1)
			tc.wait(h)
			to.use(h)
			if got := perm1(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
				t.Errorf("used by %s %s: got %s, lacks %q; want PASS, tried %t", way, name, got, got.Untried, tc.want)
			}
			if strings.Contains(name, "start") {
				continue
			}
			h.did("plc_a", "POST", revokeRoute, 200, history.CallText{In: fields{"externalRef": "ref-c"}, Out: fields{"permitId": "pmt_c", "state": "revoked"}},
				func() { h.change("plc_a", "revoke", h.customerPermit(1, true)) })
			tc.wait(h)
			to.useDead(h)
			if got := perm4(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
				t.Errorf("dead link used by %s %s: got %s, lacks %q; want PASS, tried %t", way, name, got, got.Untried, tc.want)
			}
		}
	}
}

// TestSeenAtItsStart: whoever comes in the moment that a permit begins has shown it, although the clock of the client is
// too coarse to accuse a server that refuses it.
func TestSeenAtItsStart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		use  func(*builder)
		want bool
	}{
		"let in by the link": {func(h *builder) { h.press(200, "") }, true},
		"let in by phone":    {func(h *builder) { h.phone("opened", "phone", doorOf("brd_1", 1)) }, true},
		"refused":            {func(h *builder) { h.press(409, string(vocab.NotStarted)) }, false},
	} {
		h := oneBoard()
		h.register(1)
		h.last(history.Call, func(e *history.Event) { e.At = h.customerPermit(1, false).StartsAt - betweenMs }) // a press comes betweenMs later
		h.at = h.customerPermit(1, false).StartsAt - betweenMs
		tc.use(h)
		h.last(history.Call, func(e *history.Event) { e.At += 3 }) // the clock runs
		if got := perm1(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: got %s, lacks %q; want PASS, tried %t", name, got, got.Untried, tc.want)
		}
	}
}

// TestOneWayIn: links alone say something of the shared decision (ENT-3) once they were both followed and refused.
func TestOneWayIn(t *testing.T) {
	t.Parallel()
	h := oneBoard()
	h.register(1)
	for _, tc := range []struct {
		press int
		want  bool
	}{{200, false}, {409, true}} {
		rule := ""
		if tc.press == 409 {
			rule = string(vocab.Expired)
			h.at = h.customerPermit(1, false).EndsAt
		}
		h.press(tc.press, rule)
		if got := ent3(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
			t.Errorf("after a press answered %d: got %s, lacks %q; want PASS, tried %t", tc.press, got, got.Untried, tc.want)
		}
	}
}

// TestStrangeClock: a server drops records with a time more than an hour ahead or 30 days behind. One that is missing for
// that is no breach.
func TestStrangeClock(t *testing.T) {
	t.Parallel()
	for off, bad := range map[int64]bool{0: true, aheadMs: true, aheadMs + 1: false, -behindMs: true, -behindMs - 1: false} {
		h := oneBoard()
		for range 2 {
			h.present("brd_1", "eve", vocab.Denied, vocab.NoValidGrant, "")
		}
		h.events = slices.DeleteFunc(h.events, func(e history.Event) bool { return e.Kind == history.RecordIn && e.RecordSeq == 1 })
		for i := range h.events {
			if e := &h.events[i]; e.Kind == history.Presented && e.RecordSeq == 1 && off != 0 {
				e.BoardAt = e.At + off
			}
		}
		if got := ent4(NewView(h.events)); (got.Status == Fail) != bad {
			t.Errorf("the clock is off by %d ms: got %s, want a breach: %t", off, got, bad)
		}
	}
}
