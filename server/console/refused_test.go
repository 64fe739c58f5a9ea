package console_test

import (
	"net/http"
	"strings"
	"testing"
)

var refusals = []struct {
	call, body string
	status     int
	code       string
	field      string
	says       string
}{
	{"POST /clock/advance", ``, 400, "invalid_body", "", "JSON object"},
	{"POST /clock/advance", `[]`, 400, "invalid_body", "", "JSON object"},
	{"POST /clock/advance", `{"by":`, 400, "invalid_body", "", ""},
	{"POST /clock/advance", `{"by":"1h"} {}`, 400, "invalid_body", "", "more than one JSON value"},
	{"POST /clock/advance", `{}`, 400, "invalid_field", "by", "exactly one"},
	{"POST /clock/advance", `{"BY":"1s"}`, 400, "invalid_field", "BY", `did you mean "by"?`},
	{"GET /clock?stamp=maybe", ``, 400, "invalid_query", "stamp", "true or false"},
	{"POST /clock/advance", `{"by":"1h","to":"2027-01-01T00:00:00Z"}`, 400, "invalid_field", "by", "exactly one"},
	{"POST /clock/advance", `{"by":"an hour"}`, 400, "invalid_field", "by", "duration"},
	{"POST /clock/advance", `{"by":"-1h"}`, 400, "invalid_field", "by", "only moves forward"},
	{"POST /clock/advance", `{"by":"99999999h"}`, 400, "invalid_field", "by", "ten years"},
	{"POST /clock/advance", `{"by":"1h","by":"2h"}`, 400, "invalid_field", "by", "more than once"},
	{"POST /clock/freeze", `junk`, 400, "invalid_body", "", "no body"},
	{"POST /clock/freeze", `[]`, 400, "invalid_body", "", "no body"},
	{"POST /clock/freeze", `{"x":1}`, 400, "invalid_field", "x", "x is not a known field"},
	{"PATCH /places/plc_a", `{"name":"Gangnam"}`, 400, "invalid_field", "name", "name is not a known field, valid: closures entryPhone holidays phoneEnabled timezone"},
	{"GET /place/plc_a", ``, 404, "not_found", "", "no such path: /lab/v1/place/plc_a, did you mean /lab/v1/places/{placeId}?"},
	{"POST /people/cal", `{}`, 404, "not_found", "", "did you mean /lab/v1/people/call?"},
	{"GET /nothing", ``, 404, "not_found", "", "no such path: /lab/v1/nothing"},
	{"GET /clock?zone=utc", ``, 400, "invalid_query", "zone", `"zone" is not a known query parameter, valid: stamp`},
	{"POST /clock/run", `{"x":1}`, 400, "invalid_field", "x", ""},
	{"POST /history/recording", `{"x":1}`, 400, "invalid_field", "x", ""},
	{"DELETE /history/recording", `{"x":1}`, 400, "invalid_field", "x", ""},
	{"DELETE /inbox?placeId=plc_a", `{"x":1}`, 400, "invalid_field", "x", ""},
	{"GET /clock?stam=true", ``, 400, "invalid_query", "stam", `did you mean "stamp"?`},
	{"GET /clock?stamp=true&stamp=false", ``, 400, "invalid_query", "stamp", "more than once"},
	{"POST /clock/freeze?x=1", ``, 400, "invalid_query", "x", `"x" is not a known query parameter`},
	{"GET /audit?limt=3", ``, 400, "invalid_query", "limt", `did you mean "limit"?`},
	{"GET /audit?limit=%zz", ``, 400, "invalid_query", "", "malformed"},
	{"GET /audit?placeId=plc_x", ``, 404, "place_not_found", "placeId", `place "plc_x" not found, did you mean "plc_a"?`},
	{"GET /audit?limit=", ``, 400, "invalid_query", "limit", "must not be empty"},
	{"GET /keys?placeId=plc_x", ``, 404, "place_not_found", "placeId", `place "plc_x" not found, did you mean "plc_a"?`},
	{"DELETE /inbox?placeId=", ``, 400, "invalid_query", "placeId", "must not be empty"},
	{"GET /why?doorId=dor_a&phone=01011112222&token=a", ``, 400, "invalid_query", "token", ""},
	{"POST /clock/advance", `{"by":3600}`, 400, "invalid_field", "by", "a string"},
	{"POST /clock/advance", `{"to":"tomorrow"}`, 400, "invalid_timestamp", "to", "RFC 3339"},
	{"POST /clock/advance", `{"to":"2026-01-01T00:00:00Z"}`, 400, "invalid_field", "to", "past"},
	{"POST /clock/advance", `{"by":"90000h"}`, 400, "invalid_field", "by", "ten years"},
	{"POST /clock/advance", `{"too":"2027-01-01T00:00:00Z"}`, 400, "invalid_field", "too", `did you mean "to"?`},

	{"GET /places/plc_x", ``, 404, "place_not_found", "placeId", `did you mean "plc_a"?`},
	{"GET /grants?placeId=plc_x", ``, 404, "place_not_found", "placeId", `did you mean "plc_a"?`},
	{"GET /exposure?placeId=plc_x", ``, 404, "place_not_found", "placeId", `did you mean "plc_a"?`},
	{"GET /why?doorId=dor_a&phone=01011112222&placeId=plc_x", ``, 404, "place_not_found", "placeId", `did you mean "plc_a"?`},
	{"GET /why?doorId=dor_x&phone=01011112222", ``, 404, "device_not_found", "doorId", `no door "dor_x" here, did you mean "dor_a"?`},
	{"GET /why?doorId=dor_a&phone=01011112222&placeId=plc_t", ``, 404, "device_not_found", "doorId", `no door "dor_a" at T, did you mean "dor_t"?`},
	{"DELETE /memberships/mem_x", ``, 400, "missing_field", "placeId", ""},
	{"DELETE /reservations/rsv_x?placeId=plc_x", ``, 404, "place_not_found", "placeId", `did you mean "plc_a"?`},
	{"POST /reservations", `{"placeId":"plc_a","phone":"01011112222","startsAt":"2026-10-01T00:00:00Z","doorIds":["dor_x"]}`, 400, "invalid_door_ids", "doorIds", `did you mean "dor_a"?`},

	{"PATCH /places/plc_x", `{"phoneEnabled":true}`, 404, "place_not_found", "placeId", `place "plc_x" not found, did you mean "plc_a"?`},
	{"PATCH /places/plc_a", `{"phoneEnabld":true}`, 400, "invalid_field", "phoneEnabld", `did you mean "phoneEnabled"?`},
	{"PATCH /places/plc_a", `{"phoneEnabled":null}`, 400, "invalid_field", "phoneEnabled", "true or false"},
	{"PATCH /places/plc_a", `{"phoneEnabled":"yes"}`, 400, "invalid_field", "phoneEnabled", "true or false"},
	{"PATCH /places/plc_a", `{"timezone":"Mars/Crater"}`, 400, "invalid_field", "timezone", ""},
	{"PATCH /places/plc_a", `{"timezone":null}`, 400, "invalid_field", "timezone", ""},
	{"PATCH /places/plc_a", `{"entryPhone":5}`, 400, "invalid_field", "entryPhone", ""},
	{"PATCH /places/plc_a", `{"entryPhone":"12"}`, 400, "invalid_phone", "entryPhone", ""},
	{"PATCH /places/plc_a", `{"entryPhone":"05033334444"}`, 409, "rule_violated", "entryPhone", "entryPhone belongs to another place"},
	{"PATCH /places/plc_a", `{"closures":[{"from":"2026-12-25","to":"2026-12-24"}]}`, 400, "invalid_field", "closures[0]", ""},
	{"PATCH /places/plc_a", `{"closures":[{"form":"2026-12-25"}]}`, 400, "invalid_field", "closures[0].form", `did you mean "from"?`},
	{"PATCH /places/plc_a", `{"closures":[{"From":"2026-12-25","to":"2026-12-25"}]}`, 400, "invalid_field", "closures[0].From", `did you mean "from"?`},
	{"PATCH /places/plc_a", `{"entryphone":null}`, 400, "invalid_field", "entryphone", `did you mean "entryPhone"?`},
	{"PATCH /places/plc_a", `{"entryPhone":""}`, 400, "invalid_phone", "entryPhone", "null for none"},
	{"PATCH /places/plc_a", `{"closures":[{"from":"2026-12-25","to":"2026-12-25","name":"a\u202eb"}]}`, 400, "invalid_field", "closures[0].name", "control or bidirectional"},
	{"PATCH /places/plc_a", `{"holidays":[{"date":"2026-12-25","name":"a\u0007"}]}`, 400, "invalid_field", "holidays[0].name", "control or bidirectional"},
	{"POST /keys", `{"placeId":"plc_a","scopes":["device:door"],"name":"a\u2066b"}`, 400, "invalid_field", "name", "control or bidirectional"},
	{"PATCH /places/plc_a", `{"holidays":{"date":"2026-12-25"}}`, 400, "invalid_field", "holidays", "a list like"},
	{"PATCH /places/plc_a", `{"holidays":[{"date":"25.12."}]}`, 400, "invalid_field", "holidays[0].date", ""},

	{"PATCH /doors/dor_x", `{"entry":true}`, 404, "device_not_found", "doorId", `no door "dor_x" here, did you mean "dor_a"? (`},
	{"PATCH /doors/dor_a", `{"entryPermitMaxHours":0}`, 400, "invalid_field", "entryPermitMaxHours", "1 to 720"},
	{"PATCH /doors/dor_a", `{"entryPermitMaxHours":721}`, 400, "invalid_field", "entryPermitMaxHours", "1 to 720"},
	{"PATCH /doors/dor_a", `{"entryPermitMaxHours":1.5}`, 400, "invalid_field", "entryPermitMaxHours", "whole number"},
	{"PATCH /doors/dor_a", `{"entryPermitMaxHours":24.0}`, 400, "invalid_field", "entryPermitMaxHours", "without a decimal point or an exponent (found 24.0)"},
	{"PATCH /doors/dor_a", `{"entryPermitMaxHours":null}`, 400, "invalid_field", "entryPermitMaxHours", "whole number"},
	{"PATCH /doors/dor_a", `{"entryPermitMaxHours":"1"}`, 400, "invalid_field", "entryPermitMaxHours", "whole number"},
	{"PATCH /doors/dor_a", `{"entry":null}`, 400, "invalid_field", "entry", "true or false"},
	{"PATCH /doors/dor_a", `{"entri":true}`, 400, "invalid_field", "entri", `did you mean "entry"?`},

	{"POST /keys", `{"scopes":["device:door"]}`, 400, "missing_field", "placeId", ""},
	{"POST /keys", `{"placeId":"plc_a"}`, 400, "missing_field", "scopes", ""},
	{"POST /keys", `{"placeId":"plc_a","scopes":["device:doors"]}`, 400, "invalid_field", "scopes", `"device:doors" is neither space:partner nor device:door, did you mean "device:door"?`},
	{"POST /keys", `{"placeId":"plc_a","scopes":"device:door"}`, 400, "invalid_field", "scopes", "a list"},
	{"POST /keys", `{"placeId":"plc_a","scope":["device:door"]}`, 400, "invalid_field", "scope", `did you mean "scopes"?`},
	{"POST /keys", `{"placeId":"plc_x","scopes":["device:door"]}`, 404, "place_not_found", "placeId", `place "plc_x" not found, did you mean "plc_a"?`},
	{"DELETE /keys/key_x", ``, 404, "not_found", "", ""},

	{"POST /memberships", `{"phone":"01011112222","startsAt":"2026-10-01T00:00:00Z"}`, 400, "missing_field", "placeId", ""},
	{"POST /memberships", `{"placeId":"plc_x","phone":"01011112222","startsAt":"2026-10-01T00:00:00Z"}`, 404, "place_not_found", "placeId", `place "plc_x" not found, did you mean "plc_a"?`},
	{"POST /memberships", `{"placeId":"plc_a","startsAt":"2026-10-01T00:00:00Z"}`, 400, "missing_field", "phone", ""},
	{"POST /memberships", `{"placeId":"plc_a","phone":"010-1111","startsAt":"2026-10-01T00:00:00Z"}`, 400, "invalid_phone", "phone", ""},
	{"POST /memberships", `{"placeId":"plc_a","phone":"01011112222"}`, 400, "missing_field", "startsAt", ""},
	{"POST /memberships", `{"placeId":"plc_a","phone":"01011112222","startsAt":"2026-10-01"}`, 400, "invalid_timestamp", "startsAt", ""},
	{"POST /reservations", `{"placeId":"plc_a","phone":"01011112222","startsAt":"2026-10-01T00:00:00Z","endsAt":"2026-09-01T00:00:00Z"}`, 400, "invalid_period", "", ""},
	{"POST /reservations", `{"placeId":"plc_a","phone":"01011112222","startsAt":"2026-10-01T00:00:00Z","doorIds":[]}`, 400, "empty_door_ids", "doorIds", ""},
	{"POST /reservations", `{"placeId":"plc_a","phone":"01011112222","startsAt":"2026-10-01T00:00:00Z","doorIds":["dor_t"]}`, 400, "invalid_door_ids", "doorIds", ""},
	{"POST /reservations", `{"placeId":"plc_a","fone":"01011112222"}`, 400, "invalid_field", "fone", `did you mean "phone"?`},

	{"POST /people/call", `{"from":"01011112222"}`, 400, "missing_field", "to", ""},
	{"POST /people/call", `{"to":"05011112222"}`, 400, "missing_field", "from", ""},
	{"POST /people/call", `{"to":"05011112222","form":"0"}`, 400, "invalid_field", "form", `did you mean "from"?`},

	{"POST /people/call", `{"to":"05011112222","from":"abc"}`, 400, "invalid_phone", "from", "digits"},
	{"POST /people/call", `{"to":"05011112222","from":"<b>abc"}`, 400, "invalid_phone", "from", ""},
	{"POST /people/call", `{"to":"05011112222","from":"+"}`, 400, "invalid_phone", "from", ""},
	{"POST /people/call", `{"to":"05011112222","from":"0101111222233334"}`, 400, "invalid_phone", "from", ""},

	{"GET /history?since=x", ``, 400, "invalid_query", "since", ""},
	{"POST /crash", `{"at":"lunch"}`, 400, "invalid_field", "at", "must be one of"},
	{"POST /crash", `{"when":"after-claim"}`, 400, "invalid_field", "when", ""},
}

// TestRefused: every invalid request, with the error code and the field that is named.
func TestRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, c := range refusals {
		t.Run(c.call+" "+c.body, func(t *testing.T) {
			method, path, _ := strings.Cut(c.call, " ")
			a := l.call(method, path, c.body, token)
			if a.Status != c.status || a.StatusCode != c.status || a.Error != c.code || a.Message == "" {
				t.Fatalf("got %d %s, want %d %s", a.Status, a.Raw, c.status, c.code)
			}
			if c.field != "" && a.Details["field"] != c.field {
				t.Errorf("details %v, want field %q", a.Details, c.field)
			}
			if !strings.Contains(a.Message, c.says) {
				t.Errorf("message %q, want %q", a.Message, c.says)
			}
		})
	}
}

// TestOrder: unknown paths and wrong methods are reported before the token is checked.
func TestOrder(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, bearer := range []string{"", "wrong", token} {
		if a := l.call("GET", "/nothing", "", bearer); a.Status != http.StatusNotFound || a.Error != "not_found" {
			t.Errorf("token %q: got %d %s, want 404 not_found", bearer, a.Status, a.Raw)
		}
		if a := l.call("PUT", "/clock", "", bearer); a.Status != http.StatusMethodNotAllowed || a.Error != "method_not_allowed" || a.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("token %q: got %d %s, Allow %q; want 405 method_not_allowed and GET, HEAD", bearer, a.Status, a.Raw, a.Header.Get("Allow"))
		}
	}
	for bearer, code := range map[string]string{"": "token_missing", "wrong": "token_invalid"} {
		for _, call := range []string{"GET /clock", "POST /clock/advance", "POST /clock/freeze", "POST /clock/run", "GET /places", "PATCH /places/plc_a", "PATCH /doors/dor_a",
			"GET /keys", "POST /keys", "DELETE /keys/key_x", "POST /memberships", "POST /reservations", "POST /people/call", "GET /history", "POST /crash"} {
			method, path, _ := strings.Cut(call, " ")
			a := l.call(method, path, `{}`, bearer)
			if a.Status != http.StatusUnauthorized || a.Error != code || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s with token %q: got %d %s, want 401 %s and a challenge", call, bearer, a.Status, a.Raw, code)
			}
		}
	}
}
