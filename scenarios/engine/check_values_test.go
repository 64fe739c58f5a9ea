package engine

import (
	"strings"
	"testing"
)

// TestLiterals: a value that is written down and can't be right is reported before anything runs, with its place;
// what a template gives, or what is expected to be refused, isn't.
func TestLiterals(t *testing.T) {
	t.Parallel()
	const week = `hours: {place: plc_1, week: {mond: []}`
	for step, want := range map[string]string{
		`fault: {fault: refuse, of: brd_1, params: {code: jam}}`:                            `"jam" is not a valid code, did you mean "jammed"?`,
		`fault: {fault: refuse, of: brd_1, params: {cod: jammed}}`:                          `"cod" is not a valid parameter of refuse, did you mean "code"?`,
		`fault: {fault: slow, of: brd_1, params: {p50Ms: -5}}`:                              `params.p50Ms must be 0 to 86400000`,
		`fault: {fault: slow, of: brd_1, params: {p50Ms: 9, p99Ms: 8}}`:                     `params.p99Ms must not be below p50Ms (9)`,
		`fault: {fault: slow, of: brd_1, params: {p50Ms: "${seed}", p99Ms: 8}}`:             "",
		`fault: {fault: refuse, of: brd_1, params: {code: "${file}", cod: x}}`:              `"cod" is not a valid parameter`,
		`fault: {fault: offline, of: brd_1, params: {percent: 5}}`:                          `params.percent must be left out: offline has no parameters`,
		`fault: {fault: offline, of: brd_1, nth: 2}`:                                        `nth must be left out: offline does not depend on commands`,
		`fault: {fault: offline, of: brd_1, nth: "${seed}"}`:                                `nth must be left out`,
		`fault: {fault: offline, of: brd_1, commands: [open]}`:                              `commands must be left out`,
		`fault: {fault: offline, of: brd_1, doors: dor_1}`:                                  `doorIds must be left out`,
		`fault: {fault: noop, of: brd_1, nth: 0}`:                                           `nth must be a whole number, 1 or more`,
		`fault: {fault: noop, of: brd_1, nth: 1.5}`:                                         `nth must be a whole number, 1 or more`,
		`fault: {fault: noop, of: brd_1, nth: "${seed}", commands: [open], for: 5m}`:        "",
		`fault: {fault: reboot, of: brd_1, for: 5m}`:                                        `for must be left out: reboot acts only once`,
		`fault: {fault: offline, share: 150%}`:                                              `share must be above 0 and at most 1, which is 100%`,
		`fault: {fault: offline, share: 0}`:                                                 `share must be above 0`,
		`fault: {fault: offline, share: 10%, hits: -1}`:                                     `hits must be a whole number of at least 0`,
		`cohort: {name: a, part: 21/20}`:                                                    `"21/20" is not a valid fraction, write it like 1/4`,
		`cohort: {name: a, part: half}`:                                                     `"half" is not a valid fraction`,
		`cohort: {name: a, part: "${seed}/20"}`:                                             "",
		`cohort: {name: a, share: 150%}`:                                                    `share must be above 0 and at most 1`,
		`cohort: {name: a, boards: -1}`:                                                     `boards must be a whole number of at least 1`,
		`cohort: {name: a, perPlace: 1.5}`:                                                  `perPlace must be a whole number`,
		`place: {place: plc_1, set: {phonEnabled: true}}`:                                   `"phonEnabled" is not a valid field of a place, did you mean "phoneEnabled"?`,
		`place: {place: plc_1, set: {phoneEnabled: "on"}}`:                                  `phoneEnabled must be true or false`,
		`place: {place: plc_1, set: {entryPhone: "12"}}`:                                    `entryPhone must be null or a phone`,
		`place: {place: plc_1, set: {entryPhone: null, closures: [], timezone: "${file}"}}`: "",
		`door: {doors: dor_1, set: {entri: true}}`:                                          `"entri" is not a valid field of a door, did you mean "entry"?`,
		`door: {doors: dor_1, set: {entryPermitMaxHours: 1.5}}`:                             `entryPermitMaxHours must be a whole number`,
		`door: {doors: dor_1, set: {entry: false, entryPermitMaxHours: "${seed}"}}`:         "",
		week + `}`: `"mond" is not a day (mon..sun), did you mean "mon"?`,
		week + `, status: 400, error: invalid_field}`:                                "",
		`hours: {place: plc_1, week: {mon: [["9", "10:00"]]}}`:                       `mon: start "9" must be HH:MM`,
		`hours: {place: plc_1, week: {mon: nonsense}}`:                               `mon must be a list of intervals`,
		`hours: {place: plc_1, week: {mon: "${file}", tue: [["09:00", "${file}"]]}}`: "",
		`policy: {doors: dor_1, ref: custom, mode: free, week: {mond: []}}`:          `"mond" is not a day`,
		`netloss: {boards: brd_1, graceSec: 1, channels: {al: close}}`:               `"al" is not a valid channel: write a channel number, or "all"`,
		`netloss: {boards: brd_1, graceSec: 1, channels: {all: clsoe}}`:              `"clsoe" is not a valid behaviour, did you mean "close"?`,
		`netloss: {boards: brd_1, graceSec: 1, channels: {all: clsoe}, status: 400}`: "",
		`events: {place: plc_1, all: kind != "", atLeast: 1.5}`:                      `atLeast must be a whole number of at least 0`,
		"mark: now": `a mark can't be called "now", which is always the present moment`,
		`bulk: {name: a, over: plc_1, register: 1000001}`: `register must be at most 1,000,000`,
		"pause: 1ms, atLeast: 2":                          `atLeast must be left out without cases: it is the fewest rows`,
	} {
		literalProblem(t, step, want)
	}
}

// literalProblem parses a file with a step and looks for a problem; "" for none.
func literalProblem(t *testing.T, step, want string) {
	t.Helper()
	problem(t, "steps: [{call: {path: /echo}}, {"+step+"}]", want)
}

// problem parses a file of a line and looks for a problem with its place; "" for none.
func problem(t *testing.T, source, want string) {
	t.Helper()
	_, err := Parse("one.yaml", []byte(source))
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "one.yaml:1:")) {
		t.Errorf("%s: got %v, want a problem %q with its place", source, err, want)
	}
}

// TestCombined: keys that exclude each other, and values that no answer can have, are reported before anything runs.
func TestCombined(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{
		`fault: {fault: offline, of: brd_1, share: 10%}`:                    `share and of can't be combined`,
		`fault: {fault: latency, of: brd_1}`:                                `"latency" is not a valid fault ("slow" delays the board, "lossy" with delayMs the line)`,
		`clear: offlin`:                                                     `no fault "offlin" is armed in this file`,
		`cohort: {name: a, boards: 1, part: 1/2}`:                           `boards and part are given: give only one of boards, share and part`,
		`place: {place: plc_1, set: {timezone: Asia/Soul}}`:                 `timezone must be a time zone like Asia/Seoul`,
		`call: {path: "@127.0.0.9/x"}`:                                      `a path begins with /, found "@127.0.0.9/x"`,
		`call: {path: "http://evil/x"}`:                                     `a path begins with /`,
		`call: {path: "${file}"}`:                                           "",
		`call: {path: "x${file}"}`:                                          `a path begins with /`,
		`control: {path: clock}`:                                            `a path begins with /`,
		`call: {path: /echo, status: 999}`:                                  `status must be a whole number from 100 to 599`,
		`call: {path: /echo, together: -1}`:                                 `together must be at least 1`,
		`call: {path: /echo, together: 10001}`:                              `together must be at most 10,000`,
		`call: {path: /echo, times: 1e15}`:                                  `times must be at most 1,000,000`,
		`call: {path: /echo}, within: 1s, eventually: true, expect: n == 1`: `give within or eventually, not both`,
		`wait: load, within: 1m`:                                            `wait takes as long as its step`,
		`call: {path: /echo}, within: -1s, expect: n == 1`:                  `within must not be negative`,
		`pause: -5s`: `pause must not be negative`,
		`command: {door: dor_1, command: hold, minutes: 99999}`:               `a whole number from 0`,
		`command: {door: dor_1, command: door.hold, minutes: -1}`:             `a whole number from 0`,
		`command: {door: dor_1, command: hold, minutes: 0, status: 400}`:      "",
		`command: {door: dor_1, outcome: reported, status: 409}`:              `the outcome reported is answered with 200, not 409`,
		`command: {door: dor_1, outcome: refused, status: 502, code: jammed}`: "",
		`command: {door: dor_1, outcome: offline, code: jammed}`:              `code is the deviceCode of a refusal`,
		`policy: {doors: dor_1, mode: free, remove: true}`:                    `remove takes only doors and ref`,
		`policy: {doors: dor_1, ref: always, remove: true}`:                   "",
		`clock: {advance: 1h, to: now+5h}`:                                    `clock takes one of freeze, run, advance and to`,
		`clock: {do: freeze, advance: 1h}`:                                    `clock takes one of`,
		`clock: {advance: -1h}`:                                               `advance must not be negative`,
		`clock: {to: now-1h}`:                                                 `time only moves forward`,
		`load: hot-dor`:                                                       `did you mean "hot-door"?`,
		`load: {plan: search, rate: 5}`:                                       `the plan search doesn't have one rate`,
		`load: {plan: mixed, doors: one}`:                                     `doors can't be combined with plan`,
		`load: {plan: mixed, duration: 5s}`:                                   "",
		`disk: broken`:                                                        `"broken" is not a valid state of a disk`,
		`disk: stale`:                                                         `did you mean "stalled"?`,
		`disk: 300ms`:                                                         `write disk: {slow: 300ms}`,
		`disk: {}`:                                                            `disk takes one of ok, full, stalled and slow`,
		`disk: {state: full, slow: 1s}`:                                       `disk takes one of ok, full, stalled and slow`,
		`disk: {slow: 61s}`:                                                   `slow must be between 1ms and 60s`,
		`disk: {slow: 60s}`:                                                   "",
		`present: {person: file, phone: "0101", door: dor_1}`:                 `present takes one of person and phone`,
		`present: {phone: "0101", token: abc, door: dor_1}`:                   `present takes one of phone and token`,
		`present: {phone: "0101", door: dor_1, result: denied}`:               "",
		`link: {person: file, token: abc, door: dor_1}`:                       `link takes one of person and token`,
		`link: {token: abc, door: dor_1, status: 404}`:                        "",
	} {
		literalProblem(t, step, want)
	}
}

// TestSure: what goes wrong in every run is reported before it.
func TestSure(t *testing.T) {
	t.Parallel()
	const begin, wait = `call: {path: /echo}, background: b}, {`, `wait: b`
	for step, want := range map[string]string{
		`crash: {at: after-claim}`: `crash needs one of command and link`,
		`crash: {at: after-claim, command: {door: d}, link: {token: a, door: d}}`: `crash needs one of command and link`,
		`crash: {at: after-claim, link: {token: a}}`:                              `give the link a door`,
		`hang_up: {after: 1s}`:                      `hang_up needs one of command and link`,
		`hang_up: {after: 1s, link: {token: a}}`:    `give the link a door`,
		`hang_up: {after: -1s, command: {door: d}}`: `after must not be negative`,
		`clock: {}`:               `clock needs one of freeze, run, advance and to`,
		`clock: `:                 `clock needs one of freeze, run, advance and to`,
		`clock: {advance: 8000d}`: `advance must be at most ten years`,
		`clock: {advance: 3650d}`: "",
		`fault: {fault: noop, of: brd_1, for: 0s}`:                                                             `for must be above 0`,
		`fault: {fault: noop, of: brd_1, for: 1s}`:                                                             "",
		`fault: {fault: noop, of: brd_1, for: "${file}"}`:                                                      "",
		`call: {path: /echo}, expect: 5`:                                                                       `5 is the same whatever happens: write a condition`,
		`call: {path: /echo}, expect: [data.n == 3, true]`:                                                     `true is the same whatever happens`,
		`call: {path: /echo, body: {n: 9999999999999999999}}`:                                                  `9999999999999999999 is too large for a whole number`,
		`call: {path: /echo, body: {n: [-99999999999999999999]}}`:                                              `-99999999999999999999 is too large`,
		`call: {path: /echo, body: {n: 9223372036854775807, m: 0xff, o: "99999999999999999999"}, status: 200}`: ``,
		`call: {path: /echo}, require: '"yes"'`:                                                                `"yes" is the same whatever happens`,
		`call: {path: /echo}, expect: []`:                                                                      `the list is empty: nothing would be checked`,
		`call: {path: /echo}, cases: {a: 1}`:                                                                   `cases must be a list`,
		`call: {path: /echo}, cases: 5`:                                                                        `cases must be a list`,
		`call: {path: '/echo/${row}'}, cases: '${1..2}'`:                                                       "",
		`call: {path: '/echo/${row}'}, cases: [1, 2]`:                                                          "",
		`call: {path: /echo}, expect: data.n == 4, never: 1s, within: 2s`:                                      `a step takes never, or within or eventually, not both`,
		`call: {path: /echo}, expect: data.n == 4, never: 1s, eventually: true`:                                `a step takes never, or within or eventually, not both`,
		wait + `}, {` + begin + `log: end`:                                                                     `b hasn't started here: wait comes after the background step`,
		begin + wait + `}, {` + wait:                                                                           `b was waited for already`,
		begin + wait + `, if: seed == 1}, {` + wait:                                                            "",
		`group: [{` + begin + `log: on}]}, {` + wait:                                                           "",
		`parallel: [{` + wait + `}, {` + begin + `log: on}]`:                                                   "",
	} {
		literalProblem(t, step, want)
	}
}
