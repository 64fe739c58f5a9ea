package judge

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/each"
)

const policiesRoute = "/device/v1/doors/{id}/policies"

// policies compares each stored or removed window policy with the server's content (ENT-2).
func (s *second) policies() {
	last := map[string]*call{} // by door
	for i, c := range s.view.calls() {
		if c.Route != policiesRoute || c.Method == "GET" || !c.ok() || c.SentNs == 0 {
			continue
		}
		crowded := last[c.Path] != nil && last[c.Path].overlaps(c) || crowdedLater(s.view.calls()[i+1:], c)
		last[c.Path] = c
		p := s.view.places[s.view.placeOf(c)]
		if crowded || !s.view.knows(p, c) {
			continue
		}
		t := s.of("ENT-2")
		t.checked++
		stored := func(w stated[[]refWindow]) bool { return c.stored(w.is) }
		if !slices.ContainsFunc(during(s.view, c, p.content.windows), stored) { // [ENT-2]
			t.bad(c.Event, "%s %s of %s was answered with 200, but the server's content says otherwise", c.Method, c.Route, c.Path)
		}
	}
}

// crowdedLater reports whether a call answered later was sent before c's answer.
func crowdedLater(calls []*call, c *call) bool {
	return slices.ContainsFunc(calls, func(d *call) bool {
		return d.Route == c.Route && d.Path == c.Path && d.Method != "GET" && d.SentNs != 0 && c.overlaps(d)
	})
}

// stored reports whether the windows are as the call left them.
func (c *call) stored(windows []refWindow) bool {
	of := each.If(windows, func(w refWindow) bool { return w.DoorID == c.Path })
	if c.Method == "DELETE" {
		return c.removed(of)
	}
	raw, _ := json.Marshal(c.In["window"])
	var want struct {
		Ref              string                 `json:"ref"`
		Week             map[string][][2]string `json:"week"`
		StartsAt, EndsAt string
	}
	if json.Unmarshal(raw, &want) != nil {
		return true // not in the contract's form: nothing to compare
	}
	mode := c.in("mode")
	starts, _ := instant(want.StartsAt)
	ends, _ := instant(want.EndsAt)
	starts, ends = stored(starts), stored(ends)
	for _, w := range of {
		if w.Ref != want.Ref || w.Mode != mode || c.out("policyId") != "" && w.ID != c.out("policyId") {
			continue
		}
		if want.Ref != "custom" || sameWeek(w.Week, want.Week) && (want.StartsAt == "" || w.StartsAt == starts) && (want.EndsAt == "" || w.EndsAt == ends) {
			return true
		}
	}
	return false
}

// unixZero stands for the first moment of 1970 in a window, where 0 means none.
const unixZero = -62_135_596_800_000

// stored is how a window's start or end is stored, in Unix ms.
func stored(ms int64) int64 {
	return cmp.Or(ms, unixZero)
}

// removed reports whether a door's windows that were to be deleted are gone.
func (c *call) removed(of []refWindow) bool {
	ref, id := "", ""
	for part := range strings.SplitSeq(c.Query, "&") {
		switch k, v, _ := strings.Cut(part, "="); k {
		case "ref":
			ref = v
		case "policyId":
			id = v
		}
	}
	return !slices.ContainsFunc(of, func(w refWindow) bool { return (ref == "" || w.Ref == ref) && (id == "" || w.ID == id) }) // both hold together
}

func sameWeek(a, b map[string][][2]string) bool {
	return !slices.ContainsFunc(weekdays, func(day string) bool { return len(a[day])+len(b[day]) > 0 && !reflect.DeepEqual(a[day], b[day]) })
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

const placeRoute = "/core/v1/places/{id}"

// hours compares each change of opening hours with the server's content: the given days as given, the others unchanged
// (HRS-1).
func (s *second) hours() {
	last := map[string]*call{} // by place
	for i, c := range s.view.calls() {
		if c.Route != placeRoute || c.Method != "PATCH" || !c.ok() || c.SentNs == 0 {
			continue
		}
		crowded := last[c.Path] != nil && last[c.Path].overlaps(c) || crowdedLater(s.view.calls()[i+1:], c) ||
			s.view.unsureBetween(c, c, func(u *call) bool { return u.Route == placeRoute && u.Method == "PATCH" && u.Path == c.Path })
		last[c.Path] = c
		p := s.view.places[c.Path]
		if crowded || !s.view.knows(p, c) {
			continue
		}
		t := s.of("HRS-1")
		t.checked++
		found, other := false, true
		for _, old := range s.view.hoursBefore(p, c) {
			other = other && !c.patched(old, old)
			for _, h := range during(s.view, c, p.content.hours) {
				found = found || c.patched(old, h.is)
			}
		}
		if other {
			s.rescheduled = append(s.rescheduled, c)
		}
		if !found { // [HRS-1]
			t.bad(c.Event, "hours of %s were changed, but the server's content has different ones", c.Path)
		}
	}
}

// hoursBefore are the hours that a place had when a call was sent; several if the clocks can't tell.
func (v *View) hoursBefore(p *place, c *call) []refHours {
	out, sent := []refHours{{}}, c.started()
	for _, h := range p.content.hours {
		switch {
		case v.before(h.e, sent):
			out = []refHours{h.is}
		case !v.before(sent, h.e):
			out = append(out, h.is)
		}
	}
	return out
}

// patched reports whether the hours are the old ones with the call's days.
func (c *call) patched(old, now refHours) bool {
	raw, _ := json.Marshal(c.In["hours"])
	var in refHours
	if json.Unmarshal(raw, &in) != nil {
		return true
	}
	want := map[string][][2]string{}
	maps.Copy(want, old.Week)
	maps.Copy(want, in.Week)
	return sameWeek(want, now.Week)
}

// moment writes Unix ms as a time, 0 as never.
func moment(ms int64) string {
	if ms == 0 {
		return "no time"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
