package judge

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// cmd6 judges CMD-6: CMD-1..5 for the commands in progress when their board, its line or the server died. The proof is
// incomplete unless each of these died with a command in flight.
func cmd6(v *View) Verdict {
	t := &tally{}
	hit := map[string]bool{}
	by := map[string]int{}
	asked, looks := 0, sync.OnceValue(v.lastLooks)
	var cases []Occasion
	for _, c := range v.order {
		kind := v.struck(c)
		if kind == "" {
			continue
		}
		if c.byGuest() {
			v.countReal(t, c)
		} else {
			t.checked++
			by[kind]++
		}
		if asked == 0 && v.lookedInto(c, kind, looks) {
			asked++
		}
		if len(cases) <= mostOccasions {
			cases = append(cases, v.given(c, v.lastAsked(c)))
		}
		hit[c.id] = true
		if c.key != "" {
			hit[c.key] = true
		}
	}
	cmd4, _ := v.counted.cmd4()
	cmd5, _ := v.counted.cmd5()
	for _, u := range []*tally{v.counted.cmd1(), v.counted.cmd2(), v.counted.cmd3(), cmd4, cmd5} {
		for _, f := range u.found {
			if hit[f.e.CommandID] || f.e.Key != "" && hit[f.e.Key] {
				t.found = append(t.found, f) // [CMD-6]
			}
		}
	}
	out := t.verdict(v, "CMD-6", fmt.Sprintf("%s commands in progress when something died (server %s, board %s, line %s)",
		amount.Number(t.checked), amount.Number(by["server"]), amount.Number(by["board"]), amount.Number(by["line"])))
	for _, kind := range []string{"server", "board", "line"} {
		if by[kind] == 0 { // [CMD-6]
			out.Missing = append(out.Missing, kind+" died with a command in flight")
		}
	}
	if len(hit) == 0 {
		return out
	}
	return out.triedIf(v.told, asked, "nobody looked at what became of a command that was in flight when something died").at(v, cases)
}

// lastAsked is when a command was last asked for or answered, under its key.
func (v *View) lastAsked(c *command) int64 {
	last := int64(0)
	all := slices.Clone(c.answers)
	if k := v.keys[c.key]; c.key != "" && k != nil {
		all = slices.Concat(all, k.attempts, k.answers)
	}
	for _, e := range slices.Concat(all, c.intents, c.publishes) {
		last = max(last, e.WallNs)
	}
	return last
}

// lookedInto reports whether somebody looked at what became of a command: its key was used again, it was answered in spite of
// a dead board or line, or a step read records or events of its place, or its board's journal.
func (v *View) lookedInto(c *command, kind string, looks func() map[string]*history.Event) bool {
	from := earliest(c.intents, c.publishes)
	if kind != "server" && len(c.answers) > 0 {
		return true
	}
	if k := v.keys[c.key]; c.key != "" && k != nil && len(k.attempts) > 1 && slices.ContainsFunc(k.attempts, func(e *history.Event) bool { return sooner(from, e) }) {
		return true
	}
	last := looks()
	return slices.ContainsFunc([]*history.Event{last[""], last[c.place]}, func(e *history.Event) bool { return e != nil && sooner(from, e) })
}

// lastLooks finds the last time that a step read the records or events of each place, or a board's journal there; "" is
// a look at all places.
func (v *View) lastLooks() map[string]*history.Event {
	last := latest{}
	for _, e := range v.looks {
		if e.Text == lookAtJournal {
			last.see(e.PlaceID, e)
		}
	}
	for _, r := range v.calls() {
		if place := v.placeOf(r); r.ok() && !r.Own && len(r.Told) > 0 && place != "" {
			last.see(place, r.Event)
		}
	}
	return last
}

// lookAtJournal is the text of a look at a board's journal, which says nothing of what the board has stored.
const lookAtJournal = "journal"

// struck is what died between the first and the last event of a command: server, board or line; "" for nothing.
func (v *View) struck(c *command) string {
	from := earliest(c.intents, c.publishes)
	if from == nil {
		return ""
	}
	to := earliest(c.answers, c.records)
	if asked := earliest(c.answers); v.within(v.starts, from, cmp.Or(asked, to)) != nil { // also if it had recorded the command, but not answered
		return "server"
	}
	if len(c.publishes) == 0 {
		return ""
	}
	b := c.to
	if b == nil {
		return ""
	}
	if v.within(b.deaths, from, to) != nil {
		return "board"
	}
	epoch := c.publishes[0].Epoch
	i, _ := slices.BinarySearchFunc(b.conn, from, order)
	for _, e := range b.conn[i:] {
		if to != nil && v.before(to, e) {
			break
		}
		if e.Kind == history.Line && e.Op == "down" || e.Kind == history.Offline && e.Epoch == epoch || e.Kind == history.Online && e.Epoch != epoch {
			return "line"
		}
	}
	return ""
}

// within is the first of some ordered events that lies, or may lie, between two others.
func (v *View) within(events []*history.Event, from, to *history.Event) *history.Event {
	i, _ := slices.BinarySearchFunc(events, from, order)
	for i > 0 && !v.before(events[i-1], from) {
		i--
	}
	if i < len(events) && (to == nil || !v.before(to, events[i])) {
		return events[i]
	}
	return nil
}

func order(a, b *history.Event) int {
	switch {
	case sooner(a, b):
		return -1
	case sooner(b, a):
		return 1
	}
	return 0
}
