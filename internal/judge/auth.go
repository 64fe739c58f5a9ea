package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// Limits on tokens and exchanges, in domain time.
const (
	tokenMs    = 900 * 1000
	exchangeMs = 60 * 1000
	exchanges  = 30
	spreadMs   = 15 * 60 * 1000 // of a key's revocation
	lateMs     = 60 * 1000      // after that, for a look that is to show it
	// clockMs is how far off a client may be in what it takes for domain time.
	clockMs = 2000
)

// token is a token issued within the history; strings are marks.
type token struct {
	place, key     string
	scopes         []string
	before, latest int64 // it was issued between these
	asked          bool  // a step asked for it, not the client for itself
}

// tokens are all of them, and what is known of their keys.
type tokens struct {
	issued  map[string]*token         // by mark
	revoked map[string]int64          // when a key that had worked was first refused: it was revoked by then
	worked  map[string]*history.Event // the call by which a key last worked
}

func (v *View) givenTokens() tokens {
	issued, revoked, worked := map[string]*token{}, map[string]int64{}, map[string]*history.Event{}
	calls, ended := v.calls(), v.keysEnded()
	if v.whole != nil {
		calls = v.whole.exchanges
	}
	for _, c := range calls {
		if c.Route != ExchangeRoute {
			continue
		}
		key := c.in("key")
		if c.ok() {
			issued[c.out("accessToken")] = &token{c.out("placeId"), key, texts(c.Out["scopes"]), c.SentAt, c.At, !c.Own}
		}
		switch {
		case c.ok() && ended[key] != nil && sooner(ended[key].started(), c.Event): // AUTH-5 looks at it
		case c.ok():
			worked[key] = c.Event
			delete(revoked, key)
		case c.Status == 401 && worked[key] != nil && revoked[key] == 0:
			revoked[key] = c.At
		}
	}
	for key, c := range ended {
		revoked[key] = c.At
	}
	return tokens{issued, revoked, worked}
}

// keyRoute is where operators revoke a key.
const keyRoute = "/lab/v1/keys/{id}"

// keysEnded are the revocations of keys that the run itself asked for, by key.
func (v *View) keysEnded() map[string]*call {
	out := map[string]*call{}
	for _, c := range v.calls() {
		if c.Route == keyRoute && c.Method == "DELETE" && c.ok() && c.in("key") != "" && out[c.in("key")] == nil {
			out[c.in("key")] = c
		}
	}
	return out
}

// auth1 judges AUTH-1: every exchange gives a token for 900 s with its place and
// scopes, and the token works for all of them.
func auth1(v *View) Verdict {
	t := &tally{}
	issued, revoked, worked := v.tokens().issued, v.tokens().revoked, v.tokens().worked
	ended, owners := v.keysEnded(), v.owners()
	used, given := 0, map[string]bool{}
	var tried []*call
	before := map[string]*token{} // the first of each key
	took := map[string]bool{}     // the tokens that the server has taken: what never worked shows nothing when it is refused
	for _, c := range v.calls() {
		if c.Route == ExchangeRoute && c.ok() {
			t.checked++
			given[c.out("accessToken")] = true
			was, now := before[c.in("key")], issued[c.out("accessToken")]
			if was == nil && c.in("key") != "" {
				before[c.in("key")] = now
			} else if was != nil && now != nil && (now.place != was.place || !sameSet(now.scopes, was.scopes)) { // [AUTH-1]
				t.bad(c.Event, "a token for %s and %s, although the key's first was for %s and %s", now.place, strings.Join(now.scopes, " "), was.place, strings.Join(was.scopes, " "))
			}
			if n, ok := c.number("expiresIn"); !ok || n != tokenMs/1000 || c.out("placeId") == "" || c.out("accessToken") == "" { // [AUTH-1]
				t.bad(c.Event, "a token result without expiresIn 900, placeId and accessToken")
			}
		}
		k := issued[c.Token]
		if k == nil || open(c) || c.unseen() {
			continue
		}
		if e := ended[k.key]; e != nil && !sooner(c.Event, e.started()) || e == nil && revoked[k.key] != 0 && sooner(worked[k.key], c.Event) {
			continue
		}
		took[c.Token] = took[c.Token] || c.Status != 401
		if took[c.Token] && (k.asked || c.Code == "token_expired") || c.Code == "scope_missing" || c.Code == "place_forbidden" && !v.nobodysPlace(c, owners) {
			tried = append(tried, c)
		}
		young := c.At-k.before < tokenMs-v.slackMs()
		if young || c.ok() {
			used++
			t.checked++
			if young && c.Status == 401 { // [AUTH-1]
				t.bad(c.Event, "%s %s was answered with 401 %s %s after the token was given out", c.Method, c.Route, c.Code, secs(c.At-k.before))
			}
		}
	}
	return t.verdict(v, "AUTH-1", fmt.Sprintf("%s tokens for 900 s, used %s times", amount.Number(len(given)), amount.Number(used))).
		tried(len(tried), "no token that a step had asked for worked, and none was refused for its age, its place or its scopes").
		at(v, times(tried))
}

// soonExpiredMs is how long after its end a token's refusal says anything of that end: a day. Weeks later any token is over.
const soonExpiredMs = 24 * 3600 * 1000

// auth2 judges AUTH-2: no call is served without a token, with a token that was never issued, with one 900 s old or
// older, or outside the token's scopes.
func auth2(v *View) Verdict {
	t := &tally{}
	issued := v.tokens().issued
	expired, forged, scoped, noToken := 0, 0, 0, 0
	var cases []*call
	forms := map[int]bool{} // of tokens that were given out: what has another form isn't forged, but just a text
	for _, c := range v.calls() {
		forms[c.Parts] = forms[c.Parts] || issued[c.Token] != nil || c.Token == "" && c.out("accessToken") != ""
	}
	older := len(forms) == 1 && forms[0] // a recording that doesn't know them yet
	for _, c := range v.calls() {
		k := issued[c.Token]
		switch {
		case c.Code == "token_expired" && (k == nil || c.SentAt-k.latest <= tokenMs+soonExpiredMs):
			expired, cases = expired+1, append(cases, c)
		case c.Code == "scope_missing":
			scoped, cases = scoped+1, append(cases, c)
		case c.Code == "token_invalid" && k == nil && !open(c) && (c.Parts > 0 && forms[c.Parts] || older): // not for want of one, nor of a revoked key
			forged, cases = forged+1, append(cases, c)
		case c.Code == "token_invalid" && k == nil && !open(c) && c.Token != "":
			noToken, cases = noToken+1, append(cases, c)
		}
		switch {
		case open(c):
			continue
		case c.Status == 401:
			t.checked++
			continue
		case !c.ok() && (c.Code == "" || !refusedAfterwards[c.Status] && !c.refusedBody() || c.unseen()): // without a code, a proxy has answered itself
			continue
		}
		t.checked++
		served := "served"
		if !c.ok() {
			served = "answered " + c.Code
		}
		switch { // [AUTH-2]
		case c.Token == "":
			t.bad(c.Event, "%s %s was %s without a token", c.Method, c.Route, served)
		case k == nil:
			t.bad(c.Event, "%s %s was %s with a token that wasn't given out", c.Method, c.Route, served)
		case c.SentAt-k.latest >= tokenMs+v.slackMs():
			t.bad(c.Event, "%s %s was %s with a token %s old", c.Method, c.Route, served, secs(c.SentAt-k.latest))
		case !covers(k.scopes, c.Route) && c.Code != "scope_missing":
			t.bad(c.Event, "%s %s was %s with scopes %s", c.Method, c.Route, served, strings.Join(k.scopes, " "))
		}
	}
	return t.verdict(v, "AUTH-2", fmt.Sprintf("%s calls, each with the token and scope it needs", amount.Number(t.checked))).
		tried(expired+forged+scoped+noToken, "no token was refused as forged, for a missing scope, or as expired within a day of its end").
		shows(sight{expired, "an expired token"}, sight{forged, "a forged token"}, sight{scoped, "a missing scope"}).
		at(v, times(cases))
}

// refusedAfterwards are refusals for something that is looked at only after the token: its scope and whatever comes then, up
// to a board that refuses or stays silent.
var refusedAfterwards = map[int]bool{403: true, 404: true, 409: true, 502: true, 504: true}

// refusedBody reports whether a request was refused for its content, which is looked at only after the token. (A body may
// be too large, or no JSON at all, before that.)
func (c *call) refusedBody() bool {
	return c.Status == 400 && c.Code != "body_too_large" && c.Code != "invalid_body"
}

func covers(scopes []string, route string) bool {
	switch {
	case strings.HasPrefix(route, "/space/"):
		return slices.Contains(scopes, "space:partner")
	case strings.HasPrefix(route, "/device/"):
		return slices.Contains(scopes, "device:door")
	}
	return true
}

// auth5 judges AUTH-5: from 15 minutes after a key was revoked, or refused for good, none of its tokens is served, and
// it isn't exchanged.
func auth5(v *View) Verdict {
	t := &tally{}
	issued, revoked := v.tokens().issued, v.tokens().revoked
	ended := v.keysEnded()
	gone, keys, held := map[string]bool{}, 0, 0
	var cases []*call
	for _, c := range v.calls() {
		key, k := c.in("key"), issued[c.Token]
		switch {
		case c.Route == ExchangeRoute && ended[key] != nil && c.Status != 429:
		case c.Route == ExchangeRoute && revoked[key] != 0:
			gone[key] = true
			continue
		case k == nil || open(c):
			continue
		default:
			key = k.key
		}
		if c.untouched() || revoked[key] == 0 || c.SentAt < revoked[key] || ended[key] != nil && !sooner(ended[key].Event, c.started()) {
			continue
		}
		gone[key] = true
		t.checked++
		if c.Status == 401 {
			if c.Code != "token_expired" && c.SentAt-revoked[key] <= spreadMs+lateMs { // not for its age, which any token has, nor hours later
				cases = append(cases, c)
				if c.Route == ExchangeRoute {
					keys++
				} else {
					held++
				}
			}
		} else if c.SentAt-revoked[key] > spreadMs { // [AUTH-5]
			t.bad(c.Event, "%s %s was answered with %d %s after the key was revoked", c.Method, c.Route, c.Status, secs(c.SentAt-revoked[key]))
		}
	}
	return t.verdict(v, "AUTH-5", fmt.Sprintf("%s calls with %s revoked keys and their tokens, none served too late", amount.Number(t.checked), amount.Number(len(gone)))).
		tried(keys+held, "no revoked key was refused, nor any of its tokens").
		shows(sight{keys, "a revoked key that is refused"}, sight{held, "a revoked key's token that is refused"}).
		at(v, times(cases))
}

// auth4 judges AUTH-4: a command reaches only boards of its key's place, and ids of other places are not found on any
// route.
func auth4(v *View) Verdict {
	t := &tally{}
	for _, c := range v.order {
		if len(c.publishes)+len(c.acts) == 0 {
			continue
		}
		t.checked++
		v.ownPlace(t, c)
	}
	test, live, unknown, cases := v.foreignIDs(t)
	foreign := test + live + unknown
	return t.verdict(v, "AUTH-4", fmt.Sprintf("%s commands, each at its own place; %s ids of other places refused", amount.Number(t.checked-foreign), amount.Number(foreign))).
		tried(test+live, "no call was refused for naming something that another place has").
		shows(sight{test, "a test key at another place"}, sight{live, "a live key at another place"}).
		at(v, times(cases))
}

// placesRoute starts the routes whose {id} is a place.
const placesRoute = "/core/v1/places/"

// notThere are the codes of refusals that are due to an id of another place. What is refused for anything else (its
// method, its token, another field) says nothing about places.
var notThere = map[string]bool{"not_found": true, "permit_not_found": true, "device_not_found": true, "board_not_found": true,
	"place_not_found": true, "place_forbidden": true, "invalid_door_ids": true}

// unseen reports whether the answer was decided before anybody looked at the token: there is no such path or method. A
// reservation that isn't there has the same code as a path.
func (c *call) unseen() bool {
	return c.Code == "endpoint_removed" || c.Code == "method_not_allowed" || c.Code == "not_found" && !strings.HasPrefix(c.Route, "/space/v1/reservations/{id}")
}

// untouched reports whether an answer says nothing about a token: nobody looked at it, or the server can't commit anything.
func (c *call) untouched() bool {
	return c.unseen() || c.Status == 429 && c.Code != "too_many_in_flight" || c.Code == "body_too_large" || c.Code == codeStorage
}

// nobodysPlace reports whether a call names a place that, as far as the history knows, nobody has: any key would be
// refused there.
func (v *View) nobodysPlace(c *call, owners map[string]string) bool {
	return v.told && strings.HasPrefix(c.Route, placesRoute) && owners[c.Path] == ""
}

// foreignIDs judges calls that named something of a place other than their token's, and returns how many there were, by kind
// of key; unknown are those of a place that may be nobody's.
func (v *View) foreignIDs(t *tally) (test, live, unknown int, cases []*call) {
	issued := v.tokens().issued
	owners := v.owners()
	for _, c := range v.calls() {
		k := issued[c.Token]
		if k == nil || open(c) {
			continue
		}
		named := append(texts(c.In["doorIds"]), c.Path, c.in("permitId"))
		for _, id := range named {
			owner, known := owners[id], true
			if owner == "" && id == c.Path && strings.HasPrefix(c.Route, placesRoute) {
				owner, known = id, !v.nobodysPlace(c, owners)
			}
			if owner == "" || owner == k.place {
				continue
			}
			served := c.Status < 400 || c.Status >= 500 && c.Code != codeStorage
			nobodys := slices.ContainsFunc(texts(c.In["doorIds"]), func(door string) bool { return owners[door] == "" }) // refused with or without it
			if served || notThere[c.Code] && !c.unseen() && !nobodys {
				switch {
				case !known:
					unknown++
				case c.CallText.Kind == "test":
					test++
				default:
					live++
				}
				cases = append(cases, c)
				t.checked++
			}
			if served { // [AUTH-4]
				t.bad(c.Event, "%s %s of %s was answered with %d for a key of %s", c.Method, c.Route, owner, c.Status, k.place)
			}
			break
		}
	}
	return test, live, unknown, cases
}
