package engine

import (
	"maps"
	"slices"
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
	const exchange = `{call: {path: /core/v1/auth/apikey/token, method: POST, token: "", body: {key: revoked}`
	const ann = `{permit: {person: ann, place: plc_1}}, `
	move := func(door, who, body, rest string) string {
		return `{call: {path: /device/v1/doors/` + door + `/move, ` + who + `, body: {command: ` + body + `}` + rest + `}`
	}
	const place, held, keyed, wide = "place: plc_1", `token: "${tok}"`, ", headers: {Idempotency-Key: k}", "}, expect: status >= 400"
	for step, want := range map[string]string{
		move("dor_9", place, "open", wide):                                                                               "AUTH-4 AUTH-5", // without its key
		move("dor_9", place, "fly", keyed+wide):                                                                          "AUTH-4 AUTH-5",
		move("dor_9", place, "fly", keyed+", status: 404}"):                                                              "",
		move("dor_9", place, "open", keyed+wide):                                                                         "",
		move("dor_9", place, "open", wide+", capture: {found: error}") + ", {expect: found == 'not_found'}":              "",       // it is looked at later
		token + move("dor_9", held, "open", keyed+wide):                                                                  "AUTH-5", // there is no such door
		token + move("dor_1", held, "open", keyed+wide):                                                                  "",
		token + `{call: {path: /space/v1/partner/entry-permits/pmt_9, token: "${tok}"}, expect: "status in [401, 404]"}`: "AUTH-5",
		token + `{call: {path: /space/v1/partner/entry-permits/revoke, method: POST, body: {permitId: pmt_9}, token: "${tok}"}, expect: status >= 400}`:                                                   "", // no permit's path
		token + `{set: {id: pmt_9}}, {call: {path: "/space/v1/partner/entry-permits/${id}", token: "${tok}"}, expect: "status in [401, 404]"}`:                                                            "",
		token + `{call: {path: /core/v1/places/plc_2/events, token: "${tok}"}, expect: status >= 400}`:                                                                                                    "AUTH-5",
		token + `{call: {path: /core/v1/places/plc_1/events, token: "${tok}"}, expect: status >= 400}`:                                                                                                    "",
		`{permit: {person: bob, place: plc_1, from: now, to: +721h, status: [404, 409]}}`:                                                                                                                 "PERM-6", // too long with any doors
		`{permit: {person: bob, place: plc_1, from: now, to: +721h, status: 404}}`:                                                                                                                        "",
		`{permit: {person: bob, place: plc_1, from: now, to: +720h, status: [404, 409]}}`:                                                                                                                 "",
		`{permit: {person: bob, place: plc_1, from: now, to: now, status: [400, 404]}}`:                                                                                                                   "PERM-6", // ends when it begins
		`{call: {path: /space/v1/partner/entry-permits, method: POST, body: {name: bob, doorIds: [], startsAt: "2026-01-01T00:00:00Z", endsAt: "2026-01-01T00:00:00Z"}}, expect: "status in [400, 404]"}`: "AUTH-4 AUTH-5 PERM-6",
		`{call: {path: /space/v1/partner/entry-permits, method: POST, body: {name: bob, doorIds: [], startsAt: "2026-01-01T00:00:00Z", endsAt: "2026-01-01T00:00:01Z"}}, expect: "status in [400, 404]"}`: "",
		`{call: {path: /entry/open, method: POST, token: "", body: {t: x, doorId: dor_9}, status: 404}}`:                                                                                                  "PERM-4", // nobody has that door
		`{call: {path: /entry/open, method: POST, token: "", body: {t: x, doorId: dor_1}, status: 404}}`:                                                                                                  "",
		exchange + `, status: [200, 401]}}`:                                                                       "AUTH-5", // a success would do
		exchange + `}, expect: "status == 401 or data.expiresIn == 900"}`:                                         "AUTH-5",
		exchange + `}, expect: 'not (json(body) contains "password")'}`:                                           "AUTH-5",
		exchange + `}, expect: 'json(body) contains "invalid_api_key"'}`:                                          "",
		exchange + `, status: 401}, expect: 'not (json(body) contains "password")'}`:                              "",
		exchange + `}, expect: error == "invalid_api_key"}`:                                                       "",
		ann + `{link: {person: ann, door: dor_9, status: 404}}`:                                                   "PERM-4", // a door of another place
		ann + `{link: {person: ann, door: dor_9, status: 404, error: not_found}}`:                                 "",
		ann + `{link: {person: ann, door: dor_1, status: 404}}`:                                                   "",
		`{present: {phone: "01055550001", door: dor_1, result: denied}}`:                                          "OFF-2", // a stranger
		`{present: {phone: "01055550001", door: dor_1, result: denied, reason: outage_limit}}`:                    "",
		`{present: {phone: "01055550001", door: dor_1}, expect: "reason != 'no_valid_grant'"}`:                    "",
		`{present: {phone: "01055550001", door: dor_1}, capture: {why: reason}}, {expect: why == "outage_limit"}`: "",
		`{present: {phone: "01055550002", door: dor_1, result: denied}}`:                                          "", // before the limit
	} {
		f := newFake(t)
		f.reasons = map[string]string{"01055550001": "outage_limit", "01055550002": "no_valid_grant"}
		if f.docs = strict; strings.Contains(step, "bob") {
			f.permit = 404
		}
		res, out := play(t, f, "steps: ["+step+"]", Options{})
		steps := res.Files[0].Steps
		if got := strings.Join(slices.Sorted(maps.Keys(steps[len(steps)-1].Moot)), " "); got != want {
			t.Errorf("%s: moot for %q, want %q\n%s", step, got, want, out)
		}
	}
}
