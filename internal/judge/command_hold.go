package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// holdSlackMs is how far the end of a hold may be off from its N minutes, on the board's clock.
const holdSlackMs = 500

// hold is an active hold of a channel by a command.
type hold struct {
	act     *history.Event
	from    int64 // domain ms: when the board's timer started, a little before its line was noted
	ends    int64 // 0 = until locked
	against bool  // it lasted while something else happened
}

// holds is the state of the check of holds.
type holds struct {
	tally
	v      *View
	at     map[string][]*history.Event // looks at doors and boards, by place
	ended  int
	locked int   // ended by a command before their time
	farMs  int64 // the farthest end from its N minutes
	shown  []Occasion
}

// cmd7 judges CMD-7 from the journals: a hold of N minutes ends after N minutes, even over outages and reboots, unless
// something ended or replaced it; a hold of 0 minutes ends only by a command; and nothing else ends by itself.
func cmd7(v *View) Verdict {
	h := &holds{v: v}
	for _, b := range v.sortedBoards() {
		if b.truth {
			h.board(b)
		}
	}
	for _, c := range v.order {
		if c.op == "hold" {
			v.countReal(&h.tally, c)
		}
	}
	n := h.checked
	h.tally = *h.plus(v.driven().of("CMD-7"))
	// the same words in every world, so that the numbers can be added; see plain
	return h.verdict(v, "CMD-7", fmt.Sprintf("%s holds: %s ran out, at most %s off, %s ended by a command, %s replaced, cut off or still held",
		amount.Number(n), amount.Number(h.ended), secs(h.farMs), amount.Number(h.locked), amount.Number(n-h.ended-h.locked))).
		about(n).
		triedIf(v.told, len(h.shown)+h.real, "nobody saw a hold end by itself, none lasted longer than an opening until it was locked, and none lasted through an opening, a reboot or a cut line").
		showsIf(v.told, sight{h.ended, "a hold that ends by itself"}, sight{h.locked, "a hold that is locked"}).
		at(v, h.shown)
}

func (h *holds) board(b *board) {
	active := map[int]*hold{}
	resting := map[int]bool{} // the outage keeps holding: the end of the hold shows at recovery
	closed := map[int]bool{}  // a command has locked the door, and nothing holds it since
	for _, e := range b.onsite {
		h.through(b, active, e)
		switch {
		case e.Kind == history.Wiped || e.Kind == history.Detached || e.OutageAgeMs < 0: // the clock went with it
			active, closed = map[int]*hold{}, map[int]bool{}
		case e.Kind != history.Actuation:
		case e.Cause == "command" && (e.Action == "hold" || e.Action == "lock"):
			if a := active[e.Channel]; a != nil && e.Action == "lock" { // until locked
				a.against = a.against || e.At-a.act.At >= pulsedMs
				h.locked++
			}
			h.over(b, active[e.Channel], resting[e.Channel], e)
			delete(active, e.Channel)
			resting[e.Channel], closed[e.Channel] = false, e.Action == "lock"
			if minutes, known := h.minutes(e); e.Action == "hold" && known {
				h.checked++
				a := &hold{act: e, from: e.At - h.v.notedLate(e)}
				if minutes > 0 {
					a.ends = a.from + minutes*60_000
				}
				active[e.Channel] = a
			}
		case e.Cause == "hold_end":
			h.end(b, active[e.Channel], closed[e.Channel], e)
			delete(active, e.Channel)
		case e.Cause == "outage" && e.Action == "hold":
			resting[e.Channel] = true
		case e.Cause == "outage" && e.Action == "lock": // close, or the recovery from hold
			h.over(b, active[e.Channel], resting[e.Channel], e)
			delete(active, e.Channel)
			resting[e.Channel] = false
		}
	}
	for channel, a := range active {
		if a != nil && !a.against {
			a.against = h.seen(b, a)
		}
		h.over(b, a, resting[channel], &history.Event{Kind: history.Label, At: h.v.end})
	}
}

// holdStoodMs is how long an undisturbed hold must have lasted for its end by a command to be evidence about holds.
const holdStoodMs = 60 * 1000

// pulsedMs is how long a hold must have lasted until it was locked to differ from an opening, whose pulse takes 5 s.
const pulsedMs = 6 * 1000

// stoodMs is how long a hold must have lasted for time alone to be evidence: one of N minutes until its last minute.
func (a *hold) stoodMs() int64 {
	if a.ends == 0 {
		return holdStoodMs
	}
	return max(holdStoodMs, a.ends-a.from-holdStoodMs)
}

// through notes what a hold lasted through: another opening, a reboot, an outage, time.
func (h *holds) through(b *board, active map[int]*hold, e *history.Event) {
	for channel, a := range active {
		if a == nil {
			continue
		}
		down := e.Kind == history.Line && e.Op == "down" || e.Kind == history.Offline
		pulse := e.Kind == history.Actuation && e.Channel == channel && e.Action == "pulse"
		reboot := b.diedBetween(a.act, e)
		tried := e.Kind == history.Presented || e.Kind == history.Actuation && (e.Cause == "command" || e.Cause == "onsite" || e.Cause == "free") // what the board does by itself shows nobody a hold
		a.against = a.against || down || pulse || reboot || tried && e.At-a.act.At >= a.stoodMs()
	}
}

// seen reports whether somebody read the place's doors when the hold had lasted long enough.
func (h *holds) seen(b *board, a *hold) bool {
	return slices.ContainsFunc(h.looks(b.place), func(e *history.Event) bool {
		return e.At-a.act.At >= a.stoodMs() && (a.ends == 0 || e.At < a.ends)
	})
}

// looks are all looks at the doors of a place, or at the boards behind them.
func (h *holds) looks(place string) []*history.Event {
	if h.at == nil {
		h.at = map[string][]*history.Event{}
		for _, c := range h.v.calls() {
			doors := strings.HasPrefix(c.Route, "/device/v1/devices") || strings.HasPrefix(c.Route, "/device/v1/doors")
			if at := h.v.placeOf(c); at != "" && doors && c.ok() && c.Method == "GET" {
				h.at[at] = append(h.at[at], c.Event)
			}
		}
		for _, e := range h.v.looks {
			h.at[e.PlaceID] = append(h.at[e.PlaceID], e)
		}
	}
	return slices.Concat(h.at[place], h.at[""]) // "": at all of them
}

// show notes a hold that shows how long it lasts.
func (h *holds) show(a *hold) {
	o := h.v.since(a.act, forever)
	if o.Door == "" { // of a journal that names only the channel
		o.Board = ""
	}
	h.shown = append(h.shown, o)
}

// end checks a hold that ended by itself. closed: a command had ended it before.
func (h *holds) end(b *board, a *hold, closed bool, e *history.Event) {
	at := e.At - h.v.notedLate(e)
	switch {
	case e.Action != "lock":
		h.bad(e, "%s channel %d did %s at the end of a hold", b.id, e.Channel, e.Action) // [CMD-7]
	case closed:
		h.bad(e, "%s channel %d ended a hold by itself after a command had locked the door", b.id, e.Channel) // [CMD-7]
	case a == nil: // given before the history began, or with unknown minutes
	case a.ends == 0:
		h.bad(e, "%s channel %d ended a hold by itself, although the hold should have lasted until the door was locked", b.id, e.Channel) // [CMD-7]
	case !near(at, a.ends, holdSlackMs):
		h.bad(e, "%s channel %d ended its hold %s after it began, but %s were asked for", b.id, e.Channel, secs(at-a.from), secs(a.ends-a.from)) // [CMD-7]
	default:
		h.ended++
		if a.against || h.seen(b, a) || h.v.lookedSince(b, e) {
			h.show(a)
		}
		h.farMs = max(h.farMs, at-a.ends, a.ends-at)
	}
}

// over checks a hold that something else ended or replaced, or that was active at the end of the history: its own end
// must not have been due.
func (h *holds) over(b *board, a *hold, resting bool, e *history.Event) {
	if a != nil && a.against {
		h.show(a)
	}
	at := e.At - h.v.notedLate(e)
	if a == nil || a.ends == 0 || resting || at <= a.ends+holdSlackMs {
		return
	}
	h.bad(a.act, "%s channel %d has been held for %s, but %s were asked for", b.id, a.act.Channel, secs(at-a.from), secs(a.ends-a.from)) // [CMD-7]
}

// minutes is the length of a hold that was asked for; not known if several requests under the command's key asked for
// different ones and none was answered.
func (h *holds) minutes(act *history.Event) (n int64, known bool) {
	c := h.v.commands[act.CommandID]
	if c == nil {
		return 0, false
	}
	for _, m := range c.meanings(h.v) {
		f := strings.Fields(m)
		if len(f) < 3 || f[1] != "hold" || f[0] != act.DoorID {
			continue
		}
		minutes, err := strconv.ParseFloat(f[2], 64)
		if err != nil || known && int64(minutes) != n {
			return 0, false
		}
		n, known = int64(minutes), true
	}
	return n, known
}
