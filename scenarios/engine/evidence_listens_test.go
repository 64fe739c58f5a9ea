package engine

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestOnlyListens: that the server or its control listener answers is no evidence, however it is written; what more an
// answer says is.
func TestOnlyListens(t *testing.T) {
	t.Parallel()
	const live = `{call: {path: /livez}, `
	const boards = `{control: {path: /boards}`
	plays := map[string]judge.Status{
		`{cases: [/livez, /readyz], call: {path: "${row}"}}`:                                             judge.Invalid,
		`{cases: [/livez, /echo], call: {path: "${row}"}}`:                                               judge.Pass,
		live + `capture: {up: status}}, {expect: up == 200}`:                                             judge.Invalid,
		live + `capture: {up: status}}, {set: {also: "${up + 1}"}}, {expect: also == 201}`:               judge.Invalid,
		live + `capture: {up: status}}, {call: {path: /echo}, expect: status == up}`:                     judge.Pass,
		live + `capture: {up: status}}, {call: {path: /echo}, capture: {n: data.n}}, {expect: n < up}`:   judge.Pass,
		live + `background: p}, {wait: p}, {expect: p.status == 200}`:                                    judge.Invalid,
		live + `background: p}, {wait: p, expect: status == 200}`:                                        judge.Invalid,
		`{set: {path: /livez}}, {call: {path: "${path}"}, background: p}, {wait: p}`:                     judge.Invalid,
		`{set: {path: /echo}}, {call: {path: "${path}"}, background: p}, {wait: p}`:                      judge.Pass,
		`{set: {path: /echo}}, {call: {path: "${path}"}, background: p}, {wait: p, expect: data.n == 3}`: judge.Pass,
		boards + `, expect: status == 200}`:                                                              judge.Invalid,
		boards + `, expect: it.status == 200}`:                                                           judge.Invalid,
		boards + `, expect: error == nil and ms < 5000}`:                                                 judge.Invalid,
		boards + `, capture: {s: status}}, {expect: s == 200}`:                                           judge.Invalid,
		boards + `, expect: status == 200 and total == 1}`:                                               judge.Pass,
		boards + `, expect: "data[0].online"}`:                                                           judge.Pass,
		boards + `, background: p}, {wait: p, expect: status == 200}`:                                    judge.Invalid,
		boards + `, background: p}, {wait: p}, {expect: p.status == 200}`:                                judge.Invalid,
		boards + `, background: p}, {wait: p}, {expect: "p.data[0].online"}`:                             judge.Pass,
		`{control: {method: POST, path: /faults/reset}, expect: status == 200}`:                          judge.Invalid,
		`{control: {method: DELETE, path: /gone, error: not_found}}`:                                     judge.Invalid,
		`{control: {method: DELETE, path: /gone}, expect: status == 404}`:                                judge.Invalid,
		`{control: {method: POST, path: /boards/brd_1/tell}, expect: status == 409}`:                     judge.Pass,
		`{control: {method: POST, path: /boards/brd_1/tell, error: rule_violated}}`:                      judge.Pass,
		`{control: {method: POST, path: /boards/brd_1/tell}, expect: error == "rule_violated"}`:          judge.Pass,
		`{control: {method: POST, path: /boards/brd_1/tell, status: 409}, expect: ms < 5000}`:            judge.Pass,
	}
	playsAs(t, func(f *fake) { f.deaf, f.ended = true, map[string]bool{"/gone": true} }, plays)
}

// TestClaimsOfListening: a claim at a step that turns out to show only that somebody listens makes the file INVALID.
func TestClaimsOfListening(t *testing.T) {
	t.Parallel()
	for step, bad := range map[string]bool{
		`{cases: [/livez], call: {path: "${row}"}, clauses: [AUTH-1]}`:         true,
		`{cases: [/echo], call: {path: "${row}"}, clauses: [AUTH-1]}`:          false,
		`{control: {path: /boards}, expect: status == 200, clauses: [AUTH-1]}`: true,
	} {
		res, out := play(t, newFake(t), "steps: [{call: {path: /echo}, expect: data.n == 3}, "+step+"]", Options{})
		if got := res.Files[0]; strings.Contains(got.Reason, "only shows that somebody listens, so it isn't evidence for AUTH-1") != bad {
			t.Errorf("%s: got %s %q, want it refused: %t\n%s", step, got.Status, got.Reason, bad, out)
		}
	}
}
