package judge

import (
	"encoding/json"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// followed is how often somebody looked, after a change of hours, at what it makes different: at the schedule, at a
// door's list of windows, or at a door with a window that follows hours. What is the same with the hours from before
// says nothing of the change.
func (v *View) followed(changes []*call) (n int) {
	for place, list := range each.By(changes, func(c *call) string { return c.Path }) {
		n += v.followedAt(v.places[place], list)
	}
	return n
}

// look is what somebody saw of hours that may have been one or the other.
type look struct {
	*history.Event
	differs func(was, now refHours) bool
}

// followedAt is followed for one place. was: the hours when somebody last saw what they make different.
func (v *View) followedAt(p *place, changes []*call) (n int) {
	was := v.hoursBefore(p, changes[0])
	for _, l := range v.looksAtHours(p) {
		if !sooner(changes[0].Event, l.Event) {
			continue
		}
		now, known := p.content.hoursUntil(v, l.Event)
		if known && !slices.ContainsFunc(was, func(was refHours) bool { return !l.differs(was, now) }) {
			n, was = n+1, []refHours{now}
		}
	}
	return n
}

// hoursUntil are the last hours reported before an event.
func (c *content) hoursUntil(v *View, e *history.Event) (now refHours, known bool) {
	for _, h := range c.hours {
		if v.before(h.e, e) {
			now, known = h.is, true
		}
	}
	return now, known
}

// looksAtHours are all looks at a place, in order.
func (v *View) looksAtHours(p *place) (out []look) {
	for _, c := range v.calls() {
		door := ""
		switch {
		case c.Route == scheduleRoute && c.ok() && c.Path == p.id:
			var shown []scheduleDay
			raw, _ := json.Marshal(c.Out["days"])
			if json.Unmarshal(raw, &shown) == nil {
				out = append(out, look{c.Event, func(was, now refHours) bool { return was.shows(c, shown) != "" }})
			}
			continue
		case c.Route == policiesRoute && c.ok() && c.Method == "GET" && v.placeOf(c) == p.id:
			out = append(out, look{c.Event, func(was, now refHours) bool { return p.content.switches(c.Path, c.At, was, now) }})
			continue
		case c.Route == linkRoute && c.in("doorId") != "":
			door = c.in("doorId")
		case !c.rings() || c.PlaceID != p.id:
			continue
		}
		out = append(out, look{c.Event, func(was, now refHours) bool { return p.content.decides(door, c.At, was, now) }})
	}
	for _, b := range v.sortedBoards() {
		for _, e := range b.presented {
			if b.place == p.id {
				out = append(out, look{e, func(was, now refHours) bool { return p.content.decides(e.DoorID, e.At, was, now) }})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b look) int { return order(a.Event, b.Event) })
	return out
}

// switches reports whether a window of a door that follows hours is active with one of them and not with the other.
func (c *content) switches(door string, at int64, was, now refHours) bool {
	return slices.ContainsFunc(c.windows, func(then stated[[]refWindow]) bool {
		return slices.ContainsFunc(then.is, func(w refWindow) bool {
			before, _ := w.active(was, at)
			after, _ := w.active(now, at)
			return w.DoorID == door && before != after
		})
	})
}

// decides reports whether a door, or with "" any, had windows that decide differently with the one and the other.
func (c *content) decides(door string, at int64, was, now refHours) bool {
	return slices.ContainsFunc(c.windows, func(then stated[[]refWindow]) bool {
		return slices.ContainsFunc(then.is, func(w refWindow) bool {
			if door != "" && w.DoorID != door {
				return false
			}
			before, _ := modeAt(then.is, was, w.DoorID, at)
			after, _ := modeAt(then.is, now, w.DoorID, at)
			return before != after
		})
	})
}
