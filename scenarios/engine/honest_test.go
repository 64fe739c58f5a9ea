package engine

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestReadAfterAnd: what stands after an "and" whose left side is false was never read, and may be missing; a mistyped
// field after one that holds may not.
func TestReadAfterAnd(t *testing.T) {
	t.Parallel()
	const lines = `{journal: {of: "\"brd_1\""}, expect: `
	playsAs(t, nil, map[string]judge.Status{
		lines + `count == 1 and last.cause == "command" or count == 0}`:                         judge.Pass,
		lines + `not (count > 0 and last.cause == "onsite")}`:                                   judge.Pass,
		lines + `count > 0 and last.cause == "onsite", never: 30ms}`:                            judge.Pass,
		lines + `not (count == 0 and last.cause == "onsite")}`:                                  judge.Fail, // null has no field
		`{call: {path: /echo}, expect: 'status == 200 and data.nope != "x" or status == 504'}`:  judge.Blocked,
		`{call: {path: /echo}, expect: 'not (status == 200 and data.nope == "x")'}`:             judge.Blocked,
		`{call: {path: /echo}, expect: 'status == 200 and data.nope == "x"', never: 30ms}`:      judge.Blocked,
		`{call: {path: /echo}, expect: 'status == 200 and data.nope != "x" and data.n < 1000'}`: judge.Blocked,
	})
}

// TestHowLongSynced: synced waits longer than any answer to a request; a limit beyond its own says nothing.
func TestHowLongSynced(t *testing.T) {
	t.Parallel()
	playsAs(t, nil, map[string]judge.Status{
		`{synced: {}, expect: ms < 30000}`:                                    judge.Pass,
		`{synced: {}, expect: ms <= 60000}`:                                   judge.Invalid,
		`{synced: {}, expect: ms < 60000}`:                                    judge.Invalid,
		`{synced: {}, within: 5m, expect: ms < 300000}`:                       judge.Invalid,
		`{synced: {}, within: 5m, expect: ms <= 60000}`:                       judge.Pass,
		`{synced: {}, within: 5m, expect: ms <= 300000}`:                      judge.Invalid,
		`{synced: {}, within: 20s, expect: ms < 30000}`:                       judge.Invalid,
		`{synced: {}, background: b}, {wait: b, expect: ms < 30000}`:          judge.Pass,
		`{synced: {}, background: b}, {wait: b, expect: ms < 90000}`:          judge.Invalid,
		`{synced: {}, capture: {took: ms}}, {expect: took < 30000}`:           judge.Pass,
		`{synced: {}, capture: {took: it}}, {expect: took.ms < 30000}`:        judge.Pass,
		`{synced: {}, capture: {took: ms}}, {expect: took < 90000}`:           judge.Invalid,
		`{call: {path: /echo}, expect: ms < 30000}`:                           judge.Invalid,
		`{call: {path: /echo}, within: 5m, expect: ms < 30000}`:               judge.Invalid,
		`{call: {path: /echo}, capture: {took: ms}}, {expect: took < 30000}`:  judge.Invalid,
		`{call: {path: /echo}, background: b}, {wait: b, expect: ms < 30000}`: judge.Invalid,
	})
}

// TestRelayOfTheOpposite: had the decision been the opposite, the relay's journal would say something else.
func TestRelayOfTheOpposite(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]judge.Status{
		`'journal[0].action == "deny"'`:                            judge.Pass,
		`'len(journal) > 0 and none(journal, .action == "pulse")'`: judge.Pass,
		`'journal[0].doorId == "dor_1"'`:                           judge.Invalid,
		`'journal[0].seq == 4'`:                                    judge.Invalid,
		`'journal[0].cause == "onsite"'`:                           judge.Invalid,
		`'journal[0].grantId == nil'`:                              judge.Invalid, // nor has a free window one
		`'len(journal) == 1'`:                                      judge.Invalid,
		`'reason != "expired"'`:                                    judge.Invalid,
		`'reason == "no_valid_grant"'`:                             judge.Pass,
		`'len(journal) == 1 and result == "denied"'`:               judge.Pass,
	} {
		f := newFake(t)
		f.lines = []m{{"seq": 4, "doorId": "dor_1", "action": "deny", "cause": "onsite", "grantId": nil}}
		source := `steps: [{present: {phone: "01000000000", door: "\"dor_1\""}, expect: ` + expect + `, clauses: [ENT-1]}]`
		ends(t, f, source, want, "")
	}
}

// TestMatchOfControl: a match at a control step is an expectation unless every answer would match.
func TestMatchOfControl(t *testing.T) {
	t.Parallel()
	for control, want := range map[string]judge.Status{
		`{path: /boards, match: {total: 1}}`: judge.Pass,
		`{path: /people/present, method: POST, body: {doorId: dor_1}, match: {data: {result: denied}}}`: judge.Pass,
		`{path: /nothing, match: {data: {}}}`:                                                             judge.Invalid,
		`{path: /clock, match: {data: {mode: virtual}}}`:                                                  judge.Invalid,
		`{path: /faults, match: {data: []}}`:                                                              judge.Invalid,
		`{path: /faults, method: POST, match: {data: {faultId: flt_1}}}`:                                  judge.Invalid,
		`{path: /places/plc_1, method: PATCH, body: {entryPhone: "1"}, match: {data: {entryPhone: "1"}}}`: judge.Invalid,
		`{path: /boards}`: judge.Invalid,
	} {
		ends(t, newFake(t), "steps: [{control: "+control+"}]", want, "")
	}
}

// TestNamesOfTheResult: a part of a step's result hides the file's own value of the same name, where the result has it.
func TestNamesOfTheResult(t *testing.T) {
	t.Parallel()
	const brd = `{journal: {of: "\"brd_1\""}, `
	for source, want := range map[string]judge.Status{
		`{setup: [{cohort: {name: boards}}], steps: [{boards: {}, expect: "all(boards, .online)"}]}`:      judge.Pass,
		`{setup: [{cohort: {name: boards}}], steps: [{boards: {}, expect: "len(boards) >= 0"}]}`:          judge.Invalid,
		`{setup: [{cohort: {name: boards}}], steps: [{call: {path: /echo}, expect: "boards.count > 0"}]}`: judge.Invalid,
		`{vars: {count: 0}, steps: [` + brd + `expect: count == 0}]}`:                                     judge.Pass,
		`{vars: {count: 0}, steps: [` + brd + `background: b}, {wait: b, expect: count == 0}]}`:           judge.Pass,
		`{vars: {count: 0}, steps: [` + brd + `capture: {n: count}}, {expect: n == 0}]}`:                  judge.Pass,
		`{setup: [{set: {count: 7}}], steps: [` + brd + `expect: count == 0}]}`:                           judge.Pass,
		`{vars: {count: 0}, steps: [{call: {path: /echo}, expect: count == 0}]}`:                          judge.Invalid,
		`{vars: {count: 0}, steps: [{call: {path: /echo}, capture: {n: count}}, {expect: n == 0}]}`:       judge.Invalid,
		`{vars: {count: 0}, steps: [{expect: count == 0}]}`:                                               judge.Invalid,
		`{vars: {count: 0}, steps: [{log: x, expect: count == 0}]}`:                                       judge.Invalid,
		`{vars: {count: 0}, steps: [` + brd + `expect: count >= 0}]}`:                                     judge.Invalid,
		`{vars: {now: 1}, steps: [{clock: {do: freeze}, expect: now != nil}]}`:                            judge.Invalid,
		`{vars: {online: true}, steps: [{boards: {all: online}}]}`:                                        judge.Pass,
		`{vars: {yes: true}, steps: [{boards: {all: yes}}]}`:                                              judge.Invalid,
		`{vars: {count: 0}, steps: [{call: {path: /echo}}, {group: [{log: x}], expect: count == 0}]}`:     judge.Invalid,
		`{vars: {total: 2}, steps: [{call: {path: /list}, expect: total == 2}]}`:                          judge.Pass,
	} {
		ends(t, newFake(t), source, want, "")
	}
}
