package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestTimeOf: only a time and nothing else is read as one.
func TestTimeOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"36 h": 36 * time.Hour, "36 h + 1 ms": 36*time.Hour + time.Millisecond, "900 s - 1 ms": 900*time.Second - time.Millisecond, "48h1ms": 48*time.Hour + time.Millisecond,
		"10 min": 10 * time.Minute, "10 m": 10 * time.Minute, "59.999 s": 59999 * time.Millisecond, "2 d": 48 * time.Hour,
		"36 hours": 36 * time.Hour, "5 minutes - 1 second": 299 * time.Second, "1 day": 24 * time.Hour, "90 sec": 90 * time.Second, "90 secs": 90 * time.Second, "36 hrs - 5 secs": 36*time.Hour - 5*time.Second, "5 mins": 5 * time.Minute, "36hours1ms": 36*time.Hour + time.Millisecond,
		"35 h + 35 h": 0, "31st": 0, "60 a minute": 0, "graceSec": 0, "36 h on a fast clock": 0, "10 minutes ahead": 0, "0 s": 0, "": 0, "days=7": 0,
	} {
		if got, ok := timeOf(text); got != want || ok != (want > 0) {
			t.Errorf("%q: got %s, %t; want %s", text, got, ok, want)
		}
	}
}

// TestBoundaryReached: a boundary that is a time has to lie that far behind something that the file did.
func TestBoundaryReached(t *testing.T) {
	t.Parallel()
	steps := func(after, boundary, clause string) string {
		return `{mark: cut}, {clock: {advance: ` + after + `}}, {present: {phone: "01011112222", door: "\"dor_1\"", result: denied, reason: outage_limit}, boundary: ` + boundary + `, clauses: [` + clause + `]}`
	}
	const gone = `{present: {phone: "01011113333", door: "\"dor_1\"", result: denied, reason: revoked}, boundary: 5 min, clauses: [SYNC-2]}`
	for step, bad := range map[string]bool{
		steps("36h", "36 h", "OFF-2"):                                               false,
		steps("36h", "36 h + 1 ms", "OFF-2"):                                        false,
		steps("300h", "36 h + 1 ms", "OFF-2"):                                       true,
		steps("20h", "36 h", "OFF-2"):                                               true,
		steps("50h", "36 hours", "OFF-2"):                                           true,
		steps("36h", "36 hours", "OFF-2"):                                           false,
		steps("300h", "long after 36 h", "OFF-2"):                                   false,
		steps("300h", "36 h", "ENT-4"):                                              false,
		steps("300h", "5 s", "OFF-2"):                                               false,
		steps("10h", "30 h", "OFF-2"):                                               true,
		`{mark: cut}, {clock: {advance: 3h}}, ` + gone:                              true,
		`{mark: cut}, {clock: {advance: 5m}}, ` + gone:                              false,
		`{boards: {of: "\"brd_1\"", all: online}, boundary: 1 h, clauses: [OFF-4]}`: false,
		`{mark: cut}, {clock: {advance: 3h}}, {boards: {of: "\"brd_1\"", all: outageAgeSec == 0}, boundary: 1 h, clauses: [OFF-2]}`:          true,
		`{command: {door: "\"dor_1\"", key: k}}, {command: {door: "\"dor_1\"", key: k}, expect: replayed, boundary: 29 d, clauses: [CMD-5]}`: true,
		`{call: {path: /core/v1/auth/apikey/token, body: {key: k}, status: 200}, boundary: 60 s, clauses: [AUTH-3]}`:                         true,
		`{clock: {advance: 20h}}, ` + steps("10h", "30 h", "OFF-2"):                                                                          false,
	} {
		f := newFake(t)
		f.reasons = map[string]string{"01011112222": "outage_limit", "01011113333": "revoked"}
		res, out := play(t, f, "steps: [{clock: freeze}, {call: {path: /echo}, expect: data.n == 3}, "+step+"]", Options{})
		if got := res.Files[0]; strings.Contains(got.Reason, "nothing was marked and no step began that long before") != bad || bad && got.Status != judge.Invalid {
			t.Errorf("%s: got %s %q, want it refused: %t\n%s", step, got.Status, got.Reason, bad, out)
		}
	}
}

// TestBoundaryAsked: a permit that is to show how long permits may be has to be as long as its boundary says.
func TestBoundaryAsked(t *testing.T) {
	t.Parallel()
	for step, bad := range map[string]bool{
		`{permit: {person: ann, place: "\"plc_1\"", from: now, to: +48h1ms, status: 200}, boundary: 48 h + 1 ms, clauses: [PERM-5]}`: false,
		`{permit: {person: ann, place: "\"plc_1\"", from: now, to: +100h, status: 200}, boundary: 48 h, clauses: [PERM-5]}`:          true,
		`{permit: {person: ann, place: "\"plc_1\"", from: now, to: +100h, status: 200}, boundary: long, clauses: [PERM-5]}`:          false,
		`{permit: {person: ann, place: "\"plc_1\"", from: now, to: +100h, status: 200}, boundary: 24 h, clauses: [PERM-3]}`:          false,
	} {
		res, out := play(t, newFake(t), "steps: [{call: {path: /echo}, expect: data.n == 3}, "+step+"]", Options{})
		if got := res.Files[0]; strings.Contains(got.Reason, "but the permit that it asks for lasts") != bad {
			t.Errorf("%s: got %s %q, want it refused: %t\n%s", step, got.Status, got.Reason, bad, out)
		}
	}
}
