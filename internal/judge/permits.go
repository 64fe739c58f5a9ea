package judge

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
)

// maxPermitMs is the longest permit possible.
const maxPermitMs = 720 * 3600 * 1000

const createRoute = "/space/v1/partner/entry-permits"

// permitKeptMs is how long a server keeps a permit after its end, unless configured otherwise; after that its reference
// may be used for another one.
const permitKeptMs = 400 * 24 * 3600 * 1000

// perm2 judges PERM-2: all successful creates of a place under one externalRef concern one permit, for as long as it is
// kept, and an unchanged repeat leaves its link as it is.
func perm2(v *View) Verdict {
	t := &tally{}
	type permit struct {
		id   string
		ends int64
		call *call // that gave it last
	}
	of := map[[2]string]permit{}
	again := 0
	for _, c := range v.known() {
		if c.Method != "POST" || !c.ok() || c.PlaceID == "" {
			continue
		}
		id := c.out("permitId")
		if key := [2]string{c.PlaceID, c.out("externalRef")}; c.Route == revokeRoute && of[key].id == id {
			of[key] = permit{id, min(of[key].ends, c.At), nil}
		}
		key := [2]string{c.PlaceID, c.in("externalRef")}
		if c.Route != createRoute || key[1] == "" {
			continue
		}
		if !c.found {
			t.checked++
		}
		known, ever := of[key]
		if known.call != nil && known.call.BodyHash == c.BodyHash && reflect.DeepEqual(known.call.In, c.In) {
			again++
			if v.relinked(known.call, c) { // [PERM-2]
				t.bad(c.Event, "a repeat under %s changed the link of %s", key[1], id)
			}
		}
		if id == "" || ever && known.id != id && c.At <= known.ends+permitKeptMs { // [PERM-2]
			t.bad(c.Event, "reference %s made permit %s, but before that it was %s", key[1], id, known.id)
		}
		ends, _ := instant(c.In["endsAt"])
		of[key] = permit{id, ends, c}
	}
	return t.verdict(v, "PERM-2", fmt.Sprintf("%s registrations under %s references, one permit for each reference", amount.Number(t.checked), amount.Number(len(of)))).
		tried(again, "no request was repeated unchanged (a period that counts from now is another one each time)")
}

// perm5 judges PERM-5: no create of more than 720 h or of more than its doors allow succeeds, nor one that ends before it
// starts, and none is refused without cause. An operator may change a door's maximum unseen; unless the run has set it,
// what a refusal says of it is judged by itself.
func perm5(v *View) Verdict {
	t := &tally{}
	longest, registered, refused, shorter := int64(0), 0, 0, 0
	var cases []*call
	doors := v.longest()
	for _, c := range v.calls() {
		from, okFrom := instant(c.In["startsAt"])
		to, okTo := instant(c.In["endsAt"])
		tooLong := c.Code == "permit_period_too_long"
		if c.Method != "POST" || c.Route != createRoute || !okFrom || !okTo || !c.ok() && !tooLong && c.Code != "invalid_period" {
			continue
		}
		t.checked++
		if why := doors.breached(c, to-from); why != "" { // [PERM-5]
			t.bad(c.Event, "%s", why)
		}
		if !c.ok() {
			if why := c.wronglyRefused(to-from, v.doors, v.placeOf(c)); why != "" { // [PERM-5]
				t.bad(c.Event, "a permit of %s was refused as %s%s", secs(to-from), c.Code, why)
			}
			if tooLong {
				cases = append(cases, c)
			}
			if most, known := c.number("maxHours"); tooLong && known && most*3600*1000 < maxPermitMs {
				shorter++
			} else if tooLong {
				refused++
			}
			continue
		}
		registered++
		longest = max(longest, to-from)
		if to <= from || to-from > maxPermitMs { // [PERM-5]
			t.bad(c.Event, "a permit of %s was registered", secs(to-from))
		}
	}
	return t.verdict(v, "PERM-5", fmt.Sprintf("%s permits registered, longest %s (limit 720 h); %s periods refused", amount.Number(registered), secs(longest), amount.Number(t.checked-registered))).
		tried(refused+shorter, "no period was refused as too long").
		shows(sight{refused, "a permit of more than 720 h"}, sight{shorter, "a permit longer than a door's own maximum"}).
		at(v, times(cases))
}

// wronglyRefused says what is wrong with the refusal of a period, "" if nothing.
func (c *call) wronglyRefused(period int64, doors map[string]*board, place string) string {
	const hour = 3600 * 1000
	if c.Code == "invalid_period" {
		if period > 0 {
			return ", but it ends after it begins"
		}
		return ""
	}
	if period <= hour { // no maximum is shorter
		return ", but no maximum is that short"
	}
	most, known := c.number("maxHours")
	if known && (int64(most)*hour >= period || most*hour > maxPermitMs) {
		return fmt.Sprintf(", with a maximum of %d h", most)
	}
	if asked, known := c.Out["requestedHours"].(float64); known && math.Abs(asked*hour-float64(period)) >= hour {
		return fmt.Sprintf(" with requestedHours %g", asked)
	}
	door, named := c.out("doorId"), texts(c.In["doorIds"])
	if b := doors[door]; door != "" && (len(named) > 0 && !slices.Contains(named, door) || b != nil && place != "" && b.place != place) {
		return fmt.Sprintf(" for %s, which isn't one of its doors", door)
	}
	return ""
}

// perm7 judges PERM-7: the state of every permit that was read follows time. Its revocation may be missing from the
// reader's history.
func perm7(v *View) Verdict {
	t, seen := &tally{}, map[string]bool{}
	ended := 0 // read just after their end, which shows that time changes them
	for _, c := range v.calls() {
		if !c.ok() || c.Method != "GET" {
			continue
		}
		for _, p := range c.permits() {
			from, okFrom := instant(p["startsAt"])
			to, okTo := instant(p["endsAt"])
			state := text(p, "state")
			if !okFrom || !okTo {
				continue
			}
			seen[state] = true
			if state == "revoked" || v.noClock() {
				continue
			}
			t.checked++
			if state == "expired" && c.At-to <= atOnceMs {
				ended++
			}
			first, last := stateAt(c.SentAt-v.skewMs(c), from, to), stateAt(c.At+v.skewMs(c), from, to)
			if rank := stateRank[state]; rank < stateRank[first] || rank > stateRank[last] { // [PERM-7]
				t.bad(c.Event, "permit %v is shown as %q, but by its period it is %s", p["permitId"], state, first)
			}
		}
	}
	read := t.checked
	pressed := v.served()
	maps.Copy(seen, pressed.states)
	var states []sight
	for _, state := range []string{"pending", "active", "expired", "revoked"} {
		if !seen[state] {
			states = append(states, sight{what: "a permit that is " + state})
		}
	}
	delete(seen, "revoked") // time has no part in that
	t = t.plus(pressed.of("PERM-7"))
	return t.verdict(v, "PERM-7", fmt.Sprintf("%s permits read, each in the right state; %s links pressed", amount.Number(read), amount.Number(t.checked-read))).
		tried(max(0, len(seen)-1)+ended, "all permits were in the same state, and none was read just after its end").
		shows(states...)
}

// stateRank orders the states as time does; unknown states come before all.
var stateRank = map[string]int{"pending": 1, "active": 2, "expired": 3}

func stateAt(now, from, to int64) string {
	switch {
	case now < from:
		return "pending"
	case now >= to:
		return "expired"
	}
	return "active"
}

// instant reads an RFC 3339 time as Unix ms.
func instant(v any) (int64, bool) {
	s, _ := v.(string)
	s = strings.ToUpper(s)
	leap := len(s) > 19 && s[17:19] == "60" // as long as the first second of the next minute
	if leap {
		s = s[:17] + "59" + s[19:]
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if leap {
		at = at.Truncate(time.Second).Add(time.Second)
	}
	return at.UnixMilli(), err == nil
}

// perm1 judges PERM-1: a registered permit is in the server's content as requested, and its link and phone open
// immediately.
func perm1(v *View) Verdict {
	given, used := v.second().of("PERM-1"), v.served().of("PERM-1")
	return given.plus(used).verdict(v, "PERM-1", fmt.Sprintf("%s permits registered as requested, %s openings by link or phone", amount.Number(given.checked), amount.Number(used.checked))).
		triedIf(v.told, v.served().permitted, "nobody who was registered got in by link or phone within two minutes").
		showsIf(v.told, sight{v.served().permitted - v.served().linked, "an opening by phone"}, sight{v.served().linked, "an opening by link"}).
		at(v, presses(v.served().permittedAt))
}

// perm3 judges PERM-3: a permit that was registered again has the new period and no revocation, both in the server's
// content and when read.
func perm3(v *View) Verdict {
	t, read := v.second().of("PERM-3"), v.read().of("PERM-3")
	moved, restored := v.regiven()
	return t.plus(read).verdict(v, "PERM-3", fmt.Sprintf("%s registered again as requested, %s read", amount.Number(t.checked), amount.Number(read.checked))).
		tried(moved+restored, "no registration changed a period or cleared a revocation").
		shows(sight{moved, "a new period"}, sight{restored, "a revocation that is cleared"})
}

// regiven is how many registrations changed their permit's period, and how many cleared its revocation.
func (v *View) regiven() (moved, restored int) {
	last := map[string]*claim{}
	for _, k := range v.claims() {
		was := last[k.id]
		last[k.id] = k
		switch {
		case k.kind != "permit" || k.revoked || k.crowded || was == nil:
		case was.revoked:
			restored++
		case farApart(was.starts, k.starts) || farApart(was.ends, k.ends):
			moved++
		}
	}
	return moved, restored
}

// movedMs is how far a start or an end has to move for another period: from "now" until "now" once more takes some time, too.
const movedMs = 60 * 1000

func farApart(a, b int64) bool { return a-b >= movedMs || b-a >= movedMs }

// perm4 judges PERM-4: a revoked permit leaves the server's content immediately, and its link opens nothing and has no
// page.
func perm4(v *View) Verdict {
	t, used, read := v.second().of("PERM-4"), v.served().of("PERM-4"), v.read().of("PERM-4")
	return t.plus(used).plus(read).verdict(v, "PERM-4", fmt.Sprintf("%s revoked, %s dead links pressed, %s read", amount.Number(t.checked), amount.Number(used.checked), amount.Number(read.checked))).
		tried(v.served().dead+len(v.deadPages()), "nobody pressed a dead link, or asked for its page, within two minutes of the revocation").
		shows(sight{v.served().dead, "a dead link that is pressed"}, sight{len(v.deadPages()), "the page of a dead link"}).
		at(v, presses(v.served().deadAt), times(v.deadPages()))
}

// deadPages are the requests for the page of a link that had died shortly before.
func (v *View) deadPages() []*call {
	links := v.linksGiven()
	return each.If(v.calls(), func(c *call) bool {
		given := links[c.in("t")]
		if c.Route != "/entry" || c.Method != "GET" || c.ok() || len(given) == 0 {
			return false
		}
		dead, fresh, sure := v.deadLink(c, given)
		return dead && fresh && sure
	})
}

// perm6 judges PERM-6: a permit's doors are those it names, else those it had, and always its place's.
func perm6(v *View) Verdict {
	rejected, s := v.doorRules(), v.scoped()
	t := v.second().of("PERM-6").plus(rejected)
	n := t.checked
	return t.plus(v.read().of("PERM-6")).verdict(v, "PERM-6", fmt.Sprintf("%s permits registered with the doors that their doorIds select", amount.Number(n))).
		tried(rejected.checked+s.kept+s.replaced+s.looked, "no registration kept or replaced its doors, nobody read them, and nobody tried a different door").
		shows(sight{s.none, "a new permit without doorIds"}, sight{s.kept, "a registration that keeps doors"}, sight{s.replaced, "a registration that replaces doors"},
			sight{rejected.checked, "doorIds that are refused"})
}

// scopes is how often it showed which doors a permit has.
type scopes struct {
	none     int // new permits that named none
	kept     int // registered again without doors, and kept those that had been named
	replaced int // registered again with others
	looked   int // read, or tried at another door
}

func (v *View) scoped() (s scopes) {
	var first *call
	named := map[string][]string{} // doors, by permit
	for _, k := range v.claims() {
		if k.kind != "permit" || k.revoked {
			continue
		}
		was := named[k.id]
		switch {
		case k.again && k.doors == nil && was != nil:
			s.kept++
		case k.again && k.doors != nil && !sameSet(k.doors, was): // else it would have the same doors anyway
			s.replaced++
		case !k.again && k.doors == nil:
			s.none++
		}
		if !k.again && first == nil {
			first = k.call
		}
		if k.doors != nil {
			named[k.id] = k.doors
		}
	}
	if first == nil {
		return s
	}
	for _, c := range v.calls() {
		read := c.Route == createRoute+"/{id}" && c.Method == "GET" && c.ok()
		if sooner(first.Event, c.Event) && (read || c.out("rule") == string(vocab.DoorOutOfScope)) {
			s.looked++
		}
	}
	for _, b := range v.boards {
		for _, e := range b.presented {
			if e.Reason == vocab.DoorOutOfScope {
				s.looked++
			}
		}
	}
	return s
}
