package engine

import (
	"strings"
	"testing"
)

// TestAnotherRefusal: a promise that names a status is broken by another refusal as well as by a success, so a step that
// would take both isn't evidence for it.
func TestAnotherRefusal(t *testing.T) {
	t.Parallel()
	const command = `{command: {door: '"dor_1"'`
	for step, other := range map[string]string{
		command + `}, expect: status >= 400, clauses: [CMD-2]}`:                                                            "502 device_refused",
		command + `, status: [409, 504]}, clauses: [CMD-2]}`:                                                               "504 device_no_response",
		command + `}, expect: [{that: "status in [409, 502]", clauses: [CMD-2]}]}`:                                         "502 device_refused",
		command + `}, expect: "status in [409, 503]", clauses: [CMD-2]}`:                                                   "",
		command + `}, expect: details.reason != "refused" and status != 504, clauses: [CMD-2]}`:                            "",
		command + `, outcome: offline}, clauses: [CMD-2]}`:                                                                 "",
		command + `, status: 409}, clauses: [CMD-2]}`:                                                                      "",
		command + `}, expect: status >= 400, clauses: [CMD-2, LEG-1]}`:                                                     "", // LEG-1 names no status
		command + `}, expect: status >= 400}`:                                                                              "",
		command + `, times: 2}, expect: "all(statuses, # > 400)", clauses: [CMD-2]}`:                                       "502 device_refused",
		command + `, times: 2}, expect: "all(answers, .status == 409)", clauses: [CMD-2]}`:                                 "",
		`{call: {path: /core/v1/auth/apikey/token, times: 3}, expect: "any(statuses, # != 200)", clauses: [AUTH-3]}`:       "401 token_invalid",
		`{call: {path: /core/v1/auth/apikey/token, times: 3}, expect: "count(statuses, # == 429) > 0", clauses: [AUTH-3]}`: "",
	} {
		f := newFake(t)
		f.away409 = true
		if strings.Contains(step, "token") {
			f.limited = 1
		}
		res, out := play(t, f, "steps: ["+step+"]", Options{})
		const why = "another refusal as well ("
		if got := res.Files[0].Reason; strings.Contains(got, why) != (other != "") || other != "" && !strings.Contains(got, why+other) {
			t.Errorf("%s: got %q, want it to take another refusal: %q\n%s", step, got, other, out)
		}
	}
}
