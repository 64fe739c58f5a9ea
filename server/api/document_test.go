package api

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/rule"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	docs, err := loadDocuments() // validates them, examples included
	if err != nil {
		t.Fatal(err)
	}
	scopes := []string{"space:partner", "device:door", "any", "none"}
	for _, d := range docs {
		for _, op := range d.ops {
			if !slices.Contains(scopes, op.scope) {
				t.Errorf("%s: x-required-scope %q", op.id, op.scope)
			}
			for _, c := range op.codes {
				if statuses[c] == 0 {
					t.Errorf("%s: code %q has no status", op.id, c)
				}
			}
			if strings.Contains(op.path, "{") != (op.resource != "") {
				t.Errorf("%s: a path parameter needs an x-resource", op.id)
			}
			if op.resource != "" && resourceCodes[op.resource] == "" {
				t.Errorf("%s: x-resource %q", op.id, op.resource)
			}
			if op.legacy != legacyPath(op.path) {
				t.Errorf("%s: deprecated is %v", op.id, op.legacy)
			}
			if op.legacy != (op.successor != "") {
				t.Errorf("%s: a legacy path needs an x-successor", op.id)
			}
		}
	}
}

// The codes of the contract, in one line each status.
const contract = `400 invalid_body invalid_timestamp invalid_query missing_field invalid_field body_too_large invalid_period invalid_phone invalid_door_ids empty_door_ids idempotency_key_required idempotency_key_invalid unsupported_command
401 token_missing token_invalid token_expired invalid_api_key
403 scope_missing place_forbidden place_field_forbidden
404 not_found permit_not_found device_not_found board_not_found place_not_found link_invalid endpoint_removed
405 method_not_allowed
409 permit_period_too_long idempotency_key_reused rule_violated entry_denied device_offline
429 rate_limited too_many_in_flight
502 device_refused store_unreachable
503 store_offline storage_unavailable
504 device_no_response
500 internal_error`

func TestStatuses(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range strings.SplitSeq(contract, "\n") {
		f := strings.Fields(line)
		for _, code := range f[1:] {
			n++
			if got := statuses[code]; f[0] != strconv.Itoa(got) {
				t.Errorf("%s is %d, want %s", code, got, f[0])
			}
		}
	}
	if n != len(statuses) {
		t.Errorf("%d codes in the contract, %d in the table", n, len(statuses))
	}
}

// Every schema of the requests of one path refuses what it says.
func TestShape(t *testing.T) {
	t.Parallel()
	docs, err := loadDocuments()
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]*operation{}
	for _, d := range docs {
		for _, op := range d.ops {
			ops[op.id] = op
		}
	}
	permit := `"externalRef":"a","phone":"01012345678","startsAt":"2026-10-05T01:00:00Z","endsAt":"2026-10-05T03:00:00Z"`
	for _, tt := range []struct{ op, body, code, field string }{
		{"createPermit", `{` + permit + `}`, "", ""},
		{"createPermit", `{` + permit + `,"name":null,"doorIds":null,"other":1}`, "", ""},
		{"createPermit", `{}`, rule.MissingField, "externalRef"},
		{"createPermit", `{"externalRef":null}`, rule.MissingField, "externalRef"},
		{"createPermit", `{"externalRef":1,"phone":"x"}`, rule.MissingField, "startsAt"},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"a"`, `""`, 1), rule.InvalidField, "externalRef"},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"a"`, `"`+strings.Repeat("가", 128)+`"`, 1), "", ""},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"a"`, `"`+strings.Repeat("가", 129)+`"`, 1), rule.InvalidField, "externalRef"},
		{"createPermit", strings.Replace(`{`+permit+`}`, "01012345678", "010-1234-5678", 1), rule.InvalidPhone, "phone"},
		{"createPermit", strings.Replace(`{`+permit+`}`, `"01012345678"`, `1012345678`, 1), rule.InvalidPhone, "phone"},
		{"createPermit", strings.Replace(`{`+permit+`}`, "T01:00:00Z", "T01:00:00", 1), rule.InvalidTimestamp, "startsAt"},
		{"createPermit", `{` + permit + `,"doorIds":[]}`, rule.EmptyDoorIDs, "doorIds"},
		{"createPermit", `{` + permit + `,"doorIds":"x"}`, rule.InvalidDoorIDs, "doorIds"},
		{"createPermit", `{` + permit + `,"doorIds":["x",7]}`, rule.InvalidDoorIDs, "doorIds[1]"},
		{"updatePlace", `{"name":"x"}`, rule.PlaceFieldForbidden, "name"},
		{"updatePlace", `{"hours":5,"name":"x"}`, rule.PlaceFieldForbidden, "name"},
		{"updatePlace", `{"hours":{}}`, rule.MissingField, "hours.week"},
		{"updatePlace", `{"hours":{"week":{"moon":[]}}}`, rule.InvalidField, "hours.week.moon"},
		{"updatePlace", `{"hours":{"week":{"mon":[["09:00","25:00"]]}}}`, rule.InvalidField, "hours.week.mon[0][1]"},
		{"updatePlace", `{"hours":{"week":{"mon":[["09:00"]]}}}`, rule.InvalidField, "hours.week.mon[0]"},
		{"updatePlace", `{"hours":{"week":{"mon":[["09:00","24:00"]],"sun":[]}}}`, "", ""},
		{"commandDevice", `{"capability":"door","command":"door.open","args":null}`, "", ""},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":5.0}}`, "", ""},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":5.5}}`, rule.InvalidField, "args.minutes"},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":1441}}`, rule.InvalidField, "args.minutes"},
		{"commandDevice", `{"capability":"door","command":"hold","args":{"minutes":"5"}}`, rule.InvalidField, "args.minutes"},
		{"commandDevice", `{"capability":"door","command":"jump"}`, rule.UnsupportedCommand, "command"},
		{"commandDevice", `{"capability":"light","command":"open"}`, rule.UnsupportedCommand, "capability"},
		{"commandDevice", `{"command":"open"}`, rule.MissingField, "capability"},
		{"setNetloss", `{"graceSec":1,"channels":{"1":"explode"}}`, rule.InvalidField, "channels.1"},
		{"setNetloss", `{"graceSec":604801,"channels":{}}`, rule.InvalidField, "graceSec"},
	} {
		o, err := decode([]byte(tt.body), "application/json; charset=utf-8", false)
		if err != nil {
			t.Fatal(err)
		}
		f := ops[tt.op].body.shape.check(map[string]any(o))
		if f == nil {
			f = &flaw{}
		}
		if f.code != tt.code || f.path != tt.field {
			t.Errorf("%s %.80s: %s at %q, want %s at %q", tt.op, tt.body, f.code, f.path, tt.code, tt.field)
		}
	}
}
