package engine

import (
	"strings"
	"testing"
)

// strict is a document with one operation that needs a header and a short body.
const strict = `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/device/v1/doors/{id}/move":{"post":{
	"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}},{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string"}}],
	"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["command"],"additionalProperties":false,"properties":{"command":{"type":"string","enum":["open"]}}}}}},
	"responses":{"200":{"description":""},"404":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`

// TestRefusedAnyway: what is refused for its key or its link, and would be refused with any, is evidence only if the step
// tells the two refusals apart.
func TestRefusedAnyway(t *testing.T) {
	t.Parallel()
	const token = `{call: {path: /core/v1/auth/apikey/token, method: POST, token: "", body: {key: x}}, capture: {tok: data.accessToken}}, `
	for step, anyway := range map[string]bool{
		`{call: {path: /device/v1/doors/dor_9/move, place: plc_1, body: {command: open}}, expect: status >= 400, clauses: [AUTH-4]}`:                                           true, // without its key
		`{call: {path: /device/v1/doors/dor_9/move, place: plc_1, body: {command: fly}, headers: {Idempotency-Key: k}}, expect: status >= 400, clauses: [AUTH-4]}`:             true,
		`{call: {path: /device/v1/doors/dor_9/move, place: plc_1, body: {command: fly}, headers: {Idempotency-Key: k}}, expect: status >= 400}`:                                true, // of the file's own claim
		`{call: {path: /device/v1/doors/dor_9/move, place: plc_1, body: {command: fly}, headers: {Idempotency-Key: k}, status: 404}, clauses: [AUTH-4]}`:                       false,
		`{call: {path: /device/v1/doors/dor_9/move, place: plc_1, body: {command: open}, headers: {Idempotency-Key: k}}, expect: status >= 400, clauses: [AUTH-4]}`:            false,
		`{call: {path: /device/v1/doors/dor_9/move, place: plc_1, body: {command: fly}, headers: {Idempotency-Key: k}}, expect: status >= 400, clauses: [AUTH-2, AUTH-4]}`:     false, // it may show the other
		token + `{call: {path: /device/v1/doors/dor_9/move, token: "${tok}", body: {command: open}, headers: {Idempotency-Key: k}}, expect: status >= 400, clauses: [AUTH-5]}`: true,  // there is no such door
		token + `{call: {path: /device/v1/doors/dor_1/move, token: "${tok}", body: {command: open}, headers: {Idempotency-Key: k}}, expect: status >= 400, clauses: [AUTH-5]}`: false,
		token + `{call: {path: /space/v1/partner/entry-permits/pmt_9, token: "${tok}"}, expect: "status in [401, 404]", clauses: [AUTH-5]}`:                                    true,
		token + `{set: {id: pmt_9}}, {call: {path: "/space/v1/partner/entry-permits/${id}", token: "${tok}"}, expect: "status in [401, 404]", clauses: [AUTH-5]}`:              false,
		token + `{call: {path: /core/v1/places/plc_2/events, token: "${tok}"}, expect: status >= 400, clauses: [AUTH-5]}`:                                                      true,
		token + `{call: {path: /core/v1/places/plc_1/events, token: "${tok}"}, expect: status >= 400, clauses: [AUTH-5]}`:                                                      false,
		`{call: {path: /entry/open, method: POST, token: "", body: {t: x, doorId: dor_9}, status: 404}, clauses: [PERM-4]}`:                                                    true, // nobody has that door
		`{call: {path: /entry/open, method: POST, token: "", body: {t: x, doorId: dor_1}, status: 404}, clauses: [PERM-4]}`:                                                    false,
		`{permit: {person: ann, place: plc_1}}, {link: {person: ann, door: dor_9, status: 404}, clauses: [PERM-4]}`:                                                            true, // a door of another place
		`{permit: {person: ann, place: plc_1}}, {link: {person: ann, door: dor_9, status: 404, error: not_found}, clauses: [PERM-4]}`:                                          false,
		`{permit: {person: ann, place: plc_1}}, {link: {person: ann, door: dor_1, status: 404}, clauses: [PERM-4]}`:                                                            false,
	} {
		f := newFake(t)
		f.docs = strict
		clauses := "[AUTH-4]"
		if strings.Contains(step, "clauses:") {
			clauses = "[]"
		}
		res, out := play(t, f, "clauses: "+clauses+"\nsteps: ["+step+"]", Options{})
		told := strings.Contains(res.Files[0].Reason, "refused anyway")
		if !strings.Contains(step, "clauses:") { // the step asserts nothing, so nothing in the file does
			told = strings.Contains(res.Files[0].Reason, "nothing was checked")
		}
		if told != anyway {
			t.Errorf("%s: got %s %q, want it refused: %t\n%s", step, res.Files[0].Status, res.Files[0].Reason, anyway, out)
		}
	}
}
