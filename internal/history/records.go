package history

import (
	"fmt"
	"strings"
)

// Ent4 judges ENT-4: each command that was accepted has exactly one entry
// record with its outcome, there is no record of a command nobody gave, on-site
// attempts of connected boards are recorded once, and no record shows a phone
// number [ENT-4].
func Ent4(v *View) Verdict {
	t := &tally{}
	commands, attempts := 0, 0
	if v.hasRecords {
		for _, c := range v.order {
			commands += v.recorded(t, c)
		}
		for _, b := range v.sortedBoards() {
			attempts += v.uploaded(t, b, false)
		}
	}
	for _, e := range v.records {
		masked(t, e)
	}
	return t.verdict(v, "ENT-4", fmt.Sprintf("%s commands and %s on-site attempts in %s records, once each",
		count(commands), count(attempts), count(len(v.records))))
}

// wants is the result of the record of a reported command.
var wants = map[string]string{"open": "opened", "hold": "held", "close": "locked"}

func (v *View) recorded(t *tally, c *command) int {
	var records []*Event
	for _, e := range c.records {
		records = distinct(append(records, e))
	}
	var answer *Event
	for _, e := range c.answers {
		if definite(e) {
			answer = e
			break
		}
	}
	asked := len(c.intents)+len(c.publishes)+len(c.answers) > 0
	switch {
	case len(records) > 1:
		t.checked++
		t.bad(records[1], "%s has %d records", c.id, len(records))
		return 0
	case len(records) == 1 && !asked && v.hasIntents && within(v.starts, v.firstEvent(), records[0]) == nil:
		t.checked++
		t.bad(records[0], "record of %s, which nobody asked for", c.id)
		return 0
	case len(records) == 0 && answer != nil && v.struck(c) != "server":
		t.checked++
		t.bad(answer, "%s ended %s but has no record", c.id, answer.Outcome)
		return 0
	case len(records) == 0 && answer == nil && len(c.intents) > 0 && v.overdue(c.intents[0]):
		t.checked++
		t.bad(c.intents[0], "%s was accepted but never recorded", c.id)
		return 0
	case len(records) == 0:
		return 0
	}
	t.checked++
	if answer != nil && !fits(records[0], answer.Outcome, c.op) {
		t.bad(records[0], "%s is recorded as %s, answered %s", c.id, records[0].Result, answer.Outcome)
	}
	return 1
}

// fits compares a record's result with an outcome; op may be unknown.
func fits(r *Event, outcome, op string) bool {
	if r.Result == "" {
		return true
	}
	if results[r.Result] != outcome {
		return false
	}
	return outcome != Reported || op == "" || wants[op] == r.Result
}

// OverdueMs is how long on the wall a command may take from its intent to its record.
const OverdueMs = 60 * 1000

func (v *View) overdue(intent *Event) bool {
	return intent.WallNs != 0 && v.endWall-intent.WallNs > OverdueMs*1e6
}

// firstEvent is the first event of the history that is not the start of a server:
// a record without a question is excused only by a death in between.
func (v *View) firstEvent() *Event {
	for _, p := range v.events {
		for i := range p {
			if p[i].Kind != Started && p[i].Kind != Door {
				return &p[i]
			}
		}
	}
	return nil
}

// masked: what a record shows of a person never has eight digits in a row. An
// operator's label is the name of his key, which is his own business.
func masked(t *tally, e *Event) {
	if strings.HasPrefix(e.Actor, "api:") {
		return
	}
	for _, s := range []string{e.Actor, e.Text} {
		run := 0
		for _, r := range s {
			if r >= '0' && r <= '9' {
				run++
			} else if r != '-' && r != ' ' && r != '.' {
				run = 0
			}
			if run == 8 {
				t.checked++
				t.bad(e, "record %s shows a phone number", e.RecordID)
				return
			}
		}
	}
}

// Auth4 judges AUTH-4: a command reaches only boards of the place whose key
// gave it [AUTH-4].
func Auth4(v *View) Verdict {
	t := &tally{}
	for _, c := range v.order {
		if len(c.publishes)+len(c.acts) == 0 {
			continue
		}
		t.checked++
		v.ownPlace(t, c)
	}
	return t.verdict(v, "AUTH-4", fmt.Sprintf("%s commands, each at its own place", count(t.checked)))
}

func (v *View) ownPlace(t *tally, c *command) {
	ask := ""
	for _, es := range [][]*Event{c.answers, c.intents, c.records} {
		for _, e := range es {
			if ask == "" {
				ask = e.PlaceID
			}
		}
	}
	if k := v.keys[c.key]; k != nil && ask == "" && len(k.attempts) > 0 {
		ask = k.attempts[0].PlaceID
	}
	if ask == "" {
		return
	}
	for _, es := range [][]*Event{c.publishes, c.acts} {
		for _, e := range es {
			place := e.PlaceID
			if b := v.boards[e.BoardID]; b != nil && b.place != "" {
				place = b.place
			}
			if place != "" && place != ask {
				t.bad(e, "%s was given at %s and reached %s of %s", c.id, ask, e.BoardID, place)
				return
			}
		}
	}
	for _, e := range c.intents {
		if e.PlaceID != "" && e.PlaceID != ask {
			t.bad(e, "%s was given at %s and accepted for %s", c.id, ask, e.PlaceID)
			return
		}
	}
}
