package api

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/fail"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	docs, err := openapi.Load() // validates them, including their examples
	if err != nil {
		t.Fatal(err)
	}
	scopes := []string{"space:partner", "device:door", "any", "none"}
	for _, d := range docs {
		for _, op := range d.Ops {
			if !slices.Contains(scopes, op.Scope) {
				t.Errorf("%s: x-required-scope %q isn't a scope", op.ID, op.Scope)
			}
			for _, c := range op.Codes {
				if fail.Status(c) == 0 {
					t.Errorf("%s: code %q has no status", op.ID, c)
				}
			}
			if strings.Contains(op.Path, "{") != (op.Resource != "") {
				t.Errorf("%s: a path parameter needs an x-resource", op.ID)
			}
			if op.Resource != "" && openapi.Absent[op.Resource] == "" {
				t.Errorf("%s: no error code is known for x-resource %q", op.ID, op.Resource)
			}
			if op.Legacy != legacyPath(op.Path) {
				t.Errorf("%s: deprecated is %v, want it exactly for legacy paths", op.ID, op.Legacy)
			}
			if op.Legacy != (op.Successor != "") {
				t.Errorf("%s: a legacy path needs an x-successor", op.ID)
			}
			says := d.Doc.Paths.Value(op.Path).GetOperation(op.Method).Description
			if op.Legacy && !strings.Contains(says, op.Successor+"`") && !strings.Contains(says, "has no successor yet") {
				t.Errorf("%s: %q names neither the successor nor says that there is none yet", op.ID, says)
			}
		}
	}
}

// The contract's codes, one line per status.
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
			if got := fail.Status(code); f[0] != strconv.Itoa(got) {
				t.Errorf("%s is %d, want %s", code, got, f[0])
			}
		}
	}
	if n != len(fail.Codes()) {
		t.Errorf("%d codes in the contract and %d in the table, want the same number", n, len(fail.Codes()))
	}
}
