package engine

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// playsAs plays files whose steps are the keys, and compares their verdicts.
func playsAs(t *testing.T, with func(*fake), plays map[string]judge.Status) {
	t.Helper()
	for steps, want := range plays {
		f := newFake(t)
		if with != nil {
			with(f)
		}
		ends(t, f, "steps: ["+steps+"]", want, "")
	}
}

// TestTruismsAnywhere: what is always so is no evidence wherever it is written, and what isn't quite that is.
func TestTruismsAnywhere(t *testing.T) {
	t.Parallel()
	const boards, journal = `{boards: {of: "\"brd_1\""`, `{journal: {of: "\"brd_1\""`
	playsAs(t, func(f *fake) { f.lines = []m{{"action": "pulse", "boot": 1, "at": "2026-03-01T09:00:00.000Z"}} }, map[string]judge.Status{
		boards + `}, expect: "all(boards, .appliedRevision <= .desiredRevision)"}`:                      judge.Invalid,
		boards + `, all: desiredRevision - appliedRevision >= 0}}`:                                      judge.Invalid,
		boards + `}, expect: first.desiredRevision >= first.appliedRevision}`:                           judge.Invalid,
		boards + `}, capture: {b: first}}, {expect: b.desiredRevision >= b.appliedRevision}`:            judge.Invalid,
		boards + `}, expect: "all(boards, .appliedRevision == .desiredRevision)"}`:                      judge.Pass,
		boards + `, all: appliedRevision == desiredRevision}}`:                                          judge.Pass,
		boards + `, all: desiredRevision - appliedRevision == 0}}`:                                      judge.Pass,
		boards + `}, expect: first.desiredRevision > 0}`:                                                judge.Pass,
		boards + `}, expect: first.appliedRevision < 2}`:                                                judge.Pass,
		boards + `, all: not (appliedRevision < desiredRevision)}}`:                                     judge.Pass,
		boards + `}, capture: {d: first.desiredRevision}}, ` + boards + `, all: appliedRevision >= d}}`: judge.Pass,
		journal + `}, expect: "all(lines, .boot >= 1)"}`:                                                judge.Invalid,
		journal + `, all: boot * 2 > 1}}`:                                                               judge.Invalid,
		journal + `}, expect: "all(lines, .boot == 1)"}`:                                                judge.Pass,
		journal + `, all: boot <= 1}}`:                                                                  judge.Pass,
	})
}

// TestChosenElements: what must hold of each element isn't evidence if the file chose the elements by it.
func TestChosenElements(t *testing.T) {
	t.Parallel()
	const line = `"\"brd_1\""`
	playsAs(t, func(f *fake) {
		f.lines = []m{{"action": "pulse", "doorId": "dor_1", "at": "2026-03-01T09:00:00.000Z"}}
	}, map[string]judge.Status{
		`{boards: {of: ` + line + `, all: boardId == "brd_1"}}`:                      judge.Invalid,
		`{boards: {of: ` + line + `, all: placeId == "plc_1" or online}}`:            judge.Invalid,
		`{boards: {of: ` + line + `, all: boardId == "brd_1" and online}}`:           judge.Pass,
		`{boards: {of: ` + line + `, all: online}, expect: first.phase == "online"}`: judge.Pass,
		`{boards: {all: boardId == "brd_1"}}`:                                        judge.Pass,
		`{journal: {of: ` + line + `, all: boardId == "brd_1"}}`:                     judge.Invalid,
		`{journal: {of: ` + line + `, all: doorId == "dor_1"}}`:                      judge.Pass,
		`{journal: {of: "\"dor_1\"", all: doorId == "dor_1"}}`:                       judge.Invalid,
		`{journal: {of: ` + line + `}, expect: first.boardId == "brd_1"}`:            judge.Pass,
	})
}

// TestEmptyMatch: a match from a template is judged by its value.
func TestEmptyMatch(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]judge.Status{
		`call: {path: /nowhere, match: "${any}"}`:                     judge.Invalid,
		`call: {path: /echo, match: "${any}"}`:                        judge.Invalid,
		`call: {path: /nowhere, match: "${wrong}"}`:                   judge.Pass,
		`call: {path: /nowhere, match: "${some}"}`:                    judge.Fail,
		`call: {path: /echo, match: "${some}"}`:                       judge.Pass,
		`call: {path: /echo, match: {data: "${any}"}}`:                judge.Pass,
		`call: {path: /nowhere, match: {error: "${wrong.error}"}}`:    judge.Pass,
		`call: {path: /nowhere, status: 404, match: "${some}"}`:       judge.Fail,
		`call: {path: /nowhere, error: not_found, match: "${wrong}"}`: judge.Pass,
	} {
		source := "vars: {any: {}, some: {data: {n: 3}}, wrong: {error: not_found}}\nsteps: [{" + step + `}, {log: "${any} ${some} ${wrong}"}]`
		res, out := play(t, newFake(t), source, Options{})
		if got := res.Files[0]; got.Status != want || want == judge.Invalid && !strings.Contains(got.Reason, "match is empty") {
			t.Errorf("%s: got %s %q, want %s\n%s", step, got.Status, got.Reason, want, out)
		}
	}
}

// TestBackgroundResults: the result of a step in the background is one answer, by its name as well.
func TestBackgroundResults(t *testing.T) {
	t.Parallel()
	const lines, echo = `{journal: {of: "\"brd_1\""}, background: p}, {wait: p}, `, `{call: {path: /echo}, background: p}, {wait: p}, `
	playsAs(t, nil, map[string]judge.Status{
		lines + `{expect: p.count == len(p.lines)}`:                                                                      judge.Invalid,
		lines + `{expect: p.count < 1000}`:                                                                               judge.Invalid,
		lines + `{expect: p.count == 0}`:                                                                                 judge.Pass,
		lines + `{expect: len(p.lines) < 3}`:                                                                             judge.Pass,
		echo + `{expect: p.body.data == p.data}`:                                                                         judge.Invalid,
		echo + `{expect: p.data.n == 3}`:                                                                                 judge.Pass,
		echo + `{expect: p.status == 200}`:                                                                               judge.Pass,
		echo + `{call: {path: /echo}, background: q}, {wait: q}, {expect: p.data == q.data}`:                             judge.Pass,
		`{call: {path: /echo}, background: p, capture: {a: data.n}}, {wait: p}, {expect: a == p.data.n}`:                 judge.Invalid,
		`{call: {path: /echo}, background: p, capture: {a: data.n}}, {wait: p}, {expect: a == 3}`:                        judge.Pass,
		`{cases: [1, 2], group: [{call: {path: /echo}, background: p}, {wait: p}, {expect: p.data.n == 3 and row < 3}]}`: judge.Pass,
	})
}

// TestSeveralAnswers: the answers of a repeated request agree with what is derived from them, and a claim at them must
// tell a success from a refusal.
func TestSeveralAnswers(t *testing.T) {
	t.Parallel()
	const three, nowhere = `{command: {door: "\"dor_1\"", key: k, times: 3}, `, `{call: {path: /nowhere, times: 2}, `
	playsAs(t, nil, map[string]judge.Status{
		three + `expect: "fresh + count(answers, .replayed) == len(answers)"}`:                              judge.Invalid,
		three + `expect: "count(answers, .replayed) == 2"}`:                                                 judge.Pass,
		three + `expect: fresh == 1}`:                                                                       judge.Pass,
		three + `expect: "fresh == 1 and len(answers) == 3"}`:                                               judge.Pass,
		three + `expect: "all(answers, .status == 200)"}`:                                                   judge.Pass,
		three + `expect: "all(answers, .status < 600)"}`:                                                    judge.Invalid,
		three + `expect: "all(answers, .status < 500)"}`:                                                    judge.Invalid, // fits a refusal as well
		three + `expect: "answers[0].data.commandId == answers[2].data.commandId"}`:                         judge.Pass,
		three + `expect: "answers[0].data == data"}`:                                                        judge.Invalid,
		three + `expect: "all(answers, .data.outcome == 'reported')"}`:                                      judge.Pass,
		three + `expect: same}`:                                                                             judge.Pass,
		nowhere + `expect: "answers[0].status == status"}`:                                                  judge.Invalid,
		nowhere + `expect: "len(answers) == 2 and answers[1].status == statuses[1]"}`:                       judge.Invalid,
		nowhere + `expect: "answers[1].status == 404"}`:                                                     judge.Pass,
		nowhere + `expect: "answers[0].body == answers[1].body"}`:                                           judge.Pass,
		nowhere + `expect: "not (json(answers) contains 'secret')"}`:                                        judge.Pass,
		nowhere + `expect: status == 404, capture: {r: it}}, {expect: "r.answers[0].status == r.status"}`:   judge.Invalid,
		nowhere + `expect: status == 404, capture: {r: it}}, {expect: "r.answers[0].error == 'not_found'"}`: judge.Pass,
	})
	for expect, want := range map[string]bool{`all(answers, .status < 500)`: true, `all(answers, .data.outcome == "reported")`: false, `count(answers, .status == 200) == 3`: false} {
		source := "steps: [" + three + `expect: '` + expect + `', clauses: [CMD-1]}]`
		res, out := play(t, newFake(t), source, Options{})
		if got := res.Files[0]; strings.Contains(got.Reason, "opposite answer") != want {
			t.Errorf("%s: got %s %q, want it refused: %t\n%s", expect, got.Status, got.Reason, want, out)
		}
	}
}

// TestPresentations: without an expected result or reason nothing is unexpected, and every presentation has a reason.
func TestPresentations(t *testing.T) {
	t.Parallel()
	const ann = `{permit: {person: ann, place: "\"plc_1\""}}, {present_each: {people: ann, doors: "\"dor_1\""`
	playsAs(t, nil, map[string]judge.Status{
		ann + `}, expect: len(reasons) >= 1}`:                                         judge.Invalid,
		ann + `}, expect: len(reasons) == 1}`:                                         judge.Pass,
		ann + `}, expect: results.denied == 1}`:                                       judge.Pass,
		ann + `}, expect: results?.opened == nil}`:                                    judge.Pass,
		ann + `}, expect: reasons.no_valid_grant == count}`:                           judge.Pass,
		ann + `, result: denied}}`:                                                    judge.Pass,
		ann + `, result: denied}, expect: unexpected == 0}`:                           judge.Pass,
		ann + `, result: denied}, background: p}, {wait: p, expect: unexpected == 0}`: judge.Pass,
	})
	for step, bad := range map[string]bool{
		ann + `}, expect: unexpected == 0}`:                                 true,
		ann + `}, expect: it.unexpected == 0}`:                              true,
		ann + `}, capture: {u: unexpected}}, {expect: u == 0}`:              true,
		ann + `}, background: p}, {wait: p, expect: unexpected == 0}`:       true,
		ann + `, reason: revoked}, expect: unexpected == 0}`:                false,
		ann + `}, capture: {unexpected: count}}, {expect: unexpected == 1}`: false,
	} {
		_, err := Parse("one.yaml", []byte("steps: ["+step+"]"))
		if got := err != nil && strings.Contains(err.Error(), "unexpected counts"); got != bad {
			t.Errorf("%s: got %v, want it refused: %t", step, err, bad)
		}
	}
}
