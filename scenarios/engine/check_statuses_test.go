package engine

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestImpliedStatus: a command's status must be right without being asked for, so a plain command is evidence like any
// other request, wherever it is; and so is what a wait or a group expects. What can't fail is none there, either.
func TestImpliedStatus(t *testing.T) {
	t.Parallel()
	const open, look = `command: {door: "\"dor_1\""}`, `present: {phone: "\"01011112222\"", door: "\"dor_1\""}`
	playsAs(t, nil, map[string]judge.Status{
		`{` + open + `}`:                                                                                         judge.Pass,
		`{group: [{` + open + `}]}`:                                                                              judge.Pass,
		`{parallel: [{` + open + `}, {log: a}]}`:                                                                 judge.Pass,
		`{cases: [1, 2], ` + open + `}`:                                                                          judge.Pass,
		`{` + open + `, background: b}, {wait: b}`:                                                               judge.Pass,
		`{` + open + `, capture: {x: data.outcome}}, {expect: x == "reported"}`:                                  judge.Pass,
		`{` + open + `, background: b}, {wait: b, expect: status == 200}`:                                        judge.Pass,
		`{` + look + `, background: b}, {wait: b, expect: result == "denied"}`:                                   judge.Pass,
		`{` + look + `, capture: {x: result}}, {group: [{log: a}], expect: x == "denied"}`:                       judge.Pass,
		`{` + look + `, background: b}, {wait: b}`:                                                               judge.Invalid,
		`{` + look + `, background: b}, {wait: b, expect: 1 < 2}`:                                                judge.Invalid,
		`{` + look + `, background: b}, {wait: b, expect: "result in [\"denied\", \"opened\"]"}`:                 judge.Invalid,
		`{` + look + `, background: b, capture: {a: result}}, {wait: b, expect: result == a}`:                    judge.Invalid,
		`{` + look + `, background: b, capture: {a: result}}, {wait: b, capture: {c: result}}, {expect: a == c}`: judge.Invalid,
		`{call: {path: /livez}, background: b}, {wait: b, expect: status == 200}`:                                judge.Invalid,
		`{clock: {advance: 1s}, background: b}, {wait: b, expect: state == "ready"}`:                             judge.Invalid,
		`{journal: {of: "\"brd_1\""}, background: b}, {wait: b, expect: count >= 0}`:                             judge.Invalid,
		`{boards: {of: "\"brd_1\""}, background: b}, {wait: b, expect: count == 1}`:                              judge.Invalid,
		`{log: a, background: b}, {wait: b}`:                                                                     judge.Invalid,
		`{` + look + `, background: b}, {cases: [], atLeast: 0, expect: status == 200}, {wait: b}`:               judge.Invalid,
		`{group: [{log: a}], expect: 1 < 2}`:                                                                     judge.Invalid,
		`{` + open + `, expect: status > 0}`:                                                                     judge.Invalid,
		`{` + open + `, if: seed == 99}, {log: a}`:                                                               judge.Invalid,
		`{cases: [], atLeast: 0, ` + open + `}, {log: a}`:                                                        judge.Invalid,
		`{command: {door: "\"dor_1\"", times: 2}, expect: len(answers) == 2}`:                                    judge.Invalid,
	})
}
