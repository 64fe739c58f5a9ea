package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestEitherWay: an expectation about the status that a success meets as well as a refusal is no evidence, and a claim
// at it makes the file INVALID.
func TestEitherWay(t *testing.T) {
	t.Parallel()
	for expect, both := range map[string]bool{
		`status != 500`:                                   true,
		`status < 500`:                                    true,
		`status in [200, 404]`:                            true,
		`status == 200 or status == 404`:                  true,
		`error != "device_offline"`:                       true,
		`data?.nope != "offline" and status != 500`:       true,
		`status == 200 ? data.n == 3 : true`:              true,
		`body?.success != false`:                          true,
		`body?.data != nil or body?.error != nil`:         true,
		`(data?.nope ?? 5) == 5 and status < 1000`:        true,
		`status == 200`:                                   false,
		`status == 200 and data.n == 3`:                   false,
		`error == nil`:                                    false,
		`status in [200, 404] and data.n == 3`:            false,
		`status == 200 or data?.n == 3`:                   false,
		`not (json(body) contains "0109999")`:             false,
		`data.n == 3`:                                     false,
		`data?.nope == nil`:                               false,
		`int(status / 100) == 2 and error != "not_found"`: false,
	} {
		for _, claims := range []string{"", ", clauses: [AUTH-1]"} {
			source := fmt.Sprintf("steps: [{call: {path: /echo}, expect: data.n == 3}, {call: {path: /echo}, expect: %q%s}]", expect, claims)
			res, out := play(t, newFake(t), source, Options{})
			told := strings.Contains(res.Files[0].Reason, "opposite answer")
			if got := res.Files[0]; told != (both && claims != "") || claims == "" && got.Status != judge.Pass {
				t.Errorf("%s%s: got %s %q, want INVALID for the opposite answer: %t\n%s", expect, claims, got.Status, got.Reason, both && claims != "", out)
			}
		}
		res, out := play(t, newFake(t), fmt.Sprintf("steps: [{call: {path: /echo}, expect: %q}]", expect), Options{})
		if got := res.Files[0]; (got.Status == judge.Invalid) != both {
			t.Errorf("%s alone: got %s %q, want INVALID: %t\n%s", expect, got.Status, got.Reason, both, out)
		}
	}
}

// TestUnknownAfterADeath: a command that was in progress when something died ends in success or as unknown, and both are right for
// CMD-6, but not for another guarantee, and no other refusal is.
func TestUnknownAfterADeath(t *testing.T) {
	t.Parallel()
	const either, expects = "status: [200, 504]", "expect: 'status in [200, 504]'"
	for step, want := range map[string]string{
		"{call: {path: /echo}, " + expects + ", clauses: [CMD-6]}":                          "",
		"{call: {path: /echo}, " + expects + ", clauses: [CMD-5, CMD-6]}":                   "opposite answer",
		"{call: {path: /echo}, expect: 'status in [200, 409]', clauses: [CMD-6]}":           "opposite answer",
		"{call: {path: /echo}, expect: 'status in [200, 409, 504]', clauses: [CMD-6]}":      "opposite answer",
		"{call: {path: /echo}, expect: status != 500, clauses: [CMD-6]}":                    "opposite answer",
		"{call: {path: /echo}, expect: [{that: 'status in [200, 504]', clauses: [CMD-6]}]}": "",
		"{call: {path: /echo}, expect: [{that: 'status in [200, 504]', clauses: [CMD-1]}]}": "opposite answer",
		"{command: {door: '\"dor_1\"', key: k, " + either + "}, clauses: [CMD-6]}":          "",
		"{command: {door: '\"dor_1\"', key: k, " + either + "}, clauses: [CMD-6, CMD-4]}":   "fits a success as well as a refusal",
		"{command: {door: '\"dor_1\"', key: k, status: [200, 409]}, clauses: [CMD-6]}":      "fits a success as well as a refusal",
		"{command: {door: '\"dor_1\"', key: k, status: [200, 409, 504]}, clauses: [CMD-6]}": "every answer would match",
	} {
		d, err := Parse("one.yaml", []byte("steps: ["+step+"]"))
		got := ""
		if err != nil {
			got = err.Error()
		} else if d != nil {
			res, _ := play(t, newFake(t), "steps: ["+step+"]", Options{})
			got = res.Files[0].Reason
		}
		if want == "" && (strings.Contains(got, "opposite") || strings.Contains(got, "as well as")) || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", step, got, want)
		}
	}
}

// TestEitherWayOfARefusal: what a refusal meets may not be met by a success.
func TestEitherWayOfARefusal(t *testing.T) {
	t.Parallel()
	for step, both := range map[string]bool{
		`{call: {path: /nowhere}, expect: status >= 400}`:                                                      false,
		`{call: {path: /nowhere}, expect: "status == 404 or status == 200"}`:                                   true,
		`{call: {path: /nowhere}, expect: error != "rate_limited"}`:                                            true,
		`{call: {path: /nowhere}, expect: status == 200, never: 20ms}`:                                         false,
		`{call: {path: /nowhere}, expect: "status == 404 and error == nil", never: 20ms}`:                      true,
		`{cases: [{p: /nowhere}, {p: /echo}], call: {path: "${p}"}, expect: status < 500}`:                     true,
		`{call: {path: /echo}, background: b}, {wait: b, expect: "status in [200, 404]"}`:                      false, // the request must succeed
		`{call: {path: /echo, status: [200, 404]}, background: b}, {wait: b, expect: "status in [200, 404]"}`:  true,
		`{call: {path: /nowhere, status: [200, 404]}, capture: {s: status}}, {expect: "s in [200, 404]"}`:      true,
		`{call: {path: /nowhere, status: [200, 404]}, capture: {s: status}}, {expect: "s == 404"}`:             false,
		`{call: {path: /nowhere, status: [200, 404]}, capture: {r: it}}, {expect: "r.error == \"not_found\""}`: false,
		`{call: {path: /nowhere, status: 404}, capture: {s: status}}, {expect: "s == 404"}`:                    false,
		`{call: {path: /echo, times: 3}, expect: "all(statuses, # in [200, 409])"}`:                            true,
		`{call: {path: /echo, times: 3}, expect: "len(uniq(statuses)) == 1"}`:                                  false,
		`{call: {path: /echo, times: 3}, expect: "count(statuses, # == 200) == 3"}`:                            false,
		`{call: {path: /echo, status: [200, 409]}, expect: status != 500}`:                                     true,
		`{group: [{call: {path: /echo}, expect: status < 500}, {log: x}]}`:                                     true,
		`{group: [{call: {path: /echo}, expect: status < 500}, {call: {path: /echo}}]}`:                        false,
		`{cases: [{s: 200}], call: {path: /echo, status: "${s}"}, expect: "status in [s, 4]"}`:                 false,
		`{call: {path: /nowhere}, expect: "status == 404 or data.expiresIn == 900"}`:                           true,
		`{call: {path: /nowhere}, expect: "status == 404 or data.placeId == target.http"}`:                     true,
		`{call: {path: /nowhere}, expect: "status == 200 ? len(data.scopes) > 0 : status == 404"}`:             true,
		`{call: {path: /nowhere}, expect: "status == 404 or data.n == 1 and data.n == 2"}`:                     false,
		`{call: {path: /nowhere, status: 404}, expect: "error == \"not_found\" or data.n == 3"}`:               false,
		`{call: {path: /echo}, expect: "data?.n == 3 or error == \"invalid_api_key\""}`:                        true,
	} {
		res, out := play(t, newFake(t), "steps: ["+step+"]", Options{})
		if got := res.Files[0]; (got.Status == judge.Invalid) != both || got.Status == judge.Blocked {
			t.Errorf("%s: got %s %q, want INVALID: %t\n%s", step, got.Status, got.Reason, both, out)
		}
	}
}

// TestGroupOfNothing: a group that claims something needs a step in it that asserts something, not only one that would have
// passed with the opposite answer as well.
func TestGroupOfNothing(t *testing.T) {
	t.Parallel()
	const either = `{call: {path: /nowhere}, expect: "status in [200, 404]"}`
	for inside, bad := range map[string]bool{either: true, either + `, {call: {path: /nowhere, status: 404}}`: false} {
		res, out := play(t, newFake(t), `steps: [{call: {path: /echo}}, {group: [`+inside+`], clauses: [AUTH-1]}]`, Options{})
		if got := res.Files[0]; strings.Contains(got.Reason+out, "no step in it asserts anything") != bad || bad && got.Status != judge.Invalid {
			t.Errorf("%s: got %s %q, want it refused: %t\n%s", inside, got.Status, got.Reason, bad, out)
		}
	}
}

// TestSomeRefused: where some of a step's requests succeeded and some were refused, how many may be an expectation: it could
// fail if all were answered alike.
func TestSomeRefused(t *testing.T) {
	t.Parallel()
	for expect, both := range map[string]bool{
		"count(statuses, # == 429) >= 2":           false,
		"len(filter(statuses, # == 200)) <= 3":     false,
		"any(answers, .error == \"rate_limited\")": false,
		"all(statuses, # in [200, 429])":           true,
		"none(statuses, # == 500)":                 true,
	} {
		f := newFake(t)
		f.limited = 2
		res, out := play(t, f, fmt.Sprintf(`steps: [{call: {method: POST, token: "", path: /core/v1/auth/apikey/token, body: {key: k}, times: 5}, expect: %q}]`, expect), Options{})
		if got := res.Files[0]; (got.Status == judge.Invalid) != both || got.Status == judge.Blocked {
			t.Errorf("%s: got %s %q, want INVALID: %t\n%s", expect, got.Status, got.Reason, both, out)
		}
	}
}

// TestStatusListsFromTemplates: a list of statuses is judged by its values, not by how it is written.
func TestStatusListsFromTemplates(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		`["${200}", "${409}", "${502}"]`:        "every answer would match",
		`["${200}", 502, "${504}"]`:             "every answer from a board",
		`["${ok}", "${no}"]`:                    "fits a success as well as a refusal",
		`["${200}"]`:                            "",
		`"${ok}"`:                               "",
		`["${ok}", "${204}"]`:                   "",
		`["${ok}", "${no}"], match: {data: {}}`: "",
	} {
		source := "vars: {ok: 200, no: 409}\nsteps: [{call: {path: /echo}, expect: data.n == 3}, {call: {path: /echo, status: " + status + "}, clauses: [AUTH-1]}]"
		res, out := play(t, newFake(t), source, Options{})
		got := res.Files[0]
		refused := strings.Contains(got.Reason, "would match") || strings.Contains(got.Reason, "as well as")
		if refused != (want != "") || !strings.Contains(got.Reason, want) {
			t.Errorf("%s: got %s %q, want %q in it\n%s", status, got.Status, got.Reason, want, out)
		}
	}
	for _, status := range []string{`[200, 409]`, `["${200}", "${409}"]`} {
		res, out := play(t, newFake(t), "steps: [{call: {path: /echo, status: "+status+"}}]", Options{})
		if got := res.Files[0]; got.Status != judge.Invalid || !strings.Contains(got.Reason, "nothing was checked") {
			t.Errorf("%s alone: got %s %q, want INVALID: nothing was checked\n%s", status, got.Status, got.Reason, out)
		}
	}
}

// TestBoundsThatCannotBreak: a bound far beyond what was found, a header that every answer has, and two names for parts
// of one answer say nothing.
func TestBoundsThatCannotBreak(t *testing.T) {
	t.Parallel()
	for step, idle := range map[string]bool{
		`{call: {path: /echo}, expect: 'headers["Content-Type"] contains "json"'}`:                             true,
		`{call: {path: /echo}, expect: ms < 15000}`:                                                            true,
		`{call: {path: /echo}, expect: ms < 10000}`:                                                            false,
		`{call: {path: /echo}, expect: ms < 7000}`:                                                             false,
		`{journal: {of: "\"brd_1\""}, expect: count < 1000}`:                                                   true,
		`{journal: {of: "\"brd_1\""}, expect: count <= 3}`:                                                     false,
		`{journal: {of: "\"brd_1\""}, expect: count == 0}`:                                                     false,
		`{journal: {of: "\"brd_1\""}, expect: count > 500, never: 20ms}`:                                       true,
		`{journal: {of: "\"brd_1\""}, capture: {a: count, b: len(lines)}}, {expect: a == b}`:                   true,
		`{journal: {of: "\"brd_1\""}, capture: {a: count}}, {expect: a == 0}`:                                  false,
		`{journal: {of: "\"brd_1\""}, capture: {a: "count(lines, .boot == 1)", b: count}}, {expect: "a == b"}`: false,
	} {
		res, out := play(t, newFake(t), "steps: ["+step+"]", Options{})
		if got := res.Files[0]; (got.Status == judge.Invalid) != idle || got.Status == judge.Blocked {
			t.Errorf("%s: got %s %q, want INVALID: %t\n%s", step, got.Status, got.Reason, idle, out)
		}
	}
}

// TestClaimsOfOtherEndings: how a command must end rules out the guarantees about its other endings.
func TestClaimsOfOtherEndings(t *testing.T) {
	t.Parallel()
	for step, clause := range map[string]string{
		"{command: {door: a, outcome: reported}, clauses: [CMD-1, CMD-2]}":                                                                "CMD-2",
		"{command: {door: a, status: 200}, clauses: [CMD-3]}":                                                                             "CMD-3",
		"{command: {door: a, error: device_offline}, clauses: [CMD-2, CMD-3]}":                                                            "CMD-3",
		"{command: {door: a, outcome: reported}, clauses: [CMD-1, CMD-5]}":                                                                "CMD-5",
		"{command: {door: a, key: k, outcome: reported}, clauses: [CMD-5]}":                                                               "",
		"{command: {door: a, outcome: offline}, clauses: [CMD-2]}":                                                                        "",
		"{command: {door: a, status: '${s}'}, clauses: [CMD-2, CMD-3]}":                                                                   "",
		"{call: {path: /device/v1/devices, token: forged, status: 401}, clauses: [AUTH-2, AUTH-3]}":                                       "AUTH-3",
		"{call: {path: /core/v1/auth/apikey/token, body: {key: x}, status: 429}, clauses: [AUTH-3]}":                                      "",
		"{call: {path: /space/v1/partner/entry-permits, place: a}, expect: total >= 2, clauses: [PERM-7]}":                                "",
		"{call: {path: /space/v1/partner/entry-permits, place: a}, expect: 'data[0].name == \"Ann\"', clauses: [PERM-7]}":                 "PERM-7",
		"{call: {path: /space/v1/partner/entry-permits, place: a}, expect: 'all(data, .state == \"active\")', clauses: [PERM-7]}":         "",
		"{call: {path: /space/v1/partner/entry-permits/x, place: a}, expect: data.state == \"active\", clauses: [PERM-7, PERM-5]}":        "PERM-5",
		"{call: {path: '/space/v1/partner/entry-permits?externalRef=x', place: a}, expect: total == 0, clauses: [PERM-5, PERM-6]}":        "",
		"{call: {path: /space/v1/partner/entry-permits/x, place: a}, expect: 'data.doorIds == [1]', clauses: [PERM-6], capture: {x: it}}": "",
	} {
		_, err := Parse("one.yaml", []byte("setup: [{cohort: {name: a}}, {set: {s: 409}}]\nsteps: ["+step+", {log: '${x ?? s}'}]"))
		if clause == "" && err != nil && strings.Contains(err.Error(), "isn't evidence") {
			t.Errorf("%s: got %v, want no problem with its clauses", step, err)
		}
		if clause != "" && (err == nil || !strings.Contains(err.Error(), "isn't evidence for "+clause+":")) {
			t.Errorf("%s: got %v, want %s refused", step, err, clause)
		}
	}
}

// TestOppositeOfSeveral: the opposite of an answer among several is a success for a refusal, whatever the first answer was.
func TestOppositeOfSeveral(t *testing.T) {
	t.Parallel()
	refusal, success := &answer{Status: 429}, &answer{Status: 200}
	for _, c := range []struct {
		a    *answer
		was  float64
		want int
	}{{refusal, 200, 429}, {refusal, 429, 200}, {refusal, 302, 200}, {success, 409, 200}, {success, 201, 409}} {
		if got := c.a.insteadOf(c.was); got.Status != c.want {
			t.Errorf("%d in place of %v: got %d, want %d", c.a.Status, c.was, got.Status, c.want)
		}
	}
}
