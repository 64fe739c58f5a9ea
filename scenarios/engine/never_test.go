package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestNeverCharges: a clause of an expectation that must stay false holds while it does, and is broken when it comes true.
func TestNeverCharges(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]judge.Status{
		"data.n == 7":                judge.Pass,
		"data.n == 3":                judge.Fail,
		"data.n == missing.n":        judge.Blocked, // and proves nothing
		"data.n == 7 and status > 0": judge.Pass,
	} {
		res, out := play(t, newFake(t), `steps: [{set: {missing: {}}}, {call: {path: /echo}, clauses: [LEG-1], expect: [{that: '`+expect+`', clauses: [PERM-1]}], never: 30ms}]`, Options{})
		step := res.Files[0].Steps[1]
		if len(step.Charges) != 1 || step.Status != want || step.Charges[0].Status != want || step.Rest.Status != "" {
			t.Errorf("%s: got %s, charges %+v, rest %+v; want %s for the step and its one charge\n%s", expect, step.Status, step.Charges, step.Rest, want, out)
		}
	}
}

// TestNeverRequires: what stays false counts only if what the run requires is there, at the last try at the latest.
func TestNeverRequires(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from   int // reads of the boards after which the board is online
		step   string
		want   judge.Status
		reason string
	}{
		"never there": {9, "never: 50ms", judge.Invalid, "require: expected "},
		"there later": {2, "never: 5s", judge.Pass, ""},
		"comes true":  {2, "never: 60s", judge.Fail, "came true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			since := 0
			f.online = func(int) bool {
				if slices.Contains(f.calls, "GET /echo") {
					since++
				}
				return since == 0 || since > c.from
			}
			expect := "count == 7"
			if c.want == judge.Fail {
				expect = "count == 1"
			}
			res, out := play(t, f, `steps: [{call: {path: /echo}}, {boards: {}, expect: `+expect+`, require: "any(boards, .online)", `+c.step+`}]`, Options{})
			if got := res.Files[0]; got.Status != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", got.Status, got.Reason, c.want, c.reason, out)
			}
		})
	}
}

// TestNeverBesideAll: never waits for its expectation, and not for the condition all, which must hold all the time.
func TestNeverBesideAll(t *testing.T) {
	t.Parallel()
	for all, want := range map[string]judge.Status{
		`cause == "command"`:             judge.Pass,
		`cause == "onsite"`:              judge.Fail,
		`boot > 0 or boot <= 0`:          judge.Invalid,
		`cause != "onsite" or boot <= 0`: judge.Pass,
		`cause.x == "x"`:                 judge.Blocked, // it can't be evaluated
	} {
		f := newFake(t)
		f.lines = []m{{"action": "pulse", "cause": "command", "boot": 1}}
		ends(t, f, `steps: [{journal: {of: "\"brd_1\"", all: '`+all+`'}, expect: count > 7, never: 30ms}]`, want, "")
	}
}
