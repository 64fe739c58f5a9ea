package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// A request that is refused for its key or its link shows nothing of them if it would have been refused with any: for its
// body, or for a door of another place. The step is evidence if it tells the two refusals apart.

// moot are the guarantees of which the step's answer shows nothing, by why: what it asks for would have been refused all the
// same, and the step would have passed with that as well. What was answered in the background or captured, another step may look at.
func (x *frame) moot(out fields) map[string]string {
	asked := *x
	asked.step = x.step.asked()
	verbs := &asked.step.Verbs
	if x.strangerKeptOut(verbs, out) {
		return map[string]string{"OFF-2": "strangers are kept out without the limit, too, and it would have passed with no_valid_grant as well: expect the reason outage_limit"}
	}
	status, err := expression.Number(out["status"])
	if err != nil || int(status)/100 != 4 || x.step.Background != "" || x.step.Verbs.Wait != nil || len(x.step.Capture) > 0 {
		return nil
	}
	why := map[string]string{}
	if verbs.answered() != nil && int(status) == 401 && slices.ContainsFunc(x.successes(out), func(o evidence.Answer) bool {
		return verbs.accepts(&asked, answerLike(o)) && x.fits(answerLike(o), out)
	}) { // for 15 minutes, no checker would mind
		why["AUTH-5"] = "the step would have passed with a success as well"
	}
	if slices.ContainsFunc(x.step.Expect, func(e Expr) bool { return evidence.SpeaksOfMore(&e.Expr) }) {
		return why
	}
	others := map[string][]evidence.Answer{}
	switch {
	case verbs.Permit != nil:
		others["PERM-6"] = misdated(x.period)
	case verbs.Call != nil && x.sent != nil:
		others["PERM-6"] = x.sent.misdated()
		others["AUTH-4"] = append(x.run.misasked(x.sent), others["PERM-6"]...)
		others["AUTH-5"] = append(x.run.elsewise(x.sent, verbs.Call.Path.raw), others["AUTH-4"]...)
		others["PERM-4"] = x.run.nowhere(x.sent)
	case verbs.Link != nil && verbs.Link.Door.set() && verbs.Link.Person.set():
		others["PERM-4"], _ = guarded(func() ([]evidence.Answer, error) { return x.outOfPlace(verbs.Link), nil })
	}
	for clause, list := range others {
		for _, other := range list {
			raw, _ := json.Marshal(other.Body)
			a := &answer{Status: other.Status, Raw: raw, Body: other.Body, Headers: map[string]string{}}
			if why[clause] == "" && verbs.accepts(&asked, a) && x.fits(a, out) {
				why[clause] = fmt.Sprintf("what the step asks for is refused anyway, and it would have passed with that, too: %d %s", a.Status, a.text("error"))
			}
		}
	}
	return why
}

// strangerKeptOut reports whether somebody whom the file gave nothing came to a reader after 36 h of an outage, and the step would have passed
// with the denial that strangers get before.
func (x *frame) strangerKeptOut(v *Verbs, out fields) bool {
	if v.Present == nil || v.Present.Person.set() || len(x.step.Capture) > 0 || out["reason"] != string(vocab.OutageLimit) {
		return false
	}
	before := maps.Clone(out)
	before["reason"] = string(vocab.NoValidGrant)
	return x.content(v, before)
}

// longest is how long a permit may be, whatever its doors are.
const longest = 720 * time.Hour

// misdated is the refusal that a permit of this length gets, whatever its doors are; none for a length that may be.
func misdated(length time.Duration) []evidence.Answer {
	switch {
	case length > longest:
		return []evidence.Answer{evidence.Refusal(409, "permit_period_too_long")}
	case length <= 0:
		return []evidence.Answer{evidence.Refusal(400, "invalid_period")}
	}
	return nil
}

// misdated is that refusal for a request, if it is for a permit.
func (q *request) misdated() []evidence.Answer {
	var period struct{ StartsAt, EndsAt time.Time }
	if q.method != "POST" || q.path != permitsPath || json.Unmarshal(q.body, &period) != nil || period.StartsAt.IsZero() || period.EndsAt.IsZero() {
		return nil
	}
	return misdated(period.EndsAt.Sub(period.StartsAt))
}

// misasked are refusals that a request gets from everybody, because the target's documents don't allow it.
func (r *run) misasked(q *request) []evidence.Answer {
	if r.api.promise.Asks(q.method, q.path, q.header, q.body) == nil {
		return nil
	}
	out := []evidence.Answer{evidence.Refusal(400, "invalid_field")}
	if q.method == "PATCH" { // of a place, a key may change hours only
		out = append(out, evidence.Refusal(403, "place_field_forbidden"))
	}
	return out
}

// elsewise are refusals that a request would have got with a token that is good, for where it goes and with which scopes. written
// is its path in the file.
func (r *run) elsewise(q *request, written string) (out []evidence.Answer) {
	if q.token == nil {
		return nil
	}
	g := r.issuedFor(*q.token)
	if scope := r.api.promise.Scope(q.method, q.path); scope != "" && g.scopes != nil && !slices.Contains(g.scopes, any(scope)) {
		out = append(out, evidence.Refusal(403, "scope_missing"))
	}
	m := ofPlace.FindStringSubmatch(q.path)
	switch {
	case m == nil || g.place == "" || !r.dir.whole():
	case m[1] == "core/v1/places":
		if m[2] != g.place {
			out = append(out, evidence.Refusal(403, "place_forbidden"))
		}
	case m[1] == "space/v1/partner/entry-permits": // the server makes ids up: what the file has in writing is nobody's
		if q.method == "GET" && strings.Contains(written, m[2]) {
			out = append(out, evidence.Refusal(404, "permit_not_found"))
		}
	case !r.dir.at(g.place, m[2]):
		out = append(out, evidence.Refusal(404, "device_not_found"))
	}
	return out
}

// ofPlace finds what belongs to a place in a path.
var ofPlace = regexp.MustCompile(`^/(core/v1/places|device/v1/devices|device/v1/doors|device/v1/boards|space/v1/partner/entry-permits)/([^/?]+)`)

// whole reports whether boards are known of every place, so that a door or board that isn't known is nobody's.
func (d *directory) whole() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := map[string]bool{}
	for _, b := range d.boards {
		seen[b.placeID] = true
	}
	for place := range d.places {
		if !seen[place] {
			return false
		}
	}
	return true
}

// at reports whether a door or board is at a place.
func (d *directory) at(place, id string) bool {
	b := d.board(id)
	if b == nil {
		b = d.door(id)
	}
	return b != nil && b.placeID == place
}

// nowhere is what any link gets at a door that nobody has.
func (r *run) nowhere(q *request) []evidence.Answer {
	var pressed struct {
		DoorID string `json:"doorId"`
	}
	if q.path != "/entry/open" || json.Unmarshal(q.body, &pressed) != nil || !r.dir.whole() || r.dir.door(pressed.DoorID) != nil {
		return nil
	}
	return []evidence.Answer{evidence.Refusal(404, "device_not_found")}
}

// outOfPlace is what any link gets at a door of another place.
func (x *frame) outOfPlace(l *Link) []evidence.Answer {
	place := expression.Show(x.person(l.Person)["place"])
	if place == "" || !x.run.dir.whole() || x.run.dir.at(place, x.door(l.Door)) {
		return nil
	}
	return []evidence.Answer{evidence.Refusal(404, "device_not_found")}
}
