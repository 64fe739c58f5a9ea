package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// TestIdleExpectations: an expectation that no answer could break makes the file INVALID; one that some answer could
// break counts.
func TestIdleExpectations(t *testing.T) {
	t.Parallel()
	for expect, idle := range map[string]bool{
		`status > 0`:                              true,
		`status >= 100 and status < 600`:          true,
		`status != 599`:                           true,
		`status == 200 or status != 200`:          true,
		`status == status`:                        true,
		`ms >= 0`:                                 true,
		`ms < 3600000`:                            true,
		`headers != nil`:                          true,
		`it != nil`:                               true,
		`len(data) >= 0`:                          true,
		`string(data.n) matches ".*"`:             true,
		`string(data.n) contains ""`:              true,
		`replayed or not replayed`:                true,
		`abs(data.n - 3) <= 1000000000`:           true,
		`type(status) == "int"`:                   true,
		`(data?.nope ?? 5) == 5 or data.n != nil`: false,
		`none([], true)`:                          true,
		`data.name startsWith ""`:                 true,
		`data.name matches ".*"`:                  true,
		`status == 200 or error != nil`:           true,
		`status == 200 or error == "gone"`:        false,
		`let x = true; x`:                         true,
		`status == 200`:                           false,
		`status != 404`:                           true,
		`status in [200, 409, 502, 504]`:          true,
		`ms < 5000`:                               false,
		`data.n == 3`:                             false,
		`data.n >= 2 and data.n <= 4`:             false,
		`data.n > 0`:                              false,
		`data.n != nil`:                           false,
		`data?.nope == nil`:                       false,
		`data.name matches "^A"`:                  false,
		`len(data.name) == 3`:                     false,
		`"n" in data`:                             false,
		`not (json(data) contains "secret")`:      false,
		`data.n == seed + 2`:                      false,
		`data.phone endsWith "5678"`:              false,
		`headers["Content-Type"] contains "json"`: true,
		`all([data.n, data.n], # == 3)`:           false,
		`any([data], .name == "Ann")`:             false,
		`error != "foo"`:                          true,
		`error == nil or error != "x"`:            true,
		`not (json(body) contains "zzzz")`:        true,
		`not (json(body) contains "0109999")`:     false,
		`not (json(data) contains "passwd")`:      false,
		`data.name != "Nobody"`:                   true,
		`data != nil`:                             true,
		`type(data) == "map"`:                     true,
		`len(headers) > 0`:                        true,
		`headers?.foo == nil`:                     true,
		`headers?.Location == nil`:                false,
	} {
		t.Run(expect, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), fmt.Sprintf("steps: [{call: {path: /echo}, expect: %q}]", expect), Options{})
			want, reason := judge.Pass, ""
			if idle {
				want, reason = judge.Invalid, "gives the same result whatever the target answers"
			}
			if got := res.Files[0]; got.Status != want || !strings.Contains(got.Reason, reason) {
				t.Errorf("got %s %q, want %s %q\n%s", got.Status, got.Reason, want, reason, out)
			}
		})
	}
}

// TestIdleRows: an expectation may be idle in some rows of a table but not in all, and one that failed before it held
// has shown that it can fail.
func TestIdleRows(t *testing.T) {
	t.Parallel()
	playsAs(t, nil, map[string]judge.Status{
		`{cases: [{a: 1}, {a: 2}], call: {path: /echo}, expect: row.a == 1 or data.n == 3}`: judge.Pass,
		`{cases: [{a: 1}, {a: 2}], call: {path: /echo}, expect: row.a > 0}`:                 judge.Invalid,
		`{boards: {all: online or not online}}`:                                             judge.Invalid,
		`{call: {path: /echo, times: 3}, expect: len(answers) == 3}`:                        judge.Invalid,
		`{call: {path: /echo, times: 3}, expect: 'count(statuses, # == 200) == 3'}`:         judge.Pass,
		`{call: {path: /echo}, capture: {a: data}}, {expect: a.n == a.n}`:                   judge.Invalid,
		`{call: {path: /echo}, capture: {a: data}}, {expect: a.n == 3}`:                     judge.Pass,
		`{boards: {all: online}}`:                                   judge.Pass,
		`{call: {path: /echo}, expect: status > 1000, never: 20ms}`: judge.Invalid,
		`{call: {path: /echo}, expect: data.n > 1000, never: 20ms}`: judge.Pass,
	})
}

// TestIdleWords: where a field has a closed list of words, an expectation that allows all of them, or excludes only
// other words, is idle. Times aren't treated as words.
func TestIdleWords(t *testing.T) {
	t.Parallel()
	for src, c := range map[string]struct {
		step Step
		own  map[string]any
		idle bool
	}{
		`result in ["opened", "denied"]`:           {Step{Verbs: Verbs{Present: &Present{}}}, map[string]any{"result": "denied"}, true},
		`result == "denied"`:                       {Step{Verbs: Verbs{Present: &Present{}}}, map[string]any{"result": "denied"}, false},
		`result == "opened" or result == "denied"`: {Step{Verbs: Verbs{Phone: &Phone{}}}, map[string]any{"result": "denied"}, false},
		`none(records, .result == "teleported")`:   {Step{}, map[string]any{"records": []any{map[string]any{"result": "opened"}}}, true},
		`none(records, .result == "refused")`:      {Step{}, map[string]any{"records": []any{map[string]any{"result": "opened"}}}, false},
		`outcome != "perhaps"`:                     {Step{}, map[string]any{"outcome": "reported"}, true},
		`all(events, .kind startsWith "entry.")`:   {Step{Verbs: Verbs{Events: &Events{}}}, map[string]any{"events": []any{map[string]any{"kind": "entry.opened"}}}, true},
		`first.kind == "entry.opened"`:             {Step{Verbs: Verbs{Events: &Events{}}}, map[string]any{"first": map[string]any{"kind": "entry.opened"}}, false},
		`first.result in ["opened", "denied"]`:     {Step{Verbs: Verbs{Events: &Events{}}}, map[string]any{"first": map[string]any{"result": "opened"}}, true},
		`all(data, len(.doorState) >= 4)`:          {Step{}, map[string]any{"data": []any{map[string]any{"doorState": "locked"}}}, true},
		`data[0].doorState != "warning"`:           {Step{}, map[string]any{"data": []any{map[string]any{"doorState": "locked"}}}, false},
		`since > ""`:                               {Step{}, map[string]any{"since": "2026-11-01T00:00:00.000Z"}, true},
		`since > "2026-10-01T00:00:00.000Z"`:       {Step{}, map[string]any{"since": "2026-11-01T00:00:00.000Z"}, false},
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			var watch evidence.Watch
			watch.Met(must.Get(expression.Compile(src))(t), true, &StepResult{}, func() evidence.View {
				return evidence.View{Env: c.own, Own: c.own, Words: c.step.words(), Past: &evidence.Past{}, Want: true}
			})
			if got := len(watch.Idle()) > 0; got != c.idle {
				t.Errorf("idle is %t, want %t", got, c.idle)
			}
		})
	}
}

// TestWordsOfTheFile: "the answer doesn't contain this text" is a useful expectation if the file uses that text
// elsewhere.
func TestWordsOfTheFile(t *testing.T) {
	t.Parallel()
	playsAs(t, nil, map[string]judge.Status{
		`{call: {path: /echo}, expect: data.name != "Bob"}`:                                                       judge.Invalid,
		`{call: {path: /echo, body: {name: Bob}}}, {call: {path: /echo}, expect: data.name != "Bob"}`:             judge.Pass,
		`{call: {path: /echo, body: {name: Bobby}}}, {call: {path: /echo}, expect: data.name != "Bob"}`:           judge.Invalid,
		`{call: {path: /echo}, capture: {other: data.name != "Bob"}}, {expect: other}`:                            judge.Invalid,
		`{call: {path: /echo}, expect: data.name != "Bob"}, {call: {path: /echo}, expect: 'data.name != "Bob"'}`:  judge.Invalid,
		`{set: {other: Bob}}, {call: {path: /echo}, expect: "data.name != other"}`:                                judge.Pass,
		`{call: {path: /echo}, expect: 'not (data.name in ["Bob", "Eve"])'}`:                                      judge.Invalid,
		`{call: {path: /echo}, expect: 'not (data.name in ["Bob", "Ann Lee"])'}, {log: Ann Lee isn't in anymore}`: judge.Pass,
	})
}

// TestEvidenceOfAnEarlierTry: what a step of a group found in a try that failed is no evidence in the one that counts.
func TestEvidenceOfAnEarlierTry(t *testing.T) {
	t.Parallel()
	const look = `{journal: {of: "\"brd_1\"", atLeast: 0, all: cause == "command"}, name: look, clauses: [CMD-7]}`
	for name, c := range map[string]struct {
		steps string
		want  judge.Status
	}{
		"only in the first":      {`{group: [{set: {n: "${n + 1}"}}, ` + strings.Replace(look, "atLeast: 0", `atLeast: 0, action: "${n < 2 ? \"pulse\" : \"hold\"}"`, 1) + `, {expect: n >= 2}], within: 5s}`, judge.Invalid},
		"only in the last":       {`{group: [{set: {n: "${n + 1}"}}, ` + strings.Replace(look, "atLeast: 0", `atLeast: 0, action: "${n > 1 ? \"pulse\" : \"hold\"}"`, 1) + `, {expect: n >= 2}], within: 5s}`, judge.Pass},
		"in the row before":      {`{cases: [pulse, hold], group: [{set: {n: "${n + 1}"}}, ` + strings.Replace(look, "atLeast: 0", `atLeast: 0, action: "${row}"`, 1) + `, {expect: "n == 2 or n == 4"}], within: 5s}`, judge.Pass},
		"in neither of the rows": {`{cases: [hold, off], group: [{set: {n: "${n + 1}"}}, ` + strings.Replace(look, "atLeast: 0", `atLeast: 0, action: "${row}"`, 1) + `, {expect: "n == 2 or n == 4"}], within: 5s}`, judge.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.lines = []m{{"action": "pulse", "cause": "command"}}
			res, out := play(t, f, `steps: [{set: {n: 0}}, {call: {path: /echo}}, `+c.steps+`]`, Options{})
			invalid := strings.Contains(out, "it looked at nothing, so it isn't evidence for CMD-7")
			if got := res.Files[0]; invalid != (c.want == judge.Invalid) || got.Status == judge.Fail || got.Status == judge.Blocked {
				t.Errorf("got %s %q, want %s\n%s", got.Status, got.Reason, c.want, out)
			}
		})
	}
}

// TestAbsentFields: what an expectation says of a field that no answer has shows nothing, unless it is that the field is absent.
func TestAbsentFields(t *testing.T) {
	t.Parallel()
	const documents = `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/echo":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":
		{"type":"object","properties":{"success":{"type":"boolean"},"data":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}}}}}}}`
	for expect, want := range map[string]judge.Status{
		`(data?.m ?? 3) == 3`:                  judge.Invalid,
		`data?.m != 4`:                         judge.Invalid,
		`data?.m == nil or data.m == 3`:        judge.Invalid,
		`data?.m == nil`:                       judge.Pass, // a server may show more than it should
		`(data?.m ?? 3) == 3 and data.n == 3`:  judge.Pass,
		`(data?.n ?? 3) == 3 and data?.m != 4`: judge.Pass,
		`data?.n != 4 and data["n"] * 2 == 6`:  judge.Pass,
	} {
		f := newFake(t)
		f.docs = documents
		res, out := play(t, f, fmt.Sprintf("steps: [{call: {path: /echo}, expect: %q}]", expect), Options{})
		said := ""
		for _, s := range res.Files[0].Steps {
			said += s.Detail
		}
		if got := res.Files[0].Status; got != want || strings.Contains(said, `no answer of GET /echo has "m"`) != (want == judge.Invalid) {
			t.Errorf("%s: got %s, want %s and the field named only if the file is INVALID\n%s\n%s", expect, got, want, said, out)
		}
	}
}
