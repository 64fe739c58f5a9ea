package engine

import (
	"strings"
	"testing"
)

// TestIndifferent: a step that claims a clause and would have passed with any other value that shows the clause is no evidence for
// it, wherever the claim and the value are written, unless another step that claims the clause would have noticed.
func TestIndifferent(t *testing.T) {
	t.Parallel()
	const journal, all = `{journal: {of: "\"brd_1\""}, `, `{journal: {of: "\"brd_1\"", all: `
	for steps, want := range map[string]bool{
		all + `'action in ["pulse", "hold"]'}, clauses: [CMD-1]}`: true,
		all + `'action == "pulse"'}, clauses: [CMD-1]}`:           false,

		journal + `expect: count <= 4, clauses: [CMD-5]}`:                                                                          true,
		journal + `expect: count < 2, clauses: [CMD-5]}`:                                                                           false,
		journal + `expect: {that: count <= 4, clauses: [CMD-5]}}`:                                                                  true,
		journal + `expect: count > 4, never: 20ms, clauses: [CMD-5]}`:                                                              true,
		journal + `expect: count > 1, never: 20ms, clauses: [CMD-5]}`:                                                              false,
		journal + `expect: 'first.action in ["pulse", "hold"] and count == 1', clauses: [CMD-5]}`:                                  false,
		journal + `expect: count <= 4, clauses: [CMD-5]}, ` + journal + `expect: count == 1, clauses: [CMD-5]}`:                    false,
		journal + `expect: count <= 4, clauses: [CMD-5]}, ` + journal + `expect: count == 1}`:                                      true,
		journal + `expect: count <= 4, clauses: [CMD-5, CMD-6]}`:                                                                   true,
		`{cases: [{n: 4}, {n: 1}], journal: {of: "\"brd_1\""}, expect: count <= row.n, clauses: [CMD-5]}`:                          false,
		`{cases: [{n: 4}, {n: 3}], journal: {of: "\"brd_1\""}, expect: count <= row.n, clauses: [CMD-5]}`:                          true,
		`{group: [` + journal + `expect: count <= 4}], clauses: [CMD-5]}`:                                                          true,
		`{group: [` + journal + `expect: count <= 4}, ` + journal + `expect: count == 1}], clauses: [CMD-5]}`:                      false,
		`{group: [{group: [` + journal + `expect: count <= 4}]}], clauses: [CMD-5]}`:                                               true,
		`{group: [` + journal + `expect: count <= 4}, {call: {path: /echo}, expect: data.n == 3, clauses: [CMD-5]}], name: other}`: false,
		journal + `capture: {n: count}}, {expect: n <= 4, clauses: [CMD-5]}`:                                                       true,
		journal + `capture: {n: count}}, {expect: n < 2, clauses: [CMD-5]}`:                                                        false,
		journal + `capture: {res: it}}, {expect: res.count <= 4, clauses: [CMD-5]}`:                                                true,
		journal + `background: b}, {wait: b, expect: count <= 4, clauses: [CMD-5]}`:                                                true,
		journal + `expect: count <= 4, capture: {n: count}, clauses: [CMD-5]}, {expect: n == 1}`:                                   false,
		journal + `expect: count <= 4, capture: {at: "first.at"}, clauses: [CMD-5]}, {log: "${at}"}`:                               true,
	} {
		f := newFake(t)
		f.lines = []m{{"action": "pulse", "cause": "command", "doorId": "dor_1", "at": "2026-03-01T09:00:00.000Z"}}
		res, out := play(t, f, "steps: ["+steps+"]", Options{})
		if got := res.Files[0]; strings.Contains(got.Reason, "it would have passed as well if") != want {
			t.Errorf("%s\ngot %s %q, want INVALID for another value: %t\n%s", steps, got.Status, got.Reason, want, out)
		}
	}
}
