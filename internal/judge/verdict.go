package judge

import (
	"fmt"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// Status of a verdict.
type Status string

// Statuses. Skipped: nothing exercised the clause. Blocked and Invalid come from scenarios: the set-up failed; or the
// generator was the bottleneck, not the system.
const (
	Pass    Status = "PASS"
	Fail    Status = "FAIL"
	Skipped Status = "SKIPPED"
	Blocked Status = "BLOCKED"
	Invalid Status = "INVALID"
)

// Verdict is a checker's result for a clause.
type Verdict struct {
	Clause   string `json:"clause"`
	Promise  string `json:"promise"`
	Status   Status `json:"status"`
	Number   string `json:"number"`  // the deciding number as text
	Checked  int    `json:"checked"` // how often the clause was exercised
	Bad      int    `json:"bad,omitempty"`
	Real     int    `json:"real,omitempty"` // actions of real boards, which have no journal; not in Checked
	FirstBad *Bad   `json:"firstBad,omitempty"`
	// Missing are kinds of evidence that a complete proof needs but the history lacks.
	Missing []string `json:"missing,omitempty"`
	// Untried says what the promise is about but never happened in the history: a file about the clause has then shown
	// nothing, however much was checked.
	Untried []string `json:"untried,omitempty"`
	// Unseen are cases that the promise names and nobody saw in the history. They change no status: a file may be about one
	// case alone. The whole built-in suite has to show them all.
	Unseen []string `json:"unseen,omitempty"`
	// Occasions are the cases that put the promise to the test, for some of the promises: a step that claims one has to do with
	// such a case. None: nobody knows.
	Occasions []Occasion `json:"-"`
	// Strict: a run that has to prove the clause has to show every case.
	Strict bool `json:"strict,omitempty"`
	// Breaches are all that were found, in the order of the checker; only a verdict that wasn't combined or read has them.
	Breaches []Breach `json:"-"`
}

// Breach is one of a verdict's breaches.
type Breach struct {
	WallNs int64 // when it happened, 0 = unknown
	Why    string
	Others bool // the run didn't give the command
}

// Bad is a breach: the event, why, and the related events in order.
type Bad struct {
	Event    history.Event   `json:"event"`
	Why      string          `json:"why"`
	Timeline []history.Event `json:"timeline,omitempty"`
}

// checker judges one clause: history in, verdict out.
type checker struct {
	Clause string
	Judge  func(*View) Verdict
}

// checkers lists all checkers, in report order.
func checkers() []checker {
	return []checker{
		{"AUTH-1", auth1}, {"AUTH-2", auth2}, {"AUTH-3", auth3}, {"AUTH-4", auth4}, {"AUTH-5", auth5},
		{"PERM-1", perm1}, {"PERM-2", perm2}, {"PERM-3", perm3}, {"PERM-4", perm4}, {"PERM-5", perm5}, {"PERM-6", perm6}, {"PERM-7", perm7},
		{"ENT-1", ent1}, {"ENT-2", ent2}, {"ENT-3", ent3}, {"ENT-4", ent4},
		{"CMD-1", cmd1}, {"CMD-2", cmd2}, {"CMD-3", cmd3}, {"CMD-4", cmd4}, {"CMD-5", cmd5}, {"CMD-6", cmd6}, {"CMD-7", cmd7}, {"CMD-8", cmd8},
		{"SYNC-1", sync1}, {"SYNC-2", sync2}, {"SYNC-3", sync3},
		{"OFF-1", off1}, {"OFF-2", off2}, {"OFF-3", off3}, {"OFF-4", off4},
		{"HRS-1", hrs1}, {"HRS-2", hrs2}, {"IMP-1", imp1}, {"LEG-1", leg1},
	}
}

// HasChecker reports whether a clause is judged by a checker, not only by assertions.
func HasChecker(clause string) bool {
	return slices.ContainsFunc(checkers(), func(c checker) bool { return c.Clause == clause })
}

// Judge runs every checker.
func Judge(v *View) []Verdict {
	return each.Of(checkers(), func(c checker) Verdict { return v.clocks.allow(c.Judge(v)) })
}

// notExercised is what a row says for which nothing was seen.
const notExercised = "not exercised"

// finding is a breach before its timeline is drawn.
type finding struct {
	e   *history.Event
	why string
}

// tally collects a checker's findings.
type tally struct {
	checked int
	real    int // cases at boards without a journal, judged by what shows without it
	found   []finding
}

// plus is a tally with the findings of another added.
func (t *tally) plus(o *tally) *tally {
	return &tally{checked: t.checked + o.checked, real: t.real + o.real, found: append(append([]finding{}, t.found...), o.found...)}
}

func (t *tally) bad(e *history.Event, format string, args ...any) {
	t.found = append(t.found, finding{e, fmt.Sprintf(format, args...)})
}

// breaks is bad for a case that nothing else has counted.
func (t *tally) breaks(e *history.Event, format string, args ...any) {
	t.checked++
	t.bad(e, format, args...)
}

// first is the earliest finding.
func (t *tally) first() finding {
	return slices.MinFunc(t.found, func(a, b finding) int { return order(a.e, b.e) })
}

func (t *tally) verdict(v *View, clause, number string) Verdict {
	out := Verdict{Clause: clause, Promise: Promise(clause), Checked: t.checked, Bad: len(t.found), Real: t.real, Number: number, Status: Pass}
	switch {
	case len(t.found) > 0:
		f := t.first()
		if v.notOurs(f.e) {
			f.why += " (given by somebody else during the run)"
		}
		out.Breaches = each.Of(t.found, func(g finding) Breach { return Breach{WallNs: g.e.WallNs, Why: g.why, Others: v.notOurs(g.e)} })
		out.Status = Fail
		out.FirstBad = &Bad{Event: *f.e, Why: f.why, Timeline: v.timeline(f.e)}
		out.Number = fmt.Sprintf("%s of %s broke it: %s", amount.Number(len(t.found)), amount.Number(t.checked+t.real), f.why)
	case t.checked == 0:
		out.Status, out.Number = Skipped, notExercised
	}
	return out
}

// secs writes milliseconds as seconds, or hours from one hour on.
func secs(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%.3f h", d.Hours())
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
