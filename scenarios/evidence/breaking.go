package evidence

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// other are values that would break a promise in place of v; none if it promises nothing of such a value. known are
// those that the step compares its result with.
type other func(v any, known []any) []any

// breaking says which parts of an answer show a promise, and what they would be if it were broken.
var breaking = map[string]map[string]other{
	"AUTH-1": {"expiresIn": instead(3600.0, 60.0), "placeId": instead("plc_another"), "scopes": otherIDs("another:scope")},
	"PERM-1": {"result": letIn.other},
	"PERM-3": {"startsAt": otherTimes, "endsAt": otherTimes, "state": cleared.other},
	"PERM-4": {"state": revoked.other},
	"PERM-6": {"doorIds": otherIDs("dor_another")},
	"PERM-7": {"state": words{"active": {"pending"}, "pending": {"active"}, "expired": {"active"}, "revoked": {"active"}}.other},
	"ENT-1":  {"result": letIn.other, "action": decided.other, "reason": reasons.other},
	"ENT-2":  {"reason": words{"closed_window": {"no_valid_grant"}, "free_window": {"onsite", "phone", "link"}}.other, "mode": modes.other},
	"ENT-3":  {"result": letIn.other, "action": decided.other},
	"ENT-4":  {"actor": unmasked, "actorLabel": unmasked, "result": outcomes.other, "reason": ways.other},
	"CMD-1":  {"state": held.other, "doorState": held.other, "action": driven.other},
	"CMD-2":  {"state": held.other, "doorState": held.other},
	"CMD-3":  {"state": held.other, "doorState": held.other},
	"CMD-4":  {"state": held.other, "doorState": held.other},
	"CMD-5":  {"state": held.other, "doorState": held.other, "action": driven.other},
	"CMD-6":  {"state": held.other, "doorState": held.other, "action": driven.other},
	"CMD-7":  {"state": held.other, "doorState": held.other, "action": locking.other, "cause": endings.other},
	"CMD-8":  {"state": held.other, "doorState": held.other, "mode": modes.other, "channels": otherChannels},
	"SYNC-1": {"state": waiting.other, "result": letIn.other, "action": decided.other, "appliedRevision": older},
	"SYNC-2": {"state": both(waiting.other, revoked.other), "result": letIn.other, "action": decided.other, "appliedRevision": older},
	"SYNC-3": {"state": waiting.other, "result": letIn.other, "action": decided.other},
	"OFF-1":  {"result": letIn.other, "action": decided.other},
	"OFF-2":  {"result": letIn.other, "action": decided.other, "reason": words{"outage_limit": {"no_valid_grant"}}.other},
	"OFF-3":  {"state": held.other, "doorState": held.other, "action": resting.other, "channels": otherChannels, "graceSec": otherNumbers},
	"OFF-4":  {"state": waiting.other},
	"HRS-1":  {"days": otherDays},
	"HRS-2":  {"days": daysWithoutNotes},
	"IMP-1":  {"data": otherRows},
	"LEG-1":  {"state": held.other, "doorState": held.other, "mode": modes.other, "channels": otherChannels, "graceSec": otherNumbers},
}

var (
	held     = words{"locked": {"unlocked"}, "unlocked": {"locked"}, "open": {"locked"}, "warning": {"locked"}}
	revoked  = words{"revoked": {"active"}}
	cleared  = words{"active": {"revoked"}, "pending": {"revoked"}, "expired": {"revoked"}}
	waiting  = words{"synced": {"waiting"}, "waiting": {"synced"}}
	modes    = words{"free": {"auth", "closed"}, "closed": {"auth", "free"}, "auth": {"free", "closed"}}
	outcomes = words{
		"opened": {"denied"}, "denied": {"opened"}, "held": {"opened"}, "locked": {"opened"},
		"offline": {"opened"}, "refused": {"opened"}, "noResponse": {"opened"},
	}
	driven  = words{"pulse": {"hold"}, "hold": {"pulse"}, "lock": {"hold"}}
	locking = words{"hold": {"lock"}, "lock": {"hold"}}
	endings = words{"hold_end": {"command"}, "command": {"hold_end"}}
	letIn   = words{"opened": {"denied"}, "denied": {"opened"}}
	ways    = words{"phone": {"link"}, "link": {"phone"}, "onsite": {"phone"}, "api": {"phone"}, "free_window": {"phone"}, "no_valid_grant": {"phone"}}
	reasons = words{"phone": {"no_valid_grant"}, "link": {"no_valid_grant"}, "onsite": {"no_valid_grant"}, "no_valid_grant": {"phone"}}
	decided = words{"pulse": {"deny"}, "deny": {"pulse"}}
	resting = words{"hold": {"lock", "pulse"}, "lock": {"hold", "pulse"}, "pulse": {"hold", "lock"}, "off": {"hold", "lock"}}
)

// words are those of a closed list, with those that would break the promise instead of each.
type words map[string][]string

func (w words) other(v any, _ []any) []any {
	s, _ := v.(string)
	return each.Of(w[s], func(s string) any { return s })
}

func both(a, b other) other {
	return func(v any, known []any) []any { return append(a(v, known), b(v, known)...) }
}

// unmasked is who came in, with the whole phone: anybody's, or one that the step names.
func unmasked(v any, known []any) []any {
	if s, _ := v.(string); s == "" {
		return nil
	}
	out := []any{"guest:01012345678"}
	for _, k := range known {
		if phone, ok := k.(string); ok && wholePhone.MatchString(phone) {
			out = append(out, "guest:"+phone)
		}
	}
	return out
}

var wholePhone = regexp.MustCompile(`^\d{8,}$`)

// instead are fixed values, for those of the same kind.
func instead(values ...any) other {
	return func(v any, _ []any) (out []any) {
		for _, o := range values {
			_, text := v.(string)
			if _, wanted := o.(string); v != nil && text == wanted {
				out = append(out, o)
			}
		}
		return out
	}
}

// otherIDs are lists of names in which each is another, one is more, or one is missing.
func otherIDs(id string) other {
	return func(v any, _ []any) []any {
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return nil
		}
		all := each.Of(slices.Clone(list), func(any) any { return id })
		for i := range all {
			all[i] = fmt.Sprint(id, i)
		}
		out := []any{all, append(slices.Clone(list), any(id))}
		if len(list) > 1 {
			out = append(out, slices.Clone(list[1:]))
		}
		return out
	}
}

// day is a day of 24 hours.
const day = 24 * time.Hour

// otherTimes are an hour or a day earlier and later, and the times that the step compares it with.
func otherTimes(v any, known []any) (out []any) {
	s, _ := v.(string)
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return nil
	}
	for _, by := range []time.Duration{time.Hour, -time.Hour, day, -day} {
		out = append(out, at.Add(by).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	for _, k := range known {
		if text, ok := k.(string); ok && text != s {
			if _, err := time.Parse(time.RFC3339, text); err == nil {
				out = append(out, text)
			}
		}
	}
	return out
}

// older are revisions before v, and before those that the step compares it with.
func older(v any, known []any) (out []any) {
	for _, k := range append([]any{v}, known...) {
		if n, err := expression.Number(k); err == nil && n > 0 {
			out = append(out, as(v, n-1))
		}
	}
	return out
}

func otherNumbers(v any, _ []any) []any {
	n, err := expression.Number(v)
	if err != nil {
		return nil
	}
	return []any{as(v, n+1800), as(v, n/2)}
}

// otherChannels are other resting behaviours of every channel.
func otherChannels(v any, _ []any) []any {
	channels, _ := v.(map[string]any)
	if len(channels) == 0 {
		return nil
	}
	nth := func(n int) any {
		out := maps.Clone(channels)
		for k, was := range channels {
			others := []any{"hold", "close", "open", "off"}
			others = slices.DeleteFunc(others, func(o any) bool { return o == was })
			out[k] = others[n]
		}
		return out
	}
	return []any{nth(0), nth(1), nth(2)}
}
