package engine

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/loadtest"
)

func parse(t *testing.T, source string) *File {
	t.Helper()
	return must.Get(Parse("one.yaml", []byte(source)))(t)
}

// play runs one file and returns its result and progress lines.
func play(t *testing.T, f *fake, source string, opt Options) (Result, string) {
	t.Helper()
	return playOn(t, f.target(), source, opt)
}

func playOn(t *testing.T, target Target, source string, opt Options) (Result, string) {
	t.Helper()
	var out bytes.Buffer
	opt.Progress = &out
	res := must.Get(Run(t.Context(), target, []*File{parse(t, source)}, opt))(t)
	return res, out.String()
}

// ends plays one file and compares its status, and the part of its reason that is given.
func ends(t *testing.T, f *fake, source string, want judge.Status, reason string) {
	t.Helper()
	res, out := play(t, f, source, Options{})
	if got := res.Files[0]; got.Status != want || !strings.Contains(got.Reason, reason) {
		t.Errorf("%s: got %s %q, want %s %q\n%s", source, got.Status, got.Reason, want, reason, out)
	}
}

// If an answer doesn't match the target's published document, the step that got it fails.
func TestAnswersAreHeldAgainstTheDocuments(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]judge.Status{"integer": judge.Pass, "string": judge.Fail} {
		f := newFake(t)
		f.docs = `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/echo":{"get":{"responses":{"200":{"description":"",
			"content":{"application/json":{"schema":{"properties":{"data":{"properties":{"n":{"type":"` + number + `"}}}}}}}}}}}}}`
		res, out := play(t, f, `steps: [{call: {path: /echo}}]`, Options{})
		if res.Status != want || (want == judge.Fail) != strings.Contains(out, "doesn't match the target's OpenAPI document: GET /echo was answered with 200") {
			t.Errorf("%s: got %s, want %s, with the breach of the contract if it is FAIL\n%s", number, res.Status, want, out)
		}
	}
}

// TestVerdicts: what happens decides between PASS, FAIL, BLOCKED, SKIPPED and INVALID.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	load := func(v string, rate float64) Loader {
		return func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error) {
			return loadtest.Result{Verdict: v, Reasons: []string{"because"}, SentRate: rate, Sent: 10}, nil
		}
	}
	for name, c := range map[string]struct {
		source string
		loader Loader
		want   judge.Status
		reason string
		exit   int
	}{
		"pass":            {`steps: [{set: {a: 200}}, {call: {path: /echo}, expect: status == a}]`, nil, judge.Pass, "", 0},
		"fail":            {`steps: [{set: {a: 1}}, {expect: a == 2, clauses: [CMD-1]}]`, nil, judge.Fail, "expected a == 2\nfound a = 1", 4},
		"set-up fails":    {`{setup: [{call: {path: /nowhere}, clauses: [CMD-1]}], steps: [{expect: 1 == 1}]}`, nil, judge.Blocked, "set-up: one.yaml:1: call GET /nowhere: expected a success, found 404", 4},
		"a failure read":  {`steps: [{call: {path: /nowhere}, expect: "1 == 1 or headers == 2"}]`, nil, judge.Fail, "expected a success, found 404", 4},
		"a status said":   {`steps: [{call: {path: /nowhere}, expect: status == 404}]`, nil, judge.Pass, "", 0},
		"cannot go on":    {`steps: [{clear: "${file}"}]`, nil, judge.Blocked, "no fault called one is armed", 4},
		"too few boards":  {`steps: [{cohort: {name: a, boards: 5, atLeast: 5}}]`, nil, judge.Blocked, "only 1 board for cohort a, which needs 5; --boards or a --world file gives the testbed more", 4},
		"target lacks it": {`{needs: {boards: 2}, steps: [{expect: 1 == 1}]}`, nil, judge.Skipped, "needs 2 live boards, but the target has 1", 6},
		"no test place":   {`{needs: {test: true}, steps: [{expect: 1 == 1}]}`, nil, judge.Skipped, "needs a test place", 6},
		"does not count":  {`steps: [{set: {hits: 0}, require: hits > 0}]`, nil, judge.Invalid, "require: expected hits > 0", 6},
		"load too slow":   {`steps: [{load: {rate: 300/s, duration: 1s, minRate: 300}}]`, load(loadtest.Pass, 120), judge.Invalid, "only 120.0 commands/s were sent; the run needs 300", 6},
		"load invalid":    {`steps: [{load: {rate: 300/s, duration: 1s}}]`, load(loadtest.Invalid, 300), judge.Invalid, "load: because", 6},
		"load fails":      {`steps: [{load: {rate: 300/s, duration: 1s}}]`, load(loadtest.Fail, 300), judge.Fail, "load: because", 4},
		"load passes":     {`steps: [{load: {rate: 300/s, duration: 1s, minRate: 300, thresholds: {errors: 0}}}]`, load(loadtest.Pass, 300), judge.Pass, "", 0},
		"load counts":     {`steps: [{load: {rate: 300/s, duration: 1s, minRate: 300}, expect: sent == 10}]`, load(loadtest.Pass, 300), judge.Invalid, "nothing was checked", 6},
		"background":      {`steps: [{expect: 1 == 2, background: b}, {wait: b}]`, nil, judge.Fail, "expected 1 == 2", 4},
		"left behind":     {`steps: [{expect: 1 == 2, background: b}]`, nil, judge.Fail, "expected 1 == 2", 4},
		"goes on":         {`steps: [{expect: 1 == 2, continue: true}, {set: {a: 1}}]`, nil, judge.Fail, "expected 1 == 2", 4},
		"if":              {`steps: [{set: {a: 1}}, {call: {path: /echo}}, {expect: a == 2, if: a == 2}]`, nil, judge.Pass, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), c.source, Options{Loader: c.loader})
			got := res.Files[0]
			if got.Status != c.want || !strings.Contains(got.Reason, c.reason) || res.ExitCode() != c.exit {
				t.Errorf("got %s exit %d: %s, want %s, %d and %q in it\n%s", got.Status, res.ExitCode(), got.Reason, c.want, c.exit, c.reason, out)
			}
			for _, r := range res.Ledger {
				if r.Clause == "CMD-1" && r.Status == judge.Fail && c.want == judge.Blocked {
					t.Errorf("a failed set-up breaks %s, want no clause charged", r.Clause)
				}
			}
		})
	}
}

// TestRepeats: any request can be repeated, and every answer is checked against the expectations.
func TestRepeats(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	res, out := play(t, f, `
setup:
  - cohort: {name: one, boards: 1}
steps:
  - call: {path: /echo, times: 2, together: 3}
    expect: 'same and len(answers) == 6 and count(statuses, # == 200) == 6 and data.n == 3'
  - permit: {person: ann, place: one, together: 5}
    expect: same and len(answers) == 5 and ann.permitId == "pmt_1"
  - call: {path: /nowhere, times: 2, status: 200}
    continue: true
`, Options{})
	if got := res.Files[0].Reason; f.asked("/echo") != 6 || f.asked("/entry-permits") != 5 || f.asked("/nowhere") != 2 || !strings.Contains(got, "expected status 200, found 404") {
		t.Fatalf("got %q after %d, %d and %d requests, want a 404 after 6, 5 and 2\n%s", got, f.asked("/echo"), f.asked("/entry-permits"), f.asked("/nowhere"), out)
	}
}

// TestCommandsAndCaptures: keys are unique to the file, answers are compared, and parts can be named.
func TestCommandsAndCaptures(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	res, out := play(t, f, `
setup:
  - cohort: {name: one, boards: 1}
steps:
  - command: {door: one, key: a, times: 3, outcome: reported}
    expect: 'same and fresh == 1 and count(statuses, # == 200) == 3'
    capture: {first: data.commandId}
  - command: {door: "one.doors[1]", key: b, together: 4}
    expect: data.commandId != first
  - command: {door: one, key: a}
    expect: replayed and data.commandId == first
  - name: rows
    cases: [{door: "${one.doors[0]}", n: 1}, {door: "${one.doors[1]}", n: 2}]
    command: {door: "${row.door}", key: "k${n}", outcome: reported}
    clauses: [CMD-1]
    boundary: "${n} of 2"
`, Options{})
	if res.Files[0].Status != judge.Pass {
		t.Fatalf("%s, want %s:\n%s", res.Files[0].Status, judge.Pass, out)
	}
	attempts, keys := 0, map[string]bool{}
	for _, e := range res.Events {
		if e.Kind == history.Attempt {
			attempts++
			keys[e.Key] = true
		}
	}
	if attempts != 10 || len(keys) != 4 {
		t.Errorf("got %d attempts with %d keys, want 10 and 4", attempts, len(keys))
	}
	rows := res.Files[0].Steps[4].Children
	if len(rows) != 2 || rows[1].Boundary != "2 of 2" || !strings.Contains(rows[1].Name, "n=2") {
		t.Errorf(`got rows %+v, want two, the last \"2 of 2\" with n=2 in its name`, rows)
	}
	for _, r := range res.Ledger {
		if r.Clause == "CMD-1" && len(r.Assertions) != 2 {
			t.Errorf("CMD-1 has %d assertions, want 2", len(r.Assertions))
		}
	}
}

// TestUntil: within and eventually retry; never waits to see that something doesn't happen.
func TestUntil(t *testing.T) {
	t.Parallel()
	third := func(n int) bool { return n == 1 || n == 2 || n >= 6 } // holds briefly, fails, then holds for good
	for name, c := range map[string]struct {
		step string
		want judge.Status
	}{
		"eventually":    {`{boards: {}, expect: first.online, eventually: true}`, judge.Pass},
		"within":        {`{boards: {all: online}, within: 10s}`, judge.Pass},
		"not in time":   {`{boards: {}, expect: first.boardId == "brd_2", within: 50ms}`, judge.Fail},
		"never":         {`{boards: {}, expect: first.boardId == "brd_2", never: 50ms}`, judge.Pass},
		"came true":     {`{boards: {}, expect: first.online, never: 10s}`, judge.Fail},
		"required":      {`{boards: {}, require: first.online, within: 10s}, {boards: {}, expect: first.boardId == "brd_1"}`, judge.Pass},
		"required late": {`{boards: {}, require: first.boardId == "brd_2", within: 50ms}`, judge.Invalid},
		"group, within": {`{group: [{boards: {all: online}}], within: 10s}`, judge.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.online = third
			res, out := play(t, f, "steps: ["+c.step+"]", Options{})
			if res.Files[0].Status != c.want {
				t.Errorf("got %s, want %s\n%s", res.Files[0].Status, c.want, out)
			}
			if retried := regexp.MustCompile(`still so after \d+\.\d s \(\d+ tries\)`).MatchString(out); retried != (name == "not in time") {
				t.Errorf("retried is said: %v\n%s", retried, out)
			}
		})
	}
}

// TestTime: labels and jumps use domain time, to the millisecond. Afterwards the lab's clock runs and no faults are
// armed.
func TestTime(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	res, out := play(t, f, `
steps:
  - clock: freeze
  - mark: cut
  - fault: {fault: offline, of: "\"brd_1\""}
  - clock: {to: cut+36h-1ms}
    expect: now == at("cut+36h-1ms") and state == "frozen"
  - clock: {advance: 1ms}
    expect: now == "2026-03-02T21:00:00.000Z"
  - clock: {to: cut+36h}
  - clear: offline
    expect: hits == 4
  - call: {path: /echo}
    expect: label("cut+1h") - label("cut") == 3600000 and seconds("36h") == 129600 and data.n == 3
`, Options{})
	if res.Files[0].Status != judge.Pass {
		t.Fatalf("%s, want %s:\n%s", res.Files[0].Status, judge.Pass, out)
	}
	if f.frozen || f.asked("POST /faults/reset") < 2 || f.asked("POST /clock/advance") != 3 { // two of the file, one before judging
		t.Errorf("got frozen %v and calls %v, want a running clock, no faults and 3 jumps", f.frozen, f.calls)
	}
}

// TestNames: an unknown verb or name is reported with its position and the nearest valid one.
func TestNames(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"steps:\n  - comand: {door: one}":     `one.yaml:2:5: unknown key "comand", did you mean "command"?`,
		"steps:\n  - expect: onlin == 1":      `one.yaml:2:13: unknown name "onlin", did you mean "online"?`,
		"steps:\n  - expect: count == null":   `one.yaml:2:22: unknown name "null", write nil`,
		"steps:\n  - wait: crowd":             `one.yaml:2:11: no background step named "crowd" in this file`,
		"steps:\n  - wait: \"\"":              `one.yaml:2:11: no background step named "" in this file`,
		"steps:\n  - wait: 5m":                `one.yaml:2:11: no background step named "5m" in this file; to let time pass, use clock: {advance: 5m}`,
		"steps:\n  - expect: 'a == \"b'":      `one.yaml:2:20: expression: a closing quotation mark is missing`,
		"steps:\n  - expect: a = 1":           `one.yaml:2:15: expression: unexpected "="; to compare, write ==`,
		"steps:\n  - clock: {to: cut+36h}":    `one.yaml:2:17: no mark "cut" in this file; a moment is now, a mark, +48h or an RFC 3339 time`,
		"steps:\n  - clock: freezee":          `one.yaml:2:12: "freezee" is not a valid clock, did you mean "freeze"?`,
		"steps:\n  - clock: 36h":              `one.yaml:2:12: "36h" is not a valid clock, write clock: {advance: 36h}`,
		"steps:\n  - command:\n    door: one": `one.yaml:2:5: a step has one verb, found command and door: what belongs to command must be indented deeper than command`,
		"steps:\n  - {log: a, pause: 1s}":     `one.yaml:2:5: a step has one verb, found pause and log`,
		"steps:\n  - load: {rate: 1, duration: 1s, faults: [{fault: offline, share: 1}]}":                 `one.yaml:2:11: load: faults: only plans for doorlab load can have them; use the verb fault and run the load in the background`,
		"steps:\n  - load: {rate: 1, duration: 1s, fleet: {boards: 5}}":                                   `one.yaml:2:11: load: fleet: only plans for doorlab load can have one; a scenario uses the boards of its world`,
		"steps:\n  - load: {rate: 1, duration: 1s, timeout: 0s}":                                          `one.yaml:2:11: load: timeout: must be longer than 0`,
		"steps:\n  - load: {pacer: ramp, rate: 1, duration: 1s}":                                          `one.yaml:2:11: load: to is needed with pacer: ramp`,
		"steps:\n  - load: {rate: 300/s}":                                                                 `one.yaml:2:11: load: duration is needed with pacer: constant`,
		"steps:\n  - expect: 1 +":                                                                         `one.yaml:2:`,
		"steps:\n  - log: ${uid(\"a\")":                                                                   `one.yaml:2:10: ${ without a closing }`,
		"steps:\n  - log: a\n    clauses: [OFF-9]":                                                        `one.yaml:3:15: no guarantee "OFF-9", did you mean "OFF-1"?`,
		"steps:\n  - command: {door: one, outcome: offlin}":                                               `"offlin" is not a valid outcome, did you mean "offline"?`,
		"steps:\n  - command: {door: one, code: busi}":                                                    `"busi" is not a valid code, did you mean "busy"?`,
		"steps:\n  - phone: {from: \"0101\", result: opend}":                                              `"opend" is not a valid result, did you mean "opened"?`,
		"steps:\n  - phone: {from: \"0101\", reason: onsite}":                                             `"onsite" is not a valid reason, valid: phone free_window`,
		"steps:\n  - present: {door: one, reason: revokd}":                                                `"revokd" is not a valid reason, did you mean "revoked"?`,
		"steps:\n  - present_each: {people: a, doors: one, reason: expird}":                               `"expird" is not a valid reason, did you mean "expired"?`,
		"steps:\n  - log: a\n    log: b":                                                                  `one.yaml:3:5: "log" is given twice`,
		"name: x":                                                                                         `one.yaml:1:1: "steps" is missing`,
		"steps:\n  - never: 1s\n    pause: 1s":                                                            `never needs an expectation`,
		"steps:\n  - cohort: {name: a, bords: 1}":                                                         `unknown key "bords", did you mean "boards"?`,
		"steps:\n  - present: {person: ann, door: nobody.doors}":                                          `unknown name "ann"; define it in a cohort, permit or set step, or write an id`,
		"setup:\n  - permit: {person: ann, place: plc_1}\nsteps:\n  - present: {person: ann, door: shop}": `unknown name "shop"; define it in a cohort, permit or set step, or write an id (this file defines ann)`,
	} {
		_, err := Parse("one.yaml", []byte(source))
		var ps Problems
		if !errors.As(err, &ps) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngot  %v\nwant %s", source, err, want)
		}
	}
}

// TestOneMistakeIsReportedOnce: names that a misspelled step would have defined aren't missing as well, a missing
// name is reported where it is used first, and what only answers have isn't suggested for a reference.
func TestOneMistakeIsReportedOnce(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`
  - cohrt: {name: store, boards: 1}
  - permit: {person: ann, place: store}
  - synced: {of: store}
  - present: {person: ann, door: store, result: opened}`: `one.yaml:2:5: unknown key "cohrt", did you mean "cohort"?`,
		`
  - mrk: cut
  - clock: {to: cut+1h}
  - {log: a, backgrond: later}
  - wait: later`: "one.yaml:2:5: unknown key \"mrk\", did you mean \"mark\"?\none.yaml:4:14: unknown key \"backgrond\", did you mean \"background\"?",
		`
  - mark: {}
  - clock: {to: cut+1h}`: `one.yaml:2:11: "name" is missing`,
		`
  - mark: "cut off"
  - clock: {to: cut+1h}`: `one.yaml:2:11: "cut off" is not a valid name: use only letters, digits and _`,
		`
  - synced: {of: store}
  - boards: {of: store, all: not online}`: `one.yaml:2:18: unknown name "store"; define it in a cohort, permit or set step, or write an id`,
		`
  - cohort: {name: stroe}
  - synced: {of: store}`: `one.yaml:3:18: unknown name "store", did you mean "stroe"?`,
		`
  - synced: {off: store}
  - {boards: {of: one, all: not online}, expect: stauts == 1}`: "one.yaml:2:14: unknown key \"off\", did you mean \"of\"?\none.yaml:3:19: unknown name \"one\"; define it in a cohort, permit or set step, or write an id\none.yaml:3:50: unknown name \"stauts\", did you mean \"status\"?",
	} {
		_, err := Parse("one.yaml", []byte("steps:"+source))
		var ps Problems
		if !errors.As(err, &ps) || ps.Short() != want {
			t.Errorf("%s\ngot  %v\nwant %s", source, err, want)
		}
	}
}
