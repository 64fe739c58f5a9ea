package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// ent4 judges ENT-4: each accepted command has exactly one entry record with its outcome, no record belongs to a
// command or an attempt that never was, on-site attempts at connected boards and refused links and calls are recorded once,
// and no record shows a phone number.
func ent4(v *View) Verdict {
	t := &tally{}
	commands, attempts := 0, 0
	if v.hasRecords {
		for _, c := range v.order {
			commands += v.recorded(t, c)
		}
		for _, b := range v.sortedBoards() {
			attempts += v.uploaded(t, b, false)
			v.invented(t, b)
		}
		attempts += v.refused(t)
	}
	v.lists(t)
	v.uses(t)
	v.labelled(t)
	for _, e := range v.records {
		masked(t, e)
	}
	for _, c := range v.calls() {
		if c.Leaks > 0 { // [ENT-4]
			t.bad(c.Event, "%s %s was answered with a phone number in full", c.Method, c.Route)
		}
	}
	return t.verdict(v, "ENT-4", fmt.Sprintf("%s commands and %s attempts in %s records, once each",
		amount.Number(commands), amount.Number(attempts), amount.Number(len(v.records)))).
		triedIf(v.told, v.ofBoth(), "no records were read, and there weren't both a command and an attempt to enter, or as many commands as in a load").
		showsIf(v.told, sight{commands, "a command"}, sight{attempts, "an attempt to enter"})
}

// manyCommands is how many recorded commands show that each is recorded once although nobody reads the records.
const manyCommands = 50

// ofBoth is how many records there are at places where operators' and people's are among them, or that somebody read
// afterwards, and how many of commands if they are many.
func (v *View) ofBoth() (n int) {
	operators, people, read := map[string]int{}, map[string]int{}, v.recordsRead()
	all := 0
	seen := map[string]int{}
	for _, e := range v.records {
		if e.Method == string(vocab.API) {
			operators[e.PlaceID]++
			all++
		} else {
			people[e.PlaceID]++
		}
		if last := read[e.PlaceID]; last != nil && sooner(e, last) {
			seen[e.PlaceID]++
		}
	}
	for place := range v.places {
		if o, p := operators[place], people[place]; o > 0 && p > 0 {
			n += o + p
		} else {
			n += seen[place]
		}
	}
	if all >= manyCommands {
		n += all
	}
	return n
}

// recordsRead finds the last time that somebody read the records or events of each place.
func (v *View) recordsRead() map[string]*history.Event {
	last := latest{}
	for _, c := range v.calls() {
		if c.ok() && !c.Own && readsRecords.MatchString(c.Route) {
			last.see(v.placeOf(c), c.Event)
		}
	}
	return last
}

// readsRecords are the routes that show records, and what follows from them.
var readsRecords = regexp.MustCompile(`/entry-logs$|/events$`)

// wants is the result of the record of a reported command.
var wants = map[string]vocab.Result{"open": vocab.Opened, "hold": vocab.Held, "close": vocab.Locked}

func (v *View) recorded(t *tally, c *command) int {
	var records []*history.Event
	for _, e := range c.records {
		records = distinct(append(records, e))
	}
	answer := firstOf(c.answers, definite)
	asked := len(c.intents)+len(c.publishes)+len(c.answers) > 0
	switch { // [ENT-4]
	case len(records) > 1:
		t.breaks(records[1], "%s has %d records", c.id, len(records))
		return 0
	case len(records) == 1 && !asked && v.hasIntents && !v.orphaned(records[0]):
		t.breaks(records[0], "record of %s, which was never requested", c.id) // [ENT-4]
		return 0
	case len(records) == 0 && answer != nil && (v.struck(c) != "server" || len(c.intents) > 0 && v.resumed(c.intents[0])):
		t.breaks(answer, "%s ended %s but has no record", c.id, answer.Outcome)
		return 0
	case len(records) == 0 && answer == nil && len(c.intents) > 0 && (v.overdue(c.intents[0]) || v.resumed(c.intents[0])):
		t.breaks(c.intents[0], "%s was accepted but never recorded", c.id)
		return 0
	case len(records) == 0:
		return 0
	}
	t.checked++
	if answer != nil && !fits(records[0], answer.Outcome, c.op) {
		t.bad(records[0], "%s is recorded as %s, but was answered %s", c.id, records[0].Result, answer.Outcome)
	}
	return 1
}

// fits compares a record's result with an outcome; op may be unknown.
func fits(r *history.Event, outcome vocab.Outcome, op string) bool {
	if r.Result == "" {
		return true
	}
	if results[r.Result] != outcome {
		return false
	}
	return outcome != vocab.Reported || op == "" || wants[op] == r.Result
}

// overdueMs is how long a command may take from its intent to its record, in wall time.
const overdueMs = 60 * 1000

func (v *View) overdue(intent *history.Event) bool {
	return intent.WallNs != 0 && v.endWall-intent.WallNs > overdueMs*1e6
}

// resumed reports whether a server has started since an intent, and boards have connected to it: before they can, it
// settles what its previous run left.
func (v *View) resumed(intent *history.Event) bool {
	s := firstOf(v.starts, func(s *history.Event) bool { return v.before(intent, s) })
	return s != nil && slices.ContainsFunc(v.everyBoard(), func(b *board) bool {
		return slices.ContainsFunc(b.conn, func(e *history.Event) bool { return e.Kind == history.Online && v.before(s, e) })
	})
}

// recoveryMs is how long after its start a server may take to settle what its previous run left, in wall time.
const recoveryMs = 60 * 1000

// orphaned reports whether the record belongs to a command whose intent was committed but not reported, because the
// server died in between: it ended noResponse right after a start, and a request for the door was in flight at that
// start. Each such request excuses one record.
func (v *View) orphaned(r *history.Event) bool {
	if r.Result != vocab.NoResponse {
		return false
	}
	for i := len(v.starts) - 1; i > 0; i-- { // not the first: nothing was before it
		s := v.starts[i]
		if sooner(r, s) {
			continue
		}
		if r.WallNs-s.WallNs > recoveryMs*1e6 {
			return false
		}
		if r.Method == "link" || r.Method == "phone" { // their requests aren't in the history
			return true
		}
		for _, a := range v.inFlightAt(s, r.DoorID) {
			if by := v.excused[a]; by == nil || by == r {
				v.excused[a] = r
				return true
			}
		}
		return false
	}
	return false
}

// inFlightAt are the requests for a door that were unanswered when a server started: sent at most a minute earlier,
// with a key without a reported intent.
func (v *View) inFlightAt(start *history.Event, door string) (out []*history.Event) {
	for _, k := range v.keys {
		if len(k.intents) > 0 {
			continue
		}
		for _, a := range k.attempts {
			if a.DoorID == door && !v.before(start, a) && !v.longer(a, start, recoveryMs) && !v.answeredBefore(k, a, start) {
				out = append(out, a)
			}
		}
	}
	return out
}

// answeredBefore reports whether a request had its answer before a server started. That its claim was late to be stored is
// no answer here: the server may have died before it had withdrawn it.
func (v *View) answeredBefore(k *keyUse, attempt, start *history.Event) bool {
	return slices.ContainsFunc(k.answers, func(e *history.Event) bool {
		return e.Request == attempt.Request && e.Code != codeStorage && v.before(e, start)
	})
}

// masked checks that what a record shows of a person has no more than four digits in a row. An operator's label is their
// key's name, which isn't masked.
func masked(t *tally, e *history.Event) {
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
			if run == 5 {
				t.breaks(e, "record %s shows more of a phone than its last four digits", e.RecordID)
				return
			}
		}
	}
}
