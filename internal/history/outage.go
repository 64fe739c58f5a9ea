package history

import (
	"encoding/json"
	"fmt"
	"slices"
)

// How exactly resting behaviours are due: never early, at most this late. After
// a silent end of the line the board cannot know before its keep-alive runs out.
const (
	RestEarlyMs  = 1
	RestLateMs   = 500
	RestSilentMs = 120 * 1000
)

// outagePolicy is a netloss setting.
type outagePolicy struct {
	GraceSec int64          `json:"graceSec"`
	Channels map[int]string `json:"channels"`
}

// resting maps a behaviour to what the relay does for it.
var resting = map[string]string{"open": "pulse", "close": "lock", "hold": "hold", "off": "off"}

// behaviour is what a channel does, close when never configured.
func (p outagePolicy) behaviour(channel int) string {
	if b := p.Channels[channel]; b != "" {
		return b
	}
	return "close"
}

// due is the outage age in ms at which the behaviour shows.
func (p outagePolicy) due() int64 { return min(p.GraceSec*1000, LimitMs) }

// outage is one outage of a board as its journal and its next hello tell.
type outage struct {
	policy outagePolicy
	age    int64 // the highest that anybody told
	last   *Event
	silent bool
	rests  map[int][]*Event // Actuations with cause outage by channel
}

// Off3 judges OFF-3: in each outage that passed its grace (or 36 h) each channel
// shows its stored behaviour once, when due [OFF-3].
func Off3(v *View) Verdict {
	t := &tally{}
	late := int64(0)
	outages := 0
	for _, b := range v.sortedBoards() {
		if !b.truth && len(b.presented) == 0 && !v.hasTruth {
			continue
		}
		for _, o := range b.outages() {
			if o.judge(t, b, &late) {
				outages++
			}
		}
	}
	return t.verdict(v, "OFF-3", fmt.Sprintf("%s channels in %s outages, at most %s late", count(t.checked), count(outages), secs(late)))
}

// outages cuts a board's history into outages. One ends with the hello after it.
func (b *board) outages() []outage {
	unset := outagePolicy{GraceSec: LimitMs / 1000}
	policy := unset
	cur := outage{policy: policy, rests: map[int][]*Event{}}
	var out []outage
	end := func() {
		if cur.age != 0 || len(cur.rests) > 0 {
			out = append(out, cur)
		}
		cur = outage{policy: policy, rests: map[int][]*Event{}}
	}
	see := func(e *Event) {
		cur.last = e
		if e.OutageAgeMs < 0 || cur.age < 0 {
			cur.age = -1
		} else {
			cur.age = max(cur.age, e.OutageAgeMs)
		}
	}
	silent := b.silences()
	held := map[int]bool{} // channels in a resting hold: recovery locks them
	for _, e := range b.onsite {
		quiet := silent(e)
		switch e.Kind {
		case Netloss:
			var next outagePolicy // its own map: earlier outages keep theirs
			if json.Unmarshal([]byte(e.Text), &next) == nil {
				policy, cur.policy = next, next
			}
		case Wiped: // the policy is stored on the board
			policy, cur.policy = unset, unset
		case Attached:
			end()
		case Online:
			see(e)
			cur.silent = quiet
			end()
		case Presented, Actuation:
			rest := e.Cause == "outage"
			if rest && held[e.Channel] && e.Action == "lock" {
				held[e.Channel] = false
				continue
			}
			if e.OutageAgeMs != 0 || rest {
				see(e)
				cur.silent = quiet
			}
			if rest {
				held[e.Channel] = e.Action == "hold"
				cur.rests[e.Channel] = append(cur.rests[e.Channel], e)
			}
		}
	}
	end()
	return out
}

// silences tells of events in order whether the line had last ended without a word.
func (b *board) silences() func(*Event) bool {
	i, silent := 0, false
	return func(e *Event) bool {
		for ; i < len(b.conn) && b.conn[i].Seq < e.Seq; i++ {
			if l := b.conn[i]; l.Kind == Line && l.Op == "down" {
				silent = l.Text != "offline"
			}
		}
		return silent
	}
}

// judge reports whether the outage was due and checks every channel.
func (o outage) judge(t *tally, b *board, late *int64) bool {
	due := o.policy.due()
	passed := o.age < 0 || o.age > due+RestLateMs
	for channel, rests := range o.rests {
		o.channel(t, b, channel, rests, due, late)
	}
	if !passed {
		return len(o.rests) > 0
	}
	for _, channel := range b.channels {
		if len(o.rests[channel]) == 0 {
			if o.silent && o.age >= 0 && o.age < due+RestSilentMs {
				continue
			}
			t.checked++
			t.bad(o.last, "%s channel %d shows nothing at outage age %s, %s is due from %s",
				b.id, channel, age(o.age), o.policy.behaviour(channel), age(due))
		}
	}
	return true
}

// channel checks the resting actuations of one channel in one outage.
func (o outage) channel(t *tally, b *board, channel int, rests []*Event, due int64, late *int64) {
	want := o.policy.behaviour(channel)
	boots := []int{}
	for _, e := range rests {
		t.checked++
		if e.Action != resting[want] {
			t.bad(e, "%s channel %d did %s in the outage, stored is %s", b.id, channel, e.Action, want)
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

func (o outage) timely(t *tally, b *board, e *Event, first bool, due int64, late *int64) {
	if e.OutageAgeMs < 0 {
		return // a lost clock counts as over 36 h
	}
	ms := e.OutageAgeMs - due
	bound := int64(RestLateMs)
	if o.silent {
		bound = RestSilentMs
	}
	switch {
	case ms < -RestEarlyMs:
		t.bad(e, "%s channel %d shows %s at outage age %s, due at %s", b.id, e.Channel, e.Action, age(e.OutageAgeMs), age(due))
	case first && ms > bound:
		t.bad(e, "%s channel %d shows %s only at outage age %s, due at %s", b.id, e.Channel, e.Action, age(e.OutageAgeMs), age(due))
	case first:
		*late = max(*late, ms)
	}
}
