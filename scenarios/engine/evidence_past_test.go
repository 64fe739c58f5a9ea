package engine

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestFixedNames: what the file itself fixes (vars, the columns of a table) is never another value, so an expectation
// that could only be broken by changing it is idle, under whatever names.
func TestFixedNames(t *testing.T) {
	t.Parallel()
	const get = `{call: {path: /echo}, capture: {a: data.n}}, `
	const two = `{call: {path: /echo}, capture: {a: data.n, n: data.n}}, `
	const brd = `"\"brd_1\""`
	for steps, want := range map[string]judge.Status{
		get + `{set: {b: "${a + k}"}}, {expect: b - k == a}`:                                         judge.Invalid,
		get + `{set: {b: "${a + k}"}}, {expect: b == 4}`:                                             judge.Pass,
		get + `{set: {b: "${a + k}"}}, {expect: b > k}`:                                              judge.Pass,
		get + `{set: {b: "${a + one.count}"}}, {expect: b == a + one.count}`:                         judge.Invalid,
		get + `{set: {same: "${a == four}"}}, {expect: not same}`:                                    judge.Pass,
		get + `{expect: a == four, never: 20ms}`:                                                     judge.Pass,
		get + `{expect: a != four}`:                                                                  judge.Pass,
		get + `{set: {total: "${total + a}"}}, {expect: total == a}`:                                 judge.Invalid,
		get + `{set: {total: "${total + a}"}}, {expect: total == 3}`:                                 judge.Pass,
		two + `{set: {n: "${n + 1}"}}, {expect: n - 1 == a}`:                                         judge.Invalid,
		two + `{set: {n: "${n + 1}"}}, {expect: n == 4 and a < 4}`:                                   judge.Pass,
		two + `{call: {path: /echo}, capture: {n: n + data.n}}, {expect: n == 6 and a < 4}`:          judge.Pass,
		two + `{call: {path: /echo}, capture: {n: n + data.n}}, {expect: n > a}`:                     judge.Pass,
		two + `{call: {path: /echo}, capture: {n: n + 0 * data.n}}, {expect: n == a}`:                judge.Invalid,
		`{call: {path: /echo}, capture: {a: data.n, b: a + 1}}, {expect: b - 1 == a}`:                judge.Invalid,
		`{call: {path: /echo}, capture: {a: data.n, b: a + 1}}, {expect: b == 4}`:                    judge.Pass,
		`{cases: [{total: 3}], boards: {of: ` + brd + `}, expect: total == 3}`:                       judge.Invalid,
		`{cases: [{result: denied}], records: {place: "\"plc_1\""}, expect: result == "denied"}`:     judge.Invalid,
		`{cases: [{total: 3}], boards: {of: ` + brd + `, all: total == 3}}`:                          judge.Invalid,
		`{cases: [{n: 3, total: 2}], call: {path: /list}, expect: total == row.total}`:               judge.Pass,
		`{cases: [{total: 0}], boards: {of: ` + brd + `}, expect: first.appliedRevision > total}`:    judge.Pass,
		`{cases: [{total: 3}], group: [` + get + `{boards: {of: ` + brd + `}, expect: total == a}]}`: judge.Pass,
	} {
		source := "vars: {k: 1, four: 4, total: 0}\nsetup: [{cohort: {name: one, boards: 1}}]\nsteps: [" + steps + `, {log: "${k} ${four} ${total ?? 0}"}]`
		ends(t, newFake(t), source, want, "")
	}
}
