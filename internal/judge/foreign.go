package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// Foreign is what others did on a target beside a run: it happened after the run began, and no request of the run
// accounts for it. It is judged like everything else.
type Foreign struct {
	Commands      int      `json:"commands,omitempty"`
	Changes       int      `json:"changes,omitempty"`       // of permits, policies, hours and so on
	Presentations int      `json:"presentations,omitempty"` // at a reader
	First         []string `json:"first,omitempty"`         // the first of each, named
}

// String names them in a sentence; "" when there were none.
func (f Foreign) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{f.Commands, "command"}, {f.Changes, "change"}, {f.Presentations, "presentation"}} {
		if p.n > 0 {
			parts = append(parts, amount.Many(p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("others used the target meanwhile: %s (first %s); that was judged too", strings.Join(parts, ", "), strings.Join(f.First, ", "))
}

// claimedSlackMs is how far a request's own times may be off from the server's events for it, in wall time on one
// machine.
const claimedSlackMs = 50

// requests are the times during which the run's changing requests were in progress, by place ("" = any) and, where
// known, by door.
type requests struct {
	v    *View
	busy map[string][]run // by place or door, in Unix ms of the wall
}

func (v *View) requests() *requests {
	r := &requests{v: v, busy: map[string][]run{}}
	for _, c := range v.calls() {
		if c.Method == "GET" || c.SentNs == 0 {
			continue
		}
		at := run{c.SentNs/1e6 - claimedSlackMs, c.WallNs/1e6 + claimedSlackMs}
		for _, where := range slices.Compact([]string{c.PlaceID, c.in("doorId"), c.out("doorId"), c.Path}) {
			if where != "" || c.PlaceID == "" && c.in("doorId") == "" && c.Path == "" {
				r.busy[where] = append(r.busy[where], at)
			}
		}
	}
	for where, list := range r.busy {
		r.busy[where] = merged(list)
	}
	return r
}

// account reports whether a request of the run was in progress at the event's place or door.
func (r *requests) account(e *history.Event) bool {
	at, off := e.WallNs/1e6, (uncertain(e, r.v.begun)+1e6-1)/1e6
	for _, where := range []string{e.PlaceID, e.DoorID, ""} {
		list := r.busy[where]
		i, _ := slices.BinarySearchFunc(list, at-off, func(x run, at int64) int { return cmp.Compare(x.to, at) })
		if i < len(list) && list[i].from <= at+off {
			return true
		}
	}
	return false
}

// Foreign counts what the run didn't cause; nothing if the target was its own.
func (v *View) Foreign() (f Foreign) {
	if v.begun == nil || v.oneClock() { // a world of its own, or nobody knows
		return f
	}
	own := v.requests()
	add := func(n *int, name string) {
		if *n++; *n == 1 {
			f.First = append(f.First, name)
		}
	}
	for _, c := range v.order {
		if len(c.intents) == 0 {
			continue
		}
		if k := v.keys[c.key]; c.key != "" && k != nil && len(k.attempts) > 0 {
			continue
		}
		if c.intents[0].Method == "api" && c.key != "" || !own.account(c.intents[0]) {
			add(&f.Commands, c.id)
		}
	}
	given := each.Set(v.claims(), func(k *claim) string { return k.id })
	for _, p := range v.sortedPlaces() {
		for _, e := range p.commits {
			if e.Op == history.Ended { // caused by time, not by a request
				continue
			}
			if !v.before(e, v.begun) && !given[e.GrantID] && !own.account(e) {
				add(&f.Changes, strings.TrimSpace(fmt.Sprintf("%s of %s %s", e.Op, e.PlaceID, e.GrantID)))
			}
		}
	}
	for _, b := range v.sortedBoards() {
		for _, e := range b.presented {
			if at := *e; !v.before(e, v.begun) {
				if at.PlaceID = b.place; !own.account(&at) {
					add(&f.Presentations, "at "+e.DoorID)
				}
			}
		}
	}
	return f
}

// sortedPlaces are the places by id.
func (v *View) sortedPlaces() []*place {
	return slices.SortedFunc(maps.Values(v.places), func(a, b *place) int { return strings.Compare(a.id, b.id) })
}

// notOurs reports whether the event belongs to a command that the run didn't give.
func (v *View) notOurs(e *history.Event) bool {
	c := v.commands[e.CommandID]
	if v.begun == nil || c == nil || c.key == "" {
		return false
	}
	k := v.keys[c.key]
	return k == nil || len(k.attempts) == 0
}

// merged sorts runs and joins those that touch.
func merged(list []run) (out []run) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b run) int { return cmp.Compare(a.from, b.from) })
	for _, r := range list {
		if n := len(out); n > 0 && r.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}
