package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// Occasion is a case of what a promise is about: when it came up, and where. A step that claims the promise has to do with
// one of them.
type Occasion struct {
	From, To           int64  // wall time, in Unix ns
	Place, Board, Door string // "" = not known
	Looks              bool   // what somebody is told at a door doesn't show it, only a look does
}

// mostOccasions is how many are kept. A load has more, and none of its steps is about a single one.
const mostOccasions = 2000

// forever is the end of an occasion that whoever looks later still sees.
const forever = math.MaxInt64

// at notes when and where a promise was put to the test. Steps say by their own clock when they took place, so nothing is
// noted of a history from several clocks.
func (v Verdict) at(view *View, lists ...[]Occasion) Verdict {
	v.Occasions = append(v.Occasions, slices.Concat(lists...)...)
	if !view.oneClock() || len(v.Occasions) > mostOccasions {
		v.Occasions = nil
	}
	return v
}

// moments are the occasions of single events at boards.
func (v *View) moments(events []*history.Event) []Occasion {
	return each.Of(events, func(e *history.Event) Occasion { return v.since(e, e.WallNs) })
}

// since is an occasion that began with an event of a board.
func (v *View) since(e *history.Event, to int64) Occasion {
	o := Occasion{From: e.WallNs, To: to, Place: e.PlaceID, Board: e.BoardID, Door: e.DoorID}
	if b := v.boards[e.BoardID]; b != nil {
		o.Place = b.place
	}
	return o
}

// times are the occasions of requests at whatever door, from when they were sent to their answer.
func times(calls []*call) []Occasion {
	return each.Of(calls, func(c *call) Occasion { return Occasion{From: cmp.Or(c.SentNs, c.WallNs), To: c.WallNs} })
}

// instants are the occasions of single events, wherever they were.
func instants(events []*history.Event) []Occasion {
	return each.Of(events, func(e *history.Event) Occasion { return Occasion{From: e.WallNs, To: e.WallNs} })
}

// presses are the occasions of requests, from when they were sent to their answer.
func presses(calls []*call) []Occasion {
	return each.Of(calls, func(c *call) Occasion {
		door := cmp.Or(c.in("doorId"), c.out("doorId")) // the door that a caller gets
		return Occasion{From: c.SentNs, To: c.WallNs, Place: c.PlaceID, Door: door}
	})
}

// given is the occasion of a command, from when it was asked for.
func (v *View) given(c *command, to int64) Occasion {
	o := Occasion{From: to, To: to, Place: c.place, Door: c.door}
	if e := earliest(c.intents, c.publishes, c.answers); e != nil {
		o.From = min(o.From, e.WallNs)
	}
	if b := v.doors[c.door]; b != nil {
		o.Board = b.id
	}
	return o
}

// usedAgain are the occasions of the keys that were used again: every request under them.
func (v *View) usedAgain() (out []Occasion) {
	for _, key := range slices.Sorted(maps.Keys(v.keys)) {
		k := v.keys[key]
		if len(k.attempts) > 1 && len(out) <= mostOccasions {
			out = append(out, v.moments(k.attempts)...)
		}
	}
	return out
}

// usedElsewhere are the occasions of keys under which another place had a command before: to this one, they are new.
func (v *View) usedElsewhere() (out []Occasion) {
	places := map[string][]*history.Event{} // the first attempt at each, by the mark of the key alone
	for _, key := range slices.Sorted(maps.Keys(v.keys)) {
		k := v.keys[key]
		at := slices.IndexFunc(k.attempts, func(e *history.Event) bool { return e.KeyMark != "" && !v.before(e, v.start()) })
		if at >= 0 && slices.ContainsFunc(k.answers, func(e *history.Event) bool { return definite(e) && !e.Replayed }) {
			places[k.attempts[at].KeyMark] = append(places[k.attempts[at].KeyMark], k.attempts[at])
		}
	}
	for _, mark := range slices.Sorted(maps.Keys(places)) {
		firsts := places[mark]
		slices.SortFunc(firsts, order)
		out = append(out, v.moments(firsts[1:])...)
	}
	return out
}

// lookedSince reports whether anybody had to do with a board after an event: looked at it or its journal, read records,
// events, doors or a permit of its place, tried its reader or gave it a command.
func (v *View) lookedSince(b *board, e *history.Event) bool {
	last := v.lastSeen()
	return slices.ContainsFunc([]string{b.id, b.place, ""}, func(id string) bool { return last[id] != nil && sooner(e, last[id]) })
}

// lastLooked finds the last time that anybody had to do with each board, with the boards of each place, or with all of them.
func (v *View) lastLooked() map[string]*history.Event {
	last := latest{}
	for id, b := range v.boards {
		for _, e := range b.presented {
			last.see(id, e)
		}
	}
	for _, c := range v.order {
		for _, e := range c.publishes {
			last.see(e.BoardID, e)
		}
	}
	for _, e := range v.looks {
		last.see(e.PlaceID, e)
	}
	for _, c := range v.calls() {
		read := len(c.Told) > 0 || c.Method == "GET" && (c.Route == createRoute+"/{id}" || strings.HasPrefix(c.Route, "/device/"))
		if place := v.placeOf(c); read && c.ok() && !c.Own && place != "" {
			last.see(place, c.Event)
		}
	}
	return last
}
