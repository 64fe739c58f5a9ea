package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// When resting behaviours are due: never early, and at most this late. After a silent end of the line, the board can't
// know before its keep-alive runs out.
const (
	restEarlyMs  = 1
	restLateMs   = 500
	restSilentMs = 120 * 1000
)

// outagePolicy is a netloss setting.
type outagePolicy struct {
	GraceSec int64          `json:"graceSec"`
	Channels map[int]string `json:"channels"`
	Version  int64          `json:"version"`
}

// resting maps a behaviour to the relay's action.
var resting = map[string]string{"open": "pulse", "close": "lock", "hold": "hold", "off": "off"}

// behaviour is what a channel should do; close if never configured.
func (p outagePolicy) behaviour(channel int) string {
	return cmp.Or(p.Channels[channel], "close")
}

// due is the outage age in ms at which the behaviour shows.
func (p outagePolicy) due() int64 { return min(p.GraceSec*1000, limitMs) }

// outage is one outage of a board according to its line, its journal and its next hello.
type outage struct {
	policy outagePolicy
	age    int64 // the highest that was reported, or that the line shows
	last   *history.Event
	silent bool
	rests  map[int][]*history.Event // Actuations with cause outage by channel
	told   []*history.Event         // rests that show what is stored: a board that was never told anything locks after 36 h, too
}

// off3 judges OFF-3: in each outage that exceeded its grace (or 36 h) each channel shows its stored behaviour once,
// when due, whether or not the board came back; recovery ends it.
func off3(v *View) Verdict {
	t := &tally{}
	late := int64(0)
	outages, told := 0, []Occasion(nil)
	for _, b := range v.sortedBoards() {
		if !b.truth && len(b.presented) == 0 && !v.hasTruth {
			continue
		}
		for _, o := range b.outages(t, v) {
			told = append(told, each.Of(o.told, func(e *history.Event) Occasion { return v.since(e, forever) })...)
			if o.judge(t, b, &late) {
				outages++
			}
		}
	}
	n := t.checked
	t = t.plus(v.driven().of("OFF-3")).plus(v.outagePolicies())
	return t.verdict(v, "OFF-3", fmt.Sprintf("%s channels in %s outages, changed at most %s late", amount.Number(n), amount.Number(outages), secs(late))).
		about(n).
		triedIf(v.told, len(told), "no channel reached a resting behaviour that differs from locking after 36 h").
		at(v, told)
}

// rester divides a board's history into outages, and watches how each ends.
type rester struct {
	v        *View
	t        *tally
	b        *board
	rest     []*history.Event // of the board's events, what comes after the one that is seen
	policy   outagePolicy
	cur      outage
	out      []outage
	line     lineState
	channels map[int]*restingChannel
	// joined: the run began during this outage, so the channels' earlier behaviour is unknown; they are judged from the
	// next contact on.
	joined bool
	spoken bool           // the server has spoken to the board since its hello
	back   *history.Event // the hello by which it came back from an outage, nil while it is away
	wiped  bool           // so that what is stored has gone
}

// restingChannel is a channel's state: its behaviour in an outage ("hold", "off" or "") and whether a command holds it.
type restingChannel struct {
	rest string
	held bool
}

var unset = outagePolicy{GraceSec: limitMs / 1000}

// outages are the board's outages, the last one up to the end of the history. Findings on how they ended go into t.
func (b *board) outages(t *tally, v *View) []outage {
	r := &rester{v: v, t: t, b: b, policy: unset, channels: map[int]*restingChannel{}}
	r.end()
	for i, e := range b.onsite {
		r.rest = b.onsite[i+1:]
		r.line.see(e)
		if r.joined {
			r.meanwhile(e)
		} else {
			r.see(e)
		}
	}
	end := v.end
	if r.back != nil && end-r.back.At > FreshMs { // nothing was left to synchronize, or it was lost
		r.heard(r.back)
	}
	if since, known := end-r.line.downAt, !r.joined && r.line.known && r.line.downAt != 0 && !r.line.lost; known && !r.line.detached && b.truth {
		if low, _, ok := r.line.age(end); ok && r.cur.age >= 0 && low > 0 && since > r.cur.age {
			r.cur.age, r.cur.silent = since, r.line.silent
			r.cur.last = cmp.Or(r.cur.last, r.line.cause)
		}
	}
	r.end()
	return r.out
}

func (r *rester) end() {
	if r.cur.age != 0 || len(r.cur.rests) > 0 {
		r.out = append(r.out, r.cur)
	}
	r.cur = outage{policy: r.policy, rests: map[int][]*history.Event{}}
}

func (r *rester) see(e *history.Event) {
	if r.line.downAt != 0 {
		r.back = nil
	}
	switch e.Kind {
	case history.Begun:
		r.joined, r.out = !r.line.known || r.line.downAt != 0 || !r.spoken, nil
	case history.Netloss:
		var next outagePolicy // a new map: earlier outages keep theirs
		if json.Unmarshal([]byte(e.Text), &next) == nil {
			r.policy, r.cur.policy = next, next
		}
	case history.Wiped: // the policy is stored on the board; what it did before is judged by the previous one
		r.end()
		r.policy, r.cur.policy, r.channels, r.wiped, r.back = unset, unset, map[int]*restingChannel{}, true, nil
	case history.Detached: // a real board replaces it
		r.back, r.cur = nil, outage{policy: r.policy, rests: map[int][]*history.Event{}}
	case history.Attached:
		r.end()
	case history.Online:
		r.spoken, r.back = false, e
		r.age(e)
		r.end()
	case history.Applied:
		r.heard(e)
	case history.Presented:
		r.connected(e)
		if e.OutageAgeMs != 0 {
			r.age(e)
		}
	case history.Actuation:
		r.connected(e)
		r.actuation(e)
	}
}

// meanwhile keeps what is known about an outage during which the run began.
func (r *rester) meanwhile(e *history.Event) {
	command := e.Kind == history.Actuation && (e.Cause == "command" || e.Cause == "hold_end")
	switch {
	case e.Kind == history.Applied && r.line.downAt == 0:
		r.joined, r.spoken, r.cur = false, true, outage{policy: r.policy, rests: map[int][]*history.Event{}}
	case e.Kind == history.Netloss || e.Kind == history.Wiped || e.Kind == history.Detached || command:
		r.see(e)
	}
}

// age updates the outage's age from an event.
func (r *rester) age(e *history.Event) {
	r.cur.last, r.cur.silent = e, r.line.silent || e.Kind == history.Online && r.cur.silent
	if e.OutageAgeMs < 0 || r.cur.age < 0 {
		r.cur.age = -1
		return
	}
	r.cur.age = max(r.cur.age, e.OutageAgeMs)
}

func (r *rester) channel(n int) *restingChannel {
	return each.Made(r.channels, n, func() *restingChannel { return &restingChannel{} })
}

func (r *rester) actuation(e *history.Event) {
	c := r.channel(e.Channel)
	switch {
	case e.Cause == "command" && e.Action == "hold":
		c.held, c.rest = true, ""
	case e.Cause == "command" && e.Action == "lock":
		c.held, c.rest = false, ""
	case e.Cause == "hold_end":
		c.held = false
	case e.Cause != "outage":
	case c.rest == "hold" && e.Action == "lock": // held until recovery, then locked
		c.rest, c.held = "", false
		return
	case c.rest == "off" && e.Action == "hold" && e.OutageAgeMs == 0: // driven again, if and only if it is still held
		r.t.checked++
		if !c.held {
			r.t.bad(e, "%s channel %d is held again after the outage, but no hold was active", r.b.id, e.Channel) // [OFF-3]
		}
		c.rest = ""
		return
	default:
		r.rests(e, c)
		return
	}
	if e.OutageAgeMs != 0 {
		r.age(e)
	}
}

// rests checks a channel that takes on its resting behaviour.
func (r *rester) rests(e *history.Event, c *restingChannel) {
	r.age(e)
	if since, wrong := r.line.wrong(e); wrong {
		r.t.breaks(e, "%s channel %d says outage age %s, but its line has been down for %s", r.b.id, e.Channel, history.Age(e.OutageAgeMs), history.Age(since)) // [OFF-3]
	}
	if p := r.cur.policy; r.wiped || c.held || p.behaviour(e.Channel) != "close" || p.GraceSec != unset.GraceSec {
		r.cur.told = append(r.cur.told, e)
	}
	c.rest = ""
	switch e.Action {
	case "hold", "off":
		c.rest = e.Action
	case "lock":
		c.held = false
	}
	r.cur.rests[e.Channel] = append(r.cur.rests[e.Channel], e)
}

// connected handles what a board did after its hello: if the outage has no age any more, the server has spoken to it.
func (r *rester) connected(e *history.Event) {
	if r.back != nil && e.OutageAgeMs == 0 && e.At > r.back.At && e.Cause != "outage" { // a line by outage is how one ends
		r.heard(e)
	}
}

// heard notes that by e the server has spoken to the board.
func (r *rester) heard(e *history.Event) {
	r.spoken, r.back = true, nil
	r.contact(e)
}

// contact handles the server's first message after an outage, which ends the outage and the channels' resting
// behaviour.
func (r *rester) contact(e *history.Event) {
	if r.line.downAt != 0 || !r.b.truth {
		return
	}
	for _, n := range r.b.channels {
		c := r.channel(n)
		switch {
		case r.open(e, n):
			continue
		case c.rest == "hold":
			r.t.bad(e, "%s channel %d is still held after the outage, but should be locked", r.b.id, n) // [OFF-3]
		case c.rest == "off" && c.held:
			r.t.bad(e, "%s channel %d isn't driven again after the outage, although a hold is active", r.b.id, n) // [OFF-3]
		}
		c.rest = ""
	}
}

// open reports whether, by the clocks, the channel may have moved before e, although it comes later.
func (r *rester) open(e *history.Event, channel int) bool {
	for _, x := range r.rest {
		switch {
		case r.v.before(e, x):
			return false
		case x.Kind == history.Actuation && x.Channel == channel && x.Cause == "outage":
			return true
		}
	}
	return false
}

// judge reports whether the outage was due and checks every channel.
func (o outage) judge(t *tally, b *board, late *int64) bool {
	due := o.policy.due()
	passed := o.age < 0 || o.age > due+restLateMs
	for channel, rests := range o.rests {
		o.channel(t, b, channel, rests, due, late)
	}
	if !passed {
		return len(o.rests) > 0
	}
	for _, channel := range b.channels {
		if len(o.rests[channel]) == 0 {
			if o.silent && o.age >= 0 && o.age < due+restSilentMs {
				continue
			}
			t.breaks(o.last, "%s channel %d shows nothing at outage age %s, but %s is due from %s",
				b.id, channel, history.Age(o.age), o.policy.behaviour(channel), history.Age(due))
		}
	}
	return true
}

// channel checks the resting actuations of one channel in one outage.
func (o outage) channel(t *tally, b *board, channel int, rests []*history.Event, due int64, late *int64) {
	want := o.policy.behaviour(channel)
	boots := []int{}
	for _, e := range rests {
		t.checked++
		if e.Action != resting[want] {
			t.bad(e, "%s channel %d did %s in the outage, but %s is stored", b.id, channel, e.Action, want)
			continue
		}
		if slices.Contains(boots, e.Boot) {
			t.bad(e, "%s channel %d showed %s again in the same outage", b.id, channel, want)
			continue
		}
		boots = append(boots, e.Boot)
		o.timely(t, b, e, len(boots) == 1, due, late)
	}
}

func (o outage) timely(t *tally, b *board, e *history.Event, first bool, due int64, late *int64) {
	if e.OutageAgeMs < 0 {
		return // a lost clock counts as over 36 h
	}
	ms := e.OutageAgeMs - due
	bound := int64(restLateMs)
	if o.silent {
		bound = restSilentMs
	}
	switch {
	case ms < -restEarlyMs:
		t.bad(e, "%s channel %d shows %s at outage age %s, but it is due at %s", b.id, e.Channel, e.Action, history.Age(e.OutageAgeMs), history.Age(due))
	case first && ms > bound:
		t.bad(e, "%s channel %d shows %s only at outage age %s, but it was due at %s", b.id, e.Channel, e.Action, history.Age(e.OutageAgeMs), history.Age(due))
	case first:
		*late = max(*late, ms)
	}
}
