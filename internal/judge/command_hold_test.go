package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// request is one under a key and its answer; one with an outcome is cmd_1's.
func request(at int64, meaning string, answer history.Event) []history.Event {
	e := history.Event{Kind: history.Attempt, At: t0 + at, Key: "k", PlaceID: "plc_1", DoorID: "dor_1", Meaning: meaning}
	answer.Kind, answer.At, answer.Key, answer.PlaceID, answer.DoorID, answer.Meaning = history.Answer, e.At, e.Key, e.PlaceID, e.DoorID, meaning
	if answer.Outcome != "" && answer.CommandID == "" {
		answer.CommandID = "cmd_1"
	}
	return []history.Event{e, answer}
}

// held is a hold of dor_1 by cmd_1 that ends by itself.
func held(at, ends int64) []history.Event {
	e := history.Event{Kind: history.Actuation, PlaceID: "plc_1", DoorID: "dor_1", BoardID: "brd_1", Channel: 1, Boot: 1}
	begin, end := e, e
	begin.At, begin.Action, begin.Cause, begin.CommandID = t0+at, "hold", "command", "cmd_1"
	end.At, end.Action, end.Cause = t0+ends, "lock", "hold_end"
	sent := history.Event{Kind: history.Publish, At: t0 + at, PlaceID: "plc_1", DoorID: "dor_1", BoardID: "brd_1", CommandID: "cmd_1", Key: "k", Op: "hold"}
	return []history.Event{sent, begin, end}
}

var (
	holdDoor     = history.Event{Kind: history.Door, At: t0, PlaceID: "plc_1", BoardID: "brd_1", DoorID: "dor_1", Channel: 1}
	reportedHold = history.Event{Status: 200, Outcome: vocab.Reported}
)

// TestMinutesOfAHold: a hold lasts as long as the request asked for that was carried out, whatever else was sent under
// its key.
func TestMinutesOfAHold(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	long, short := meaningOf("dor_1", "hold", 20), meaningOf("dor_1", "hold", 5)
	lost := func(meaning string) []history.Event { return request(0, meaning, reportedHold)[:1] }
	for name, first := range map[string][]history.Event{
		"nothing":              nil,
		"a refusal":            request(0, long, history.Event{Status: 400, Code: "invalid_field"}),
		"a full disk":          request(0, long, history.Event{Status: 503, Code: codeStorage}),
		"the loser of a race":  request(0, long, history.Event{Status: 409, Code: codeReused}),
		"a hold 31 days ago":   request(-31*24*60*minute, long, history.Event{Status: 409, Outcome: vocab.Offline, CommandID: "cmd_0"}),
		"the same, refused":    request(0, short, history.Event{Status: 503, Code: codeStorage}),
		"another door's":       request(0, meaningOf("dor_2", "hold", 20), history.Event{Status: 404, Code: "device_not_found"}),
		"an opening, unheard":  request(0, meaningOf("dor_1", "open", 0), reportedHold)[:1],
		"the same, unanswered": lost(short),
	} {
		for ends, want := range map[int64]bool{5 * minute: false, 20 * minute: true} {
			events := append([]history.Event{holdDoor}, first...)
			events = append(events, request(0, short, reportedHold)...)
			if got := cmd7(NewView(append(events, held(0, ends)...))).FirstBad != nil; got != want {
				t.Errorf("%s before a hold of 5 minutes that ends after %d: a breach: %v, want %v", name, ends/minute, got, want)
			}
		}
	}
	for name, c := range map[string]struct {
		others []history.Event
		want   bool
	}{
		"requests that agree": {lost(short), true},
		"ones that don't":     {lost(long), false},
		"an opening":          {lost(meaningOf("dor_1", "open", 0)), true},
	} {
		events := append([]history.Event{holdDoor}, append(c.others, lost(short)...)...)
		if got := cmd7(NewView(append(events, held(0, minute)...))).FirstBad != nil; got != c.want {
			t.Errorf("%s, none answered, and a hold of a minute: a breach: %v, want %v", name, got, c.want)
		}
	}
}

// TestHoldsNotedLate: on a busy machine a hold's line is noted after its timer has started, and its end after it was due.
func TestHoldsNotedLate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends, beganLate, endedLate int64
		early, late                bool
	}{
		"in time":                        {300_000, 0, 0, false, false},
		"noted late":                     {298_800, 1200, 0, false, false},
		"ended late":                     {301_200, 0, 1200, false, false},
		"both":                           {300_000, 1200, 1200, false, false},
		"noted late, too long":           {300_000, 1200, 0, false, true},
		"ended late, too short":          {300_000, 0, 1200, true, false},
		"noted late by all that it took": {299_000, 20_000, 0, false, true},
	} {
		events := held(0, c.ends)
		events[1].LateMs, events[2].LateMs = c.beganLate, c.endedLate
		events = append(append([]history.Event{holdDoor}, request(0, meaningOf("dor_1", "hold", 5), reportedHold)...), events...)
		if got := cmd7(NewView(events)).FirstBad != nil; got != (c.early || c.late) {
			t.Errorf("a hold of 5 minutes, %s: a breach: %v, want %v", name, got, c.early || c.late)
		}
		last := &events[len(events)-1]
		last.Cause, last.CommandID = "command", "cmd_2"
		if got := cmd7(NewView(events)).FirstBad != nil; got != c.late {
			t.Errorf("a hold of 5 minutes, %s, but by a command: a breach: %v, want %v", name, got, c.late)
		}
	}
}

// TestRefusedSimulationExplainsNothing: a request that was refused asks nothing of the command that a later one under its
// key gives.
func TestRefusedSimulationExplainsNothing(t *testing.T) {
	t.Parallel()
	sim := `dor_1 open 0 "sim:noResponse"`
	refused := request(0, sim, history.Event{Status: 503, Code: codeStorage})
	silent := history.Event{Status: 504, Outcome: vocab.NoResponse}
	for meaning, want := range map[string]bool{meaningOf("dor_1", "open", 0): false, sim: true} {
		v := NewView(append(slices.Clone(refused), request(1, meaning, silent)...))
		if c := v.commands["cmd_1"]; c.simulated(v, "") != want {
			t.Errorf("%s: simulated %v, want %v", meaning, !want, want)
		}
	}
}

// TestHoldSeenInItsLastMinute: who looks at a hold of an hour after five minutes hasn't seen how long it lasts.
func TestHoldSeenInItsLastMinute(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	for name, tc := range map[string]struct {
		minutes int
		after   int64
		close   bool
		want    bool
	}{
		"an hour, after 5 minutes":        {60, 5 * minute, false, false},
		"an hour, in its last minute":     {60, 59*minute + 1000, false, true},
		"an hour, closed after 5 minutes": {60, 5 * minute, true, true},
		"a minute":                        {1, minute - 1000, false, false},
		"two minutes, in the second":      {2, minute + 1000, false, true},
		"without an end, after a minute":  {0, minute + 1000, false, true},
	} {
		h := oneBoard()
		h.minutes = tc.minutes
		h.command("brd_1", "k-held", "hold", vocab.Reported, true, 0)
		h.pass(tc.after)
		h.did("plc_a", "GET", "/device/v1/devices/{id}", 200, history.CallText{}, nil)
		if tc.close {
			h.command("brd_1", "k-end", "close", vocab.Reported, true, 0)
		}
		if got := cmd7(NewView(h.events)); got.Status != Pass || (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: got %s, lacks %q; want PASS, tried %t", name, got, got.Untried, tc.want)
		}
	}
}

// TestHoldsNobodySawEnd: the deviation of the ends is told only if an end was seen.
func TestHoldsNobodySawEnd(t *testing.T) {
	t.Parallel()
	asked := append([]history.Event{holdDoor}, request(0, meaningOf("dor_1", "hold", 5), reportedHold)...)
	closed := held(0, 60_000)
	closed[2].Cause, closed[2].CommandID = "command", "cmd_2"
	for want, events := range map[string][]history.Event{
		"1 hold: 0 ran out, 0 ended by a command, 1 replaced, cut off or still held": held(0, 0)[:2],
		"1 hold: 0 ran out, 1 ended by a command":                                    closed,
		"1 hold: 1 ran out, at most 0.00 s off, 0 ended by a command":                held(0, 300_000),
	} {
		if got := plain(cmd7(NewView(append(slices.Clone(asked), events...))).Number); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestLockedHoldsDontEnd: what a command has locked doesn't end by itself later, unless it was held again since then.
func TestLockedHoldsDontEnd(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	lock := history.Event{Kind: history.Actuation, At: t0 + minute, PlaceID: "plc_1", DoorID: "dor_1", BoardID: "brd_1", Channel: 1, Boot: 1, Action: "lock", Cause: "command", CommandID: "cmd_2"}
	again := held(2*minute, 5*minute)
	wiped := history.Event{Kind: history.Wiped, At: t0 + 2*minute, BoardID: "brd_1"}
	first, end := held(0, 5*minute)[:2], again[2:]
	for name, c := range map[string]struct {
		between []history.Event
		want    bool
	}{
		"locked":                    {[]history.Event{lock}, true},
		"locked and held again":     {append([]history.Event{lock}, again[:2]...), false},
		"locked, and wiped":         {[]history.Event{lock, wiped}, false},
		"never locked by a command": {nil, false},
	} {
		events := append([]history.Event{holdDoor}, first...)
		events = append(append(events, c.between...), end...)
		if got := cmd7(NewView(events)).FirstBad != nil; got != c.want {
			t.Errorf("%s, and the hold ended by itself: a breach: %v, want %v", name, got, c.want)
		}
	}
}
