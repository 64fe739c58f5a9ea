package evidence

import (
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// What might the target have answered or decided instead? A step that would have passed with the opposite as well
// isn't evidence.

// refusals are what requests might be refused with, a few of each kind.
var refusals = []struct {
	status int
	code   string
	reason vocab.Outcome
}{
	{409, "device_offline", vocab.Offline}, {502, "device_refused", vocab.Refused}, {504, "device_no_response", vocab.NoResponse},
	{503, "store_offline", vocab.Offline}, {404, "link_invalid", ""}, {404, "not_found", ""}, {409, "entry_denied", ""}, {409, "rule_violated", ""},
	{409, "permit_period_too_long", ""}, {400, "invalid_field", ""}, {401, "token_invalid", ""}, {403, "scope_missing", ""}, {429, "rate_limited", ""},
	{401, "invalid_api_key", ""}, {401, "token_expired", ""}, {403, "place_forbidden", ""}, {404, "device_not_found", ""}, {404, "permit_not_found", ""},
	{400, "invalid_door_ids", ""}, {409, "idempotency_key_reused", ""},
}

// Answer is an HTTP answer that a target might have given.
type Answer struct {
	Status int
	Body   map[string]any // as JSON decodes it
}

// Opposites are what the target might have answered instead of this status: refusals for a success (2xx), and the
// reverse.
func Opposites(status int) (out []Answer) {
	if status/100 != 2 {
		return []Answer{{200, map[string]any{"success": true, "data": map[string]any{"outcome": string(vocab.Reported), "result": string(vocab.Opened)}}}}
	}
	for _, r := range refusals {
		other := Refusal(r.status, r.code)
		if r.reason != "" {
			other.Body["details"] = map[string]any{"reason": string(r.reason)}
		}
		out = append(out, other)
	}
	return out
}

// Fulfilling are successes whose data has the fields that the expressions speak of, as what they are compared with.
func Fulfilling(all []*expression.Expr, env, own map[string]any) (out []Answer) {
	values, most := map[string][]any{}, 0
	for _, e := range all {
		for _, text := range e.Paths {
			p := spot(expression.PathOf(text))
			if len(p) != 2 || p[0] != "data" {
				continue
			}
			if field, ok := p[1].(string); ok {
				values[field] = slices.Concat(values[field], e.Mentions.Beside[field], beside(e, env, own), []any{nonsense, 1.0, true, []any{nonsense}})
				most = max(most, len(values[field]))
			}
		}
	}
	for i := range most {
		success := Opposites(404)[0]
		data := success.Body["data"].(map[string]any)
		for field, list := range values {
			data[field] = list[min(i, len(list)-1)]
		}
		out = append(out, success)
	}
	return out
}

// Refusal is an answer that refuses a request.
func Refusal(status int, code string) Answer {
	return Answer{status, map[string]any{"error": code, "message": "refused", "statusCode": float64(status)}}
}

// Decision is whether somebody came in, and why.
type Decision struct {
	Result string // vocab.Opened or vocab.Denied
	Reason vocab.Reason
}

// OppositeDecisions are what might have been decided instead of this result: ways in for somebody who was denied, and
// the reverse.
func OppositeDecisions(result string) []Decision {
	if result == string(vocab.Denied) {
		return []Decision{{string(vocab.Opened), vocab.Reason(vocab.Onsite)}, {string(vocab.Opened), vocab.Reason(vocab.Phone)}, {string(vocab.Opened), vocab.FreeWindow}}
	}
	denials := []vocab.Reason{vocab.NoValidGrant, vocab.Revoked, vocab.Expired, vocab.DoorOutOfScope, vocab.ClosedWindow}
	return each.Of(denials, func(r vocab.Reason) Decision { return Decision{string(vocab.Denied), r} })
}

// otherRefusals are the codes of refusals that break a promise as a success would, by the status that it promises: a token
// that has expired isn't short of a scope, and who asks too often may have a good key.
var otherRefusals = map[string]map[int][]string{
	"AUTH-2": {401: {"scope_missing"}, 403: {"token_invalid"}},
	"AUTH-3": {429: {"token_invalid", "scope_missing"}},
	"AUTH-5": {401: {"rate_limited", "device_not_found"}},
	"CMD-2":  {409: {"device_refused", "device_no_response", "token_invalid", "not_found"}},
	"CMD-3":  {502: {"device_offline", "device_no_response", "store_offline"}},
	"CMD-4":  {504: {"device_offline", "device_refused"}},
	"CMD-5":  {409: {"invalid_field"}},
	"AUTH-4": {403: {"device_offline", "token_invalid"}, 404: {"device_offline", "token_invalid"}},
	"PERM-4": {404: {"entry_denied", "rate_limited"}},
	"PERM-5": {409: {"invalid_field", "scope_missing"}},
	"PERM-6": {400: {"device_not_found", "rule_violated"}},
}

// OtherRefusals are refusals that break what the clause promises with a status.
func OtherRefusals(clause string, status int) []Answer {
	return slices.DeleteFunc(Opposites(200), func(a Answer) bool {
		code, _ := a.Body["error"].(string)
		return !slices.Contains(otherRefusals[clause][status], code)
	})
}
