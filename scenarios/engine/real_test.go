package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// TestToldBoards: a board that somebody else tells what to do doesn't keep a file from starting, and belongs to no cohort.
func TestToldBoards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		want   judge.Status
		reason string
	}{
		"left out":        {`steps: [{cohort: {name: c}}, {call: {path: /echo}, expect: 'c.boards == ["brd_1"] and data.n == 3'}]`, judge.Pass, ""},
		"no real one":     {`steps: [{cohort: {name: c, real: true}}, {call: {path: /echo}}]`, judge.Skipped, "needs a real board"},
		"not enough":      {`{needs: {boards: 2}, steps: [{call: {path: /echo}, expect: data.n == 3}]}`, judge.Skipped, "needs 2 live boards, but the target has 1"},
		"synced if named": {`steps: [{synced: {}}, {synced: {of: '"brd_t"'}, within: 50ms}]`, judge.Fail, "1 of 1 boards are not synchronized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.told = true
			ends(t, f, c.source, c.want, c.reason)
		})
	}
}

// TestStaleRevision: a board isn't synchronized as long as its server doesn't say which revision it should have.
func TestStaleRevision(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.stale = true
	ends(t, f, `steps: [{synced: {of: '"brd_s"'}, within: 50ms}]`, judge.Fail, "for example brd_s: the server doesn't say which revision it should have")
}

// TestRealBoards: a detached board that hasn't been replaced yet doesn't keep a file from starting, and belongs to no
// cohort except that of the real boards.
func TestRealBoards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		real   bool
		steps  string
		want   judge.Status
		reason string
	}{
		"left out":            {true, `{cohort: {name: c}}, {call: {path: /echo}, expect: 'c.boards == ["brd_1"] and data.n == 3'}`, judge.Pass, ""},
		"asked for":           {true, `{cohort: {name: c, real: true}}, {call: {path: /echo}, expect: 'c.boards == ["brd_r"] and c.door == "dor_r" and data.n == 3'}`, judge.Pass, ""},
		"not there":           {false, `{cohort: {name: c, real: true}}, {call: {path: /echo}}`, judge.Skipped, "needs a real board"},
		"no part of all":      {true, `{boards: {all: 'boardId != "brd_r"'}}`, judge.Pass, ""},
		"named":               {true, `{boards: {of: '"brd_r"', all: not online}}`, judge.Pass, ""},
		"synced only if told": {true, `{synced: {}}, {synced: {of: '"brd_r"'}, within: 50ms}`, judge.Fail, "1 of 1 boards are not synchronized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.real = c.real
			ends(t, f, "steps: ["+c.steps+"]", c.want, c.reason)
		})
	}
}

// TestBoardBehind: a decision that is unexpected because the board lacks a change says so, and the report shows the
// presentation as the last request.
func TestBoardBehind(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[int]string{0: "reason no_valid_grant\n", 2: "reason no_valid_grant; the board has revision 1, the server has 3 (synced waits"} {
		f := newFake(t)
		f.ahead = ahead
		res, out := play(t, f, `
steps:
  - present: {phone: "01012345678", door: dor_1, result: opened}
`, Options{})
		if got := res.Files[0].Reason + "\n"; !strings.Contains(got, want) {
			t.Errorf("%d revisions behind: got %q, want %q in it\n%s", ahead, got, want, out)
		}
		made := res.Files[0].Steps[0].Exchanges
		if n := len(made); n == 0 || !strings.HasSuffix(made[n-1].URL, "/people/present") {
			t.Errorf("%d revisions behind: the step shows %+v, want the presentation last", ahead, made)
		}
	}
}

// TestOutageTooOld: a denial after 36 h that is unexpected says by how much the outage was too old, and what to do about it if
// that was a matter of the running clock; with a lost clock there is no age.
func TestOutageTooOld(t *testing.T) {
	t.Parallel()
	const longer = " longer than the 36 h for which boards decide on their own"
	for name, c := range map[string]struct {
		age    float64
		before string // a step
		want   string
	}{
		"on a running clock": {129600.361, "", "reason outage_limit; the outage had lasted 361 ms" + longer + " (freeze the clock before the cut to reach an exact age)\n"},
		"on a frozen clock":  {129600.001, "clock: freeze", "reason outage_limit; the outage had lasted 1 ms" + longer + "\n"},
		"an hour later":      {133200, "", "reason outage_limit; the outage had lasted 1 h" + longer + "\n"},
		"after a lost clock": {-1, "", "reason outage_limit\n"},
	} {
		f := newFake(t)
		f.reasons = map[string]string{"01012345678": "outage_limit"}
		f.lines = []m{{"action": "deny", "outageAgeSec": c.age}}
		steps := "steps:\n"
		if c.before != "" {
			steps += "  - " + c.before + "\n"
		}
		res, out := play(t, f, steps+"  - present: {phone: \"01012345678\", door: dor_1, result: opened}", Options{})
		if got := res.Files[0].Reason + "\n"; !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q in it\n%s", name, got, c.want, out)
		}
	}
}

// TestControlCharacters: what a file or an answer brings does nothing to a terminal.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	res, out := play(t, newFake(t), `
name: "red \e[31m"
steps:
  - name: "bell \a, delete \x7f, C1 \x9b, line\nand tab\t."
    call: {path: /nowhere}
`, Options{Verbose: true})
	if text := out + res.Files[0].Name + res.Files[0].Steps[0].Name; strings.ContainsAny(text, "\x07\x1b\x7f\u009b") {
		t.Errorf("got %q, want no control characters but line ends and tabs", text)
	}
	if got, want := res.Files[0].Steps[0].Name, "bell ␇, delete ␡, C1 \ufffd, line\nand tab\t."; got != want {
		t.Errorf("got the name %q, want %q", got, want)
	}
}

// TestMissedJump: a refusal of an old token has the time after the jump that made it old, not what the run took for the
// time before.
func TestMissedJump(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var at, sent int64
	res, out := play(t, f, `
steps:
  - call: {path: /old, token: stale, status: 401, error: token_expired}
`, Options{Sink: func(e history.Event) {
		var c history.CallText
		if e.Kind == history.Call && e.Status == 401 && json.Unmarshal([]byte(e.Text), &c) == nil {
			at, sent = e.At, c.SentAt
		}
	}})
	// Between two looks at the target's clock, which the fake stops, time is that of this process.
	if took := time.Duration(at-sent) * time.Millisecond; took.Round(time.Minute) != 20*time.Minute {
		t.Errorf("sent at %d, answered %s later, want 20 minutes (%s)\n%s", sent, took, res.Status, out)
	}
}
