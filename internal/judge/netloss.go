package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/history"
)

// addPolicy makes a board be judged by the outage policy that a client was told is stored, whatever the board says it
// stored.
func (v *View) addPolicy(e *history.Event) {
	if e.Route != netlossRoute || e.Method != "PUT" || e.Status != 200 {
		return
	}
	c := call{Event: e}
	if json.Unmarshal([]byte(e.Text), &c.CallText) != nil || c.Path == "" {
		return
	}
	p, ok := c.policy(c.Out)
	b := v.boards[c.Path]
	if !ok || b == nil || b.newer(p) {
		return
	}
	text, err := json.Marshal(p)
	if err != nil { // plain values: cannot fail
		return
	}
	b.onsite = append(b.onsite, &history.Event{Seq: e.Seq, At: e.At, WallNs: e.WallNs, Src: e.Src, ErrNs: e.ErrNs, Kind: history.Netloss, BoardID: b.id, Text: string(text)})
}

// newer reports whether the board has stored another policy since, or was replaced or wiped.
func (b *board) newer(p outagePolicy) bool {
	for _, e := range slices.Backward(b.onsite) {
		switch e.Kind {
		case history.Wiped, history.Detached, history.Attached:
			return true
		case history.Netloss:
			var last outagePolicy
			return json.Unmarshal([]byte(e.Text), &last) == nil && last.Version > p.Version
		}
	}
	return false
}

// policy parses the outage policy of a request or an answer.
func (c *call) policy(from map[string]any) (p outagePolicy, ok bool) {
	raw, err := json.Marshal(from)
	return p, err == nil && from["graceSec"] != nil && json.Unmarshal(raw, &p) == nil
}

// outagePolicies judges answers about outage policies: a PUT answers with the policy that was asked for, a GET with the
// one answered last.
func (v *View) outagePolicies() *tally {
	t := &tally{}
	last := map[string]*call{}
	for _, c := range v.calls() {
		if c.Route != netlossRoute || !c.ok() || c.SentNs == 0 {
			continue
		}
		told, ok := c.policy(c.Out)
		if !ok {
			continue
		}
		put := last[c.Path]
		if c.Method == "PUT" {
			if put == nil || !put.overlaps(c) || !put.outdates(told) { // of two at once, the later version stays
				last[c.Path] = c
			}
			asked, _ := c.policy(c.In)
			t.checked++
			if why := asked.within(told); why != "" {
				t.bad(c.Event, "PUT netloss of %s was answered with %s", c.Path, why) // [OFF-3]
			}
			continue
		}
		if put == nil || put.overlaps(c) || v.handAt(c.Path, put.Event) || v.replaced(c.Path, put, c) { // a hand may store something else whenever it likes
			continue
		}
		t.checked++
		stored, _ := put.policy(put.Out)
		if told.GraceSec != stored.GraceSec || !maps.Equal(told.Channels, stored.Channels) {
			t.bad(c.Event, "GET netloss of %s returned a different policy from the previous PUT", c.Path) // [OFF-3]
		}
	}
	return t
}

// outdates reports whether a PUT stored a later version of the policy than another one was told.
func (c *call) outdates(told outagePolicy) bool {
	stored, _ := c.policy(c.Out)
	return stored.Version > told.Version
}

// within reports which named value of p isn't in told; "" if all are.
func (p outagePolicy) within(told outagePolicy) string {
	if p.GraceSec != told.GraceSec {
		return fmt.Sprintf("graceSec %d, asked for %d", told.GraceSec, p.GraceSec)
	}
	for channel, behaviour := range p.Channels {
		if told.Channels[channel] != behaviour {
			return fmt.Sprintf("%q for channel %d, although %q was asked for", told.Channels[channel], channel, behaviour)
		}
	}
	return ""
}

// replaced reports whether between two calls the board lost its flash, was replaced, or stored a policy from a request
// without an answer.
func (v *View) replaced(id string, put, get *call) bool {
	b := v.boards[id]
	if b == nil {
		return true
	}
	stored, _ := put.policy(put.Out)
	for _, e := range b.onsite {
		if v.before(e, put.Event) || v.before(get.Event, e) {
			continue
		}
		switch e.Kind {
		case history.Wiped, history.Detached, history.Attached:
			return true
		case history.Netloss:
			var p outagePolicy
			if json.Unmarshal([]byte(e.Text), &p) == nil && p.Version > stored.Version {
				return true
			}
		}
	}
	return false
}
