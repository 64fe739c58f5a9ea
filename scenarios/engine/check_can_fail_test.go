package engine

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestVacuousFiles: a file whose steps couldn't have failed, or whose claim nothing in it tests, never passes.
func TestVacuousFiles(t *testing.T) {
	t.Parallel()
	const claim = "it claims CMD-7, but nothing in it could have failed for that"
	const nothing = "nothing was checked"
	const same = "gives the same result whatever the target answers"
	for name, c := range map[string]struct{ source, reason string }{
		"only a log line":             {`steps: [{log: hello}]`, nothing},
		"only a pause":                {`steps: [{pause: 1ms}]`, nothing},
		"a constant":                  {`steps: [{expect: 1 < 2, clauses: [CMD-7]}]`, same},
		"a name of its own":           {`{vars: {a: 1}, steps: [{set: {b: "${a + 1}"}}, {expect: b == 2, clauses: [CMD-7]}]}`, same},
		"a constant beside an answer": {`steps: [{call: {path: /echo}}, {expect: "1 == 1", clauses: [CMD-7]}]`, same},
		"never fewer than none":       {`steps: [{journal: {of: "\"brd_1\""}, expect: count >= 0, clauses: [CMD-7]}]`, same},
		"a length is never negative":  {`steps: [{call: {path: /echo}}, {journal: {of: "\"brd_1\""}, expect: len(lines) > -1, clauses: [CMD-7]}]`, same},
		"skipped":                     {`steps: [{log: a}, {call: {path: /nowhere}, if: seed == 99, clauses: [CMD-7]}]`, nothing},
		"no rows":                     {`steps: [{cases: [], atLeast: 0, call: {path: /nowhere}}, {log: done}]`, nothing},
		"no rows for a claim":         {`steps: [{call: {path: /echo}, expect: data.n == 3}, {cases: [], atLeast: 0, call: {path: /nowhere}, expect: status == 404, clauses: [CMD-7]}]`, "its table had no rows, so it isn't evidence for CMD-7"},
		"a file's claim":              {`{clauses: [CMD-7], steps: [{call: {path: /echo}}]}`, claim},
		"a set-up proves nothing":     {`{setup: [{call: {path: /echo}}], steps: [{log: done}]}`, nothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), c.source, Options{})
			if got := res.Files[0]; got.Status != judge.Invalid || !strings.Contains(got.Reason, c.reason) || res.ExitCode() != 6 {
				t.Errorf("got %s %q exit %d, want INVALID %q exit 6\n%s", got.Status, got.Reason, res.ExitCode(), c.reason, out)
			}
			for _, r := range res.Ledger {
				if r.Clause == "CMD-7" && r.Status == judge.Pass {
					t.Errorf("the ledger says %s, want no PASS", r)
				}
			}
		})
	}
}

// TestEmptySteps: a step with nothing to do is a mistake in the file.
func TestEmptySteps(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"steps: []":                                                         "steps is empty",
		"steps: [{group: []}]":                                              "group has no steps",
		"steps: [{parallel: []}]":                                           "parallel has no steps",
		"steps: [{call: {path: /echo, times: 0}}]":                          "times must be at least 1",
		"steps: [{call: {path: /echo, together: 0}}]":                       "together must be at least 1",
		"steps: [{command: {door: x, times: 0}}]":                           "times must be at least 1",
		"steps: [{present_each: {people: x, doors: y, most: 0}}]":           "most must be at least 1",
		"steps: [{call: {path: /echo, match: {}}}]":                         "match is empty",
		"steps: [{call: {path: /echo, status: [200, 404, 500]}}]":           "status lists success, refusal and failure",
		"steps: [{call: {path: /echo, status: [200, 400, 401, 404, 429]}}]": "status lists success and 4 refusals",
		"steps: [{call: {path: /echo}, capture: {x: data.n}}]":              "x is captured and never used",
		"steps: [{call: {path: /echo}, never: 1ms, expect: a}]":             "never must last at least 10ms",
		"steps: [{log: x, clauses: [CMD-1]}]":                               "log can't fail",
		"steps: [{pause: 1s, clauses: [CMD-1]}]":                            "pause can't fail",
		"steps: [{call: {path: /echo, status: [200, 502, 504]}}]":           "every answer from a board",
	} {
		problem(t, source, want)
	}
}

// TestCopies: comparing a value with itself under another name proves nothing; comparing it with a value captured
// again later does.
func TestCopies(t *testing.T) {
	t.Parallel()
	const get, again = `{call: {path: /echo}, capture: {a: data}}, `, `{call: {path: /echo}, capture: {a: data}}, `
	playsAs(t, nil, map[string]judge.Status{
		get + `{set: {b: "${a}"}}, {expect: a == b}`:                                                                          judge.Invalid,
		get + `{set: {b: "${a.n}"}}, {set: {c: "${b}"}}, {expect: c == a.n}`:                                                  judge.Invalid,
		get + `{set: {b: "${a}"}}, {expect: b.n == a.n and a.name == b.name}`:                                                 judge.Invalid,
		get + `{set: {b: "${a}"}}, {expect: b.n == a.n and a.n == 3}`:                                                         judge.Pass,
		get + `{set: {b: "${a}"}}, ` + again + `{expect: a == b}`:                                                             judge.Pass,
		get + `{set: {b: "${a}"}}, {group: [{expect: a == b}, {call: {path: /echo}, capture: {a: data}}]}`:                    judge.Invalid,
		get + `{set: {b: "${a}"}}, {cases: [1, 2], group: [{expect: a == b}, {call: {path: /echo}, capture: {a: data}}]}`:     judge.Pass,
		get + `{set: {b: "${a.n + 1}"}}, {expect: b - 1 == a.n}`:                                                              judge.Invalid,
		get + `{set: {b: "${a.n + 1}"}}, {expect: b == 4}`:                                                                    judge.Pass,
		get + `{set: {b: {in: "${[a.n]}"}}}, {expect: "b.in[0] == a.n"}`:                                                      judge.Invalid,
		get + `{cases: [1, 2], group: [{set: {b: "${a.n + row}"}}, {expect: b > a.n}]}`:                                       judge.Invalid,
		get + `{set: {b: "${a.n}"}}, ` + again + `{expect: b <= a.n}`:                                                         judge.Pass,
		`{call: {path: /echo}, capture: {a: data.n, b: data.n * 2}}, {expect: b == a + a}`:                                    judge.Invalid,
		`{call: {path: /echo}, capture: {b: data.n * 2}}, {expect: b == 6}`:                                                   judge.Pass,
		`{call: {path: /echo}, capture: {ok: status == 200 or true}}, {expect: ok}`:                                           judge.Invalid,
		`{call: {path: /echo}, capture: {ok: data.n == 3}}, {expect: ok}`:                                                     judge.Pass,
		`{call: {path: /echo}, capture: {a: json(data)}}, {expect: len(a) > 0}`:                                               judge.Invalid,
		`{journal: {of: "\"brd_1\""}, capture: {a: "map(lines, .doorId + .action)"}}, {expect: "a == []"}`:                    judge.Pass,
		`{call: {path: /echo}, capture: {a: data.name}}, {expect: len(a) == 3}`:                                               judge.Pass,
		get + `{call: {path: /echo}, expect: data == a}`:                                                                      judge.Pass,
		`{call: {path: /echo}, capture: {a: it, b: it}}, {expect: a.data.n == b.data.n}`:                                      judge.Invalid,
		`{call: {path: /echo}, capture: {a: it}}, {call: {path: /echo}, capture: {b: it}}, {expect: a.data.n == b.data.n}`:    judge.Pass,
		`{call: {path: /nowhere, status: 404}, capture: {a: it}}, {expect: a.status != 200}`:                                  judge.Pass,
		`{call: {path: /echo}, capture: {a: data, b: data}}, {expect: a == b}`:                                                judge.Invalid,
		`{call: {path: /echo}, capture: {a: data}}, {call: {path: /echo}, capture: {b: data}}, {expect: a == b}`:              judge.Pass,
		get + `{cases: [{n: 3}, {n: 4}], group: [{set: {b: "${row.n}"}}, {cases: [{n: 3}], expect: b == row.n or a.n == 3}]}`: judge.Pass,
	})
}

// TestWholeResult: a result agrees with its own parts under whatever names, so comparing them proves nothing.
func TestWholeResult(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]judge.Status{
		`res.status > 99`: judge.Invalid,
		`res.status in [200, 400, 404, 409, 500, 502, 504]`: judge.Invalid,
		`int(res.status / 100) in [2, 4, 5]`:                judge.Invalid,
		`res.status == 200 or res.error != nil`:             judge.Invalid,
		`res.ms < 59999`:                                    judge.Invalid,
		`res.headers != nil and type(res.body) == "map"`:    judge.Invalid,
		`len(json(res)) > 2`:                                judge.Invalid,
		`"status" in res and len(keys(res)) > 0`:            judge.Invalid,
		`get(res, "status") == res.status`:                  judge.Invalid,
		`res.data == res.data`:                              judge.Invalid,
		`res.status == 200`:                                 judge.Pass,
		`res.ms < 8000`:                                     judge.Pass,
		`res.body.data.n == 3`:                              judge.Pass,
		`res.data.name == "Ann"`:                            judge.Pass,
		`get(res, "data").n == 3`:                           judge.Pass,
	} {
		for _, steps := range []string{
			`{call: {path: /echo}, capture: {res: it}}, {expect: '` + expect + `'}`,
			`{call: {path: /echo}, expect: '` + strings.NewReplacer("(res,", "(it,", "(res)", "(it)", "in res", "in it", "res.", "it.").Replace(expect) + `'}`,
		} {
			ends(t, newFake(t), "steps: ["+steps+"]", want, "")
		}
	}
}

// TestListsAgree: comparing what the engine itself counted, or was told to look at, proves nothing.
func TestListsAgree(t *testing.T) {
	t.Parallel()
	const brd = `"\"brd_1\""`
	playsAs(t, nil, map[string]judge.Status{
		`{journal: {of: ` + brd + `}, expect: len(lines) == count}`:                               judge.Invalid,
		`{journal: {of: ` + brd + `}, expect: count == 0}`:                                        judge.Pass,
		`{journal: {of: ` + brd + `}, expect: len(lines) == 0}`:                                   judge.Pass,
		`{boards: {of: ` + brd + `}, expect: count == 1}`:                                         judge.Invalid,
		`{boards: {of: ` + brd + `, all: online}, expect: count == 1}`:                            judge.Pass,
		`{boards: {of: ` + brd + `}, expect: first.online and count == len(boards)}`:              judge.Pass,
		`{boards: {}, expect: "count == 1 and boards[0] == first"}`:                               judge.Pass,
		`{boards: {of: ` + brd + `}, expect: "boards[0] == first"}`:                               judge.Invalid,
		`{boards: {of: ` + brd + `}, expect: first.phase != ""}`:                                  judge.Invalid,
		`{boards: {of: ` + brd + `}, expect: first.phase == "online"}`:                            judge.Pass,
		`{call: {path: /echo, times: 2}, expect: "count(statuses, # > 0) == 2"}`:                  judge.Invalid,
		`{call: {path: /echo, times: 2}, expect: "count(statuses, # == 200) == 2"}`:               judge.Pass,
		`{if: seed < 0, group: [{call: {path: /echo}, clauses: [CMD-2]}]}, {call: {path: /echo}}`: judge.Invalid,
		`{if: seed < 0, group: [{call: {path: /echo}}]}, {call: {path: /echo}}`:                   judge.Pass,
	})
}

// TestOneAnswer: the parts of an answer agree with its body, whatever the target answers.
func TestOneAnswer(t *testing.T) {
	t.Parallel()
	const refused = `{call: {path: /nowhere, status: 404}, `
	playsAs(t, func(f *fake) { f.lines = []m{{"action": "pulse", "cause": "onsite", "at": "2026-03-01T09:00:00.000Z"}} }, map[string]judge.Status{
		`{call: {path: /echo}, expect: body.data == data}`:                                        judge.Invalid,
		`{call: {path: /echo}, expect: it.body.data.n == data.n}`:                                 judge.Invalid,
		`{call: {path: /echo}, capture: {r: it}}, {expect: r.body.data.name == r.data.name}`:      judge.Invalid,
		refused + `expect: body.error == error}`:                                                  judge.Invalid,
		refused + `expect: body.message == message and body.statusCode == status}`:                judge.Invalid,
		refused + `expect: body.error == "not_found"}`:                                            judge.Pass,
		`{call: {path: /echo}, expect: body.data.n == 3}`:                                         judge.Pass,
		`{call: {path: /list}, expect: total > 0}`:                                                judge.Pass,
		`{call: {path: /list}, expect: total >= len(data)}`:                                       judge.Invalid,
		`{cases: [{n: 1}, {n: 2}], expect: n > 0}`:                                                judge.Invalid,
		`{cases: "${1..3}", expect: row > 0}`:                                                     judge.Invalid,
		`{cases: [{data: 1}], expect: data == 1}`:                                                 judge.Invalid,
		`{cases: [{n: 3}], call: {path: /echo}, expect: data.n == n}`:                             judge.Pass,
		`{cases: [{n: 3}], group: [{set: {m: "${n}"}}, {call: {path: /echo}}]}, {expect: m == 3}`: judge.Invalid,
		`{control: {path: /clock}, expect: data.mode == "virtual"}`:                               judge.Invalid,
		`{call: {path: "/livez?x=1"}}`:                                                            judge.Invalid,
		`{journal: {of: "\"brd_1\"", action: pulse}, expect: "all(lines, .action == 'pulse')"}`:   judge.Invalid,
		`{journal: {of: "\"brd_1\"", action: pulse, all: action == "pulse"}}`:                     judge.Invalid,
		`{journal: {of: "\"brd_1\"", action: pulse, all: cause == "onsite"}}`:                     judge.Pass,
		`{journal: {of: "\"brd_1\""}, expect: first.action == "pulse"}`:                           judge.Pass,
		`{mark: a}, {journal: {of: "\"brd_1\"", all: at <= at("a+1h")}}`:                          judge.Pass,
		`{mark: a}, {journal: {of: "\"brd_1\""}, expect: "all(lines, .at < at('a+1h'))"}`:         judge.Pass,
		`{mark: a}, {expect: at("a") <= at("a+1h")}`:                                              judge.Invalid,
	})
}

// TestOwnNames: values that the file chose itself prove nothing about the target.
func TestOwnNames(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]judge.Status{
		`one.count == 1`:                                  judge.Invalid,
		`one.door != "" and one.place != ""`:              judge.Invalid,
		`ann.phone == phone("ann")`:                       judge.Invalid,
		`ann.ref != "" and len(ann.tail) == 4`:            judge.Invalid,
		`ann.permitId != ""`:                              judge.Pass,
		`uid("a") != uid("b")`:                            judge.Invalid,
		`label("now") >= 0`:                               judge.Invalid,
		`at("start") == at("start+0s")`:                   judge.Invalid,
		`seed == 1 and file != "" and seconds("1s") == 1`: judge.Invalid,
		`len(ann.doors) == 1`:                             judge.Invalid,
		`till.place == one.place`:                         judge.Invalid,
		`now != "" and state == "virtual"`:                judge.Invalid,
		`hit == 4`:                                        judge.Invalid,
		`many == 1`:                                       judge.Invalid,
	} {
		steps := `{cohort: {name: one, boards: 1}, capture: {many: count}}, {mark: start}, {permit: {person: ann, place: "\"plc_1\"", doors: ["\"dor_1\""]}}, ` +
			`{key: {name: till, place: "\"plc_1\""}}, {clock: freeze, capture: {now: now, state: mode}}, ` +
			`{fault: {fault: noop, name: n, of: one}}, {clear: n, capture: {hit: hits}}, {expect: '(` + expect + `) or many + hit == 99 or now == state'}`
		ends(t, newFake(t), "steps: ["+steps+"]", want, "")
	}
}

// TestClaimsOfNothing: clauses at a step that can't fail for them are a mistake and are reported with their position,
// whatever other steps check.
func TestClaimsOfNothing(t *testing.T) {
	t.Parallel()
	const brd = `"\"brd_1\""`
	for step, want := range map[string]string{
		`clock: {advance: 1s}`:                           "clock can't fail",
		`clock: {advance: 1s}, expect: state != ""`:      "clock can't fail",
		`clock: {advance: 1s}, expect: data.n == 3`:      "clock can't fail",
		`fault: {fault: slow, of: ` + brd + `, hits: 0}`: "fault can't fail",
		`clear: all`:                                   "clear can't fail",
		`clear: all, expect: hits > 0`:                 "clear can't fail",
		`mark: a`:                                      "mark can't fail",
		`cohort: {name: c}`:                            "cohort can't fail",
		`leaf: {door: x, action: open}`:                "leaf can't fail",
		`group: [{log: a}, {pause: 1ms}]`:              "group without an expectation can't fail",
		`journal: {of: ` + brd + `}`:                   "journal without an expectation can't fail",
		`boards: {}, require: count > 0`:               "boards without an expectation can't fail",
		`control: {path: /clock, status: 200}`:         "control without an expectation can't fail",
		`control: {path: /nowhere, status: 404}`:       "control without an expectation can't fail",
		`call: {path: /livez}`:                         "/livez only shows that the server listens",
		`call: {path: /readyz}, expect: status == 200`: "/readyz only shows that the server listens",
		`wait: b`: "wait without an expectation can't fail",
		`control: {path: /faults, body: {}, status: 409, error: rule_violated}`: "",
		`key: {name: k, place: "\"plc_1\""}`:                                    "", // the server may refuse it
		`place: {place: "\"plc_1\"", set: {phoneEnabled: true}}`:                "",
		`journal: {of: ` + brd + `}, expect: count == 0`:                        "",
		`command: {door: "\"dor_1\""}`:                                          "", // the checkers judge it
		`group: [{log: a}, {call: {path: /echo}}]`:                              "",
	} {
		source := "steps: [{log: a, background: b}, {" + step + ", clauses: [CMD-7]}, {call: {path: /echo}}" + map[bool]string{false: ", {wait: b}"}[step == "wait: b"] + "]"
		problem(t, source, want)
	}
}

// TestLookedAtNothing: a claim at a step that never had anything to look at makes the file INVALID, unless it did at
// least once.
func TestLookedAtNothing(t *testing.T) {
	t.Parallel()
	const none = `{journal: {of: "\"brd_1\"", all: action == "pulse", atLeast: 0}, clauses: [CMD-7]}`
	playsAs(t, nil, map[string]judge.Status{
		none + `, {call: {path: /echo}, clauses: [CMD-7]}`:                             judge.Invalid,
		strings.Replace(none, `, clauses: [CMD-7]`, "", 1) + `, {call: {path: /echo}}`: judge.Pass,
	})
}

// TestInProgress: what an interruption interrupted is told without saying again that it was interrupted.
func TestInProgress(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"a.yaml:3: call /x: context canceled":       "; in progress: a.yaml:3: call /x",
		"a.yaml:3: wait: context deadline exceeded": "; in progress: a.yaml:3: wait",
		"a.yaml:3: a name that says interrupted":    "; in progress: a.yaml:3: a name that says interrupted",
		"a.yaml:3: expected status 200, found 409":  "; in progress: a.yaml:3: expected status 200, found 409",
		"context canceled":                          "",
		"":                                          "",
	} {
		if got := inProgress(cutWords(at)); got != want {
			t.Errorf("%q: got %q, want %q", at, got, want)
		}
	}
}
