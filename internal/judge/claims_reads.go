package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
)

// readBack compares permits as they are read, and the pages of links, with the last claim: the period, the doors, and
// whether it is revoked.
func (v *View) readBack() book {
	b, last, links := book{}, each.By(v.claims(), func(k *claim) string { return k.id }), v.linksGiven()
	for _, c := range v.calls() {
		if c.SentNs == 0 || c.Method != "GET" {
			continue
		}
		if given := links[c.in("t")]; c.Route == "/entry" && len(given) > 0 {
			v.page(b, c, given)
		}
		if !c.ok() {
			continue
		}
		for _, p := range c.permits() {
			v.readOne(b, c, p, last[text(p, "permitId")])
		}
	}
	v.revocations(b)
	return b
}

// page checks that a dead link has no page.
func (v *View) page(b book, c *call, given []*claim) {
	dead, _, sure := v.deadLink(c, given)
	if !sure || !dead {
		return
	}
	b.of("PERM-4").checked++
	if c.ok() { // [PERM-4]
		b.breach(c, []string{"PERM-4"}, "the page of a dead link of %s was shown", given[0].id)
	}
}

func (v *View) readOne(b book, c *call, p map[string]any, claims []*claim) {
	var k *claim
	for _, x := range claims {
		switch {
		case sooner(x.Event, c.started()):
			k = x
		case sooner(x.started(), c.Event):
			return // in progress
		}
	}
	if k == nil || k.crowded || v.changedBySomebody(k, c) {
		return
	}
	if shown, is := p["doorIds"].([]any); is && len(k.doors) > 0 {
		b.of("PERM-6").checked++
		if doors := texts(shown); !sameSet(doors, k.doors) { // [PERM-6]
			b.breach(c, []string{"PERM-6"}, "%s names %s, but is shown with %s", k.id, strings.Join(k.doors, " "), cmp.Or(strings.Join(doors, " "), "no doors"))
		}
	}
	state := text(p, "state")
	if k.revoked {
		b.of("PERM-4").checked++
		if state != "revoked" { // [PERM-4]
			b.breach(c, []string{"PERM-4"}, "%s was revoked, but is shown as %q", k.id, state)
		}
		return
	}
	if !k.again {
		return
	}
	b.of("PERM-3").checked++
	from, okFrom := instant(p["startsAt"])
	to, okTo := instant(p["endsAt"])
	switch { // [PERM-3]
	case state == "revoked":
		b.breach(c, []string{"PERM-3"}, "%s was registered again, but is shown as revoked", k.id)
	case !okFrom || !okTo || !near(from, k.starts, 1) || !near(to, k.ends, 1):
		b.breach(c, []string{"PERM-3"}, "%s was registered again for %s to %s, but is shown with another period", k.id, moment(k.starts), moment(k.ends))
	}
}

// changedBySomebody reports whether the server's content changed between the claim and the read by a call that isn't in
// the history.
func (v *View) changedBySomebody(k *claim, c *call) bool {
	p := v.places[k.place]
	if p == nil {
		return false
	}
	during := 0 // changes that may, by the clocks, be the claim's own or another's right after it
	for _, x := range p.content.grants[k.id] {
		switch {
		case v.before(c.Event, x.e) || v.startedBetween(k.Event, x.e):
		case v.before(k.Event, x.e):
			return true
		case uncertain(x.e, k.Event) != 0 && !v.before(x.e, k.started()):
			during++
		}
	}
	return during > 1
}

// manyDoors is how many doors a request may name: of a longer list, the answer names none.
const manyDoors = 200

// doorRules checks that an empty list of doors, or one with another place's door, is answered 400, and that the answer names
// such a door.
func (v *View) doorRules() *tally {
	t := &tally{}
	for _, c := range v.calls() {
		if c.Route != createRoute || c.Method != "POST" {
			continue
		}
		list, named := c.In["doorIds"].([]any)
		why := ""
		var foreign []string
		switch {
		case named && len(list) == 0:
			why = "an empty list of doors"
		case named:
			for _, id := range texts(list) {
				if v.told && v.doors[id] == nil && !c.ok() {
					why = id + ", which is no door of the lab"
				}
				if b := v.doors[id]; b != nil && b.place != v.placeOf(c) && v.placeOf(c) != "" {
					why, foreign = fmt.Sprintf("%s of another place", id), append(foreign, id)
				}
			}
		}
		if why == "" {
			continue
		}
		if c.ok() {
			t.breaks(c.Event, "a permit with %s was registered", why) // [PERM-6]
		} else if c.Code == "invalid_door_ids" || c.Code == "empty_door_ids" {
			t.checked++
			invalid := texts(c.Out["invalid"])
			if i := slices.IndexFunc(foreign, func(id string) bool { return !slices.Contains(invalid, id) }); i >= 0 && c.Out["invalid"] != nil && len(texts(list)) <= manyDoors {
				t.bad(c.Event, "refused for %v, but not for %s of another place", invalid, foreign[i]) // [PERM-6]
			}
		}
	}
	return t
}
