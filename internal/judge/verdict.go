package judge

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

// Status of a verdict.
type Status string

// Statuses. Skipped: nothing exercised the clause. Blocked and Invalid come from
// scenarios: the set-up failed; the generator, not the system, was the limit.
const (
	Pass    Status = "PASS"
	Fail    Status = "FAIL"
	Skipped Status = "SKIPPED"
	Blocked Status = "BLOCKED"
	Invalid Status = "INVALID"
)

// Verdict is what a checker says of a clause.
type Verdict struct {
	Clause   string `json:"clause"`
	Promise  string `json:"promise"`
	Status   Status `json:"status"`
	Number   string `json:"number"`  // the deciding number as text
	Checked  int    `json:"checked"` // how often the clause was exercised
	Bad      int    `json:"bad,omitempty"`
	Real     int    `json:"real,omitempty"` // what real boards did, of which there is no journal; not in Checked
	FirstBad *Bad   `json:"firstBad,omitempty"`
	// Missing are kinds of evidence that a whole proof needs and the history lacks.
	Missing []string `json:"missing,omitempty"`
	// Untried says what the promise is about and the history hasn't: a file that is about
	// the clause has shown nothing, however much was checked.
	Untried []string `json:"untried,omitempty"`
}

// Bad is a breach: the event, why, and what belongs to it in order.
type Bad struct {
	Event    history.Event   `json:"event"`
	Why      string          `json:"why"`
	Timeline []history.Event `json:"timeline,omitempty"`
}

// Checker judges one clause: history in, verdict out.
type Checker struct {
	Clause string
	Judge  func(*View) Verdict
}

// Checkers are all there are, in report order.
func Checkers() []Checker {
	return []Checker{
		{"AUTH-1", Auth1}, {"AUTH-2", Auth2}, {"AUTH-3", Auth3}, {"AUTH-4", Auth4}, {"AUTH-5", Auth5},
		{"PERM-1", Perm1}, {"PERM-2", Perm2}, {"PERM-3", Perm3}, {"PERM-4", Perm4}, {"PERM-5", Perm5}, {"PERM-6", Perm6}, {"PERM-7", Perm7},
		{"ENT-1", Ent1}, {"ENT-2", Ent2}, {"ENT-3", Ent3}, {"ENT-4", Ent4},
		{"CMD-1", Cmd1}, {"CMD-2", Cmd2}, {"CMD-3", Cmd3}, {"CMD-4", Cmd4}, {"CMD-5", Cmd5}, {"CMD-6", Cmd6}, {"CMD-7", Cmd7}, {"CMD-8", Cmd8},
		{"SYNC-1", Sync1}, {"SYNC-2", Sync2}, {"SYNC-3", Sync3},
		{"OFF-1", Off1}, {"OFF-2", Off2}, {"OFF-3", Off3}, {"OFF-4", Off4},
		{"HRS-1", Hrs1}, {"HRS-2", Hrs2}, {"IMP-1", Imp1}, {"LEG-1", Leg1},
	}
}

// HasChecker reports whether a clause is judged by a checker, not by assertions alone.
func HasChecker(clause string) bool {
	return slices.ContainsFunc(Checkers(), func(c Checker) bool { return c.Clause == clause })
}

// Judge runs every checker.
func Judge(v *View) []Verdict {
	var out []Verdict
	for _, c := range Checkers() {
		out = append(out, v.clocks.allow(c.Judge(v)))
	}
	return out
}

// finding is a breach before its timeline is drawn.
type finding struct {
	e   *history.Event
	why string
}

// tally gathers what a checker sees.
type tally struct {
	checked int
	real    int // of boards without a journal: what shows without it was looked at
	found   []finding
}

// plus is a tally with another one's findings.
func (t *tally) plus(o *tally) *tally {
	return &tally{checked: t.checked + o.checked, real: t.real + o.real, found: append(append([]finding{}, t.found...), o.found...)}
}

func (t *tally) bad(e *history.Event, format string, args ...any) {
	t.found = append(t.found, finding{e, fmt.Sprintf(format, args...)})
}

// first is the earliest finding.
func (t *tally) first() finding {
	f := t.found[0]
	for _, g := range t.found[1:] {
		if sooner(g.e, f.e) {
			f = g
		}
	}
	return f
}

func (t *tally) verdict(v *View, clause, number string) Verdict {
	out := Verdict{Clause: clause, Promise: Promise(clause), Checked: t.checked, Bad: len(t.found), Real: t.real, Number: number, Status: Pass}
	switch {
	case len(t.found) > 0:
		f := t.first()
		if v.notOurs(f.e) {
			f.why += " (given by somebody else while the run went on)"
		}
		out.Status = Fail
		out.FirstBad = &Bad{Event: *f.e, Why: f.why, Timeline: v.timeline(f.e)}
		out.Number = fmt.Sprintf("%s bad of %s: %s", count(len(t.found)), count(t.checked+t.real), f.why)
	case t.checked == 0:
		out.Status, out.Number = Skipped, "not exercised"
	}
	return out
}

// count writes a number with thousands separators.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// secs writes milliseconds as seconds, or hours from one hour on.
func secs(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Hour {
		return fmt.Sprintf("%.3f h", d.Hours())
	}
	if d < 10*time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// many writes a number of things.
func many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}
