package judge

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/amount"
)

// Assertion is what a scenario found about a clause.
type Assertion struct {
	Clause string `json:"clause"`
	Name   string `json:"name"` // scenario and step
	Status Status `json:"status"`
	Number string `json:"number,omitempty"` // detail of a failure, or a boundary value
}

// Row is a clause's line in the ledger.
type Row struct {
	Clause     string      `json:"clause"`
	Promise    string      `json:"promise"`
	Status     Status      `json:"status"`
	Number     string      `json:"number"`
	Checked    int         `json:"checked"`
	Assertions []Assertion `json:"assertions,omitempty"`
	FirstBad   *Bad        `json:"firstBad,omitempty"`

	Judged  int      `json:"judged,omitempty"`  // of Checked, by checkers
	Real    int      `json:"real,omitempty"`    // what real boards did, judged without a journal; not in Checked
	Missing []string `json:"missing,omitempty"` // kinds of evidence that the checkers lack
	Untried []string `json:"-"`                 // what the promise is about but never happened
	Unseen  []string `json:"unseen,omitempty"`  // of a PASS: the cases that the promise names and nobody saw
	Strict  bool     `json:"-"`                 // see Verdict.Strict
	Planted string   `json:"planted,omitempty"` // of a PASS: how many of the clause's planted bugs are known to be caught
}

// String is the line of a report: clause promise · status · number.
func (r Row) String() string {
	return fmt.Sprintf("%s %s · %s · %s", r.Clause, r.Promise, r.Status, r.Told())
}

// Told is the number, what was judged without a journal and, for a PASS, the cases that nobody saw and how many planted bugs
// are caught.
func (r Row) Told() string { return dotted(r.Evidence(), r.Planted) }

// Evidence is Told without the planted bugs.
func (r Row) Evidence() string {
	real := ""
	if r.Real > 0 {
		real = amount.Number(r.Real) + " of real boards, judged without a journal"
	}
	unseen := ""
	if len(r.Unseen) > 0 {
		unseen = "not seen: " + strings.Join(r.Unseen, ", ")
	}
	return dotted(r.Number, real, unseen)
}

// Asserted is what the row's list of assertions holds: those that were made, which Evidence counts, and the steps that
// would have made one.
func (r Row) Asserted() string {
	n := map[Status]int{}
	for _, a := range r.Assertions {
		n[a.Status]++
	}
	var parts []string
	if made := n[Pass] + n[Fail]; made > 0 {
		parts = append(parts, amount.Many(made, "assertion"))
	}
	for _, s := range []Status{Blocked, Invalid, Skipped} {
		if n[s] > 0 {
			parts = append(parts, amount.Many(n[s], "step")+" "+strings.ToLower(string(s)))
		}
	}
	return strings.Join(parts, ", ")
}

func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// String is the same line for a verdict.
func (v Verdict) String() string {
	return fmt.Sprintf("%s %s · %s · %s", v.Clause, v.Promise, v.Status, v.Number)
}

// weight orders statuses: of several, the heaviest decides.
var weight = map[Status]int{"": 0, Skipped: 1, Pass: 2, Invalid: 3, Blocked: 4, Fail: 5}

// Outweighs reports whether s, beside o, decides.
func (s Status) Outweighs(o Status) bool { return weight[s] > weight[o] }

// Heavier is the worse of two statuses.
func Heavier(a, b Status) Status {
	if b.Outweighs(a) {
		return b
	}
	return a
}

// Basis is what a ledger is based on.
type Basis struct {
	// Silent: there is a control listener, yet the history contains nothing from server or boards. Then the scenarios'
	// assertions have no ground truth.
	Silent bool
	// Require names clauses that must be proven: anything but evidence from their checkers, or from assertions if they
	// have none, is INVALID. "all" means every clause.
	Require []string
	// Cases: every case that a promise names must have been seen, too; the promise is INVALID otherwise.
	Cases bool
}

func (b Basis) requires(clause string) bool {
	return slices.Contains(b.Require, clause) || slices.Contains(b.Require, "all")
}

// Ledger merges the checkers' verdicts with the scenarios' assertions into one row per clause, all clauses in report
// order; those not exercised are SKIPPED. A clause with a checker passes only if the checker checked something;
// otherwise it is SKIPPED, asserted only. Assertions of unknown clauses come last.
func Ledger(verdicts []Verdict, assertions []Assertion, basis Basis) []Row {
	rows := make([]Row, 0, len(clauses))
	at := map[string]int{}
	row := func(clause string) *Row {
		i, ok := at[clause]
		if !ok {
			i = len(rows)
			at[clause] = i
			rows = append(rows, Row{Clause: clause, Promise: Promise(clause)})
		}
		return &rows[i]
	}
	for _, c := range clauses {
		row(c[0])
	}
	for _, v := range verdicts {
		row(v.Clause).verdict(v)
	}
	for _, a := range assertions {
		r := row(a.Clause)
		r.Assertions = append(r.Assertions, a)
	}
	for i := range rows {
		rows[i].settle()
		rows[i].stand(basis)
		rows[i].Number = plain(rows[i].Number)
		if rows[i].Status == Pass {
			rows[i].Planted = plantedBugs(rows[i].Clause)
		}
	}
	return rows
}

// verdict adds a checker's verdict; there may be several runs of one checker.
func (r *Row) verdict(v Verdict) {
	r.Checked += v.Checked
	r.Judged += v.Checked
	r.Real += v.Real
	r.Missing, r.Untried, r.Unseen, r.Strict = v.Missing, v.Untried, v.Unseen, v.Strict
	if v.Status.Outweighs(r.Status) {
		r.Status, r.Number, r.FirstBad = v.Status, v.Number, v.FirstBad
	}
}

// settle adds the assertions.
func (r *Row) settle() {
	n := 0
	for _, a := range r.Assertions {
		if a.Status == Pass || a.Status == Fail {
			n++
		}
		if !a.Status.Outweighs(r.Status) {
			continue
		}
		r.Status = a.Status
		if a.Status != Pass {
			r.Number = strings.TrimSuffix(a.Name+": "+a.Number, ": ")
		} else {
			r.Number = ""
		}
	}
	r.Checked += n
	if r.Status == "" {
		r.Status, r.Number = Skipped, notExercised
	}
	if r.Status == Pass && n > 0 {
		r.Number = strings.TrimPrefix(r.Number+" · "+amount.Many(n, "assertion"), " · ")
	}
}

// requiredBut begins the number of a required row for which there is no evidence.
const requiredBut = "required, but "

// Exercised reports whether there is evidence for or against the promise. That it was required is none.
func (r Row) Exercised() bool {
	return r.Status != Skipped && !strings.HasPrefix(r.Number, requiredBut)
}

// stand withdraws a PASS that no evidence supports.
func (r *Row) stand(basis Basis) {
	asserted := amount.Many(r.Checked-r.Judged, "assertion")
	switch {
	case r.Status == Pass && HasChecker(r.Clause) && r.Judged == 0 && basis.Silent:
		r.Status, r.Number = Invalid, "no ground truth: the checker saw nothing, "+asserted
	case r.Status == Pass && HasChecker(r.Clause) && r.Judged == 0:
		r.Status, r.Number = Skipped, "asserted only, "+asserted
	case r.Status == Pass && len(r.Missing) > 0 && basis.requires(r.Clause):
		r.Status, r.Number = Invalid, "no "+strings.Join(r.Missing, ", no ")+" · "+r.Number
	case r.Status == Pass && len(r.Unseen) > 0 && (basis.Cases || r.Strict && basis.requires(r.Clause)):
		r.Status, r.Number = Invalid, "nobody saw "+strings.Join(r.Unseen, ", or ")+" · "+r.Number
	case r.Status == Pass && len(r.Untried) > 0: // it held, but what it is about never happened
		r.Status, r.Number = Skipped, strings.Join(r.Untried, "; ")+" · "+r.Number
	}
	if r.Status == Skipped && basis.requires(r.Clause) {
		r.Status, r.Number = Invalid, requiredBut+r.Number
	}
	if r.Status != Pass {
		r.Unseen = nil
	}
}

// WriteLedger writes one line per row, in columns: id, promise · verdict · number.
func WriteLedger(w io.Writer, rows []Row) error {
	promise := 0
	for _, r := range rows {
		promise = max(promise, utf8.RuneCountInString(r.Promise))
	}
	for _, r := range rows {
		pad := strings.Repeat(" ", promise-utf8.RuneCountInString(r.Promise))
		if _, err := fmt.Fprintf(w, "%-6s %s%s · %-7s · %s\n", r.Clause, r.Promise, pad, r.Status, r.Told()); err != nil {
			return err
		}
	}
	return nil
}

// one finds a count of 1 with a plural noun.
var one = regexp.MustCompile(`(^|[ (])1 ((?:[a-z-]+ ){0,2}?)(tokens|calls|checks|registrations|keys|exchanges|commands|ids|pulses|repeats|holds|creates|references|permits|records|periods|attempts|decisions|links|openings|boards|channels|outages|imports|rows|schedules|days|changes|times|updates)\b`)

// lone finds a single decision with the words for several.
var lone = regexp.MustCompile(`^1 decision during outages, (all|each) `)

// vacant finds what says nothing, because there was nothing to measure or to count: "at most 0.00 s off" of no hold is no
// measurement. What comes before or after it stays.
var vacant = []struct {
	found *regexp.Regexp
	stays string
}{
	{regexp.MustCompile(`, 0 (not due yet|replaced, cut off or still held)`), ""},
	{regexp.MustCompile(`^(0 permits registered), longest 0\.00 s \(limit 720 h\)`), "$1"},
	{regexp.MustCompile(`: 0 ran out, at most 0\.00 s off, `), ": 0 ran out, "},
	{regexp.MustCompile(`^slowest start of 0: 0\.00 s after it was sent; `), ""},
	{regexp.MustCompile(`(, 0 opened); oldest outage 0s`), "$1"},
	{regexp.MustCompile(`; oldest opening 0s \(limit 36 h\)`), "; nobody was let in"},
	{regexp.MustCompile(`(\d)\.000 h\b`), "$1 h"},
	{regexp.MustCompile(`(in 0 outages), changed at most 0\.00 s late`), "$1"},
}

// oldest is how long the oldest of something lasted, as Go writes durations: 36h0m0s. agePart is one of its units.
var (
	oldest  = regexp.MustCompile(`(; oldest (?:outage|opening)) ((?:[0-9.]+(?:h|ms|m|s))+)`)
	agePart = regexp.MustCompile(`([0-9.]+)(h|ms|m|s)`)
)

// plain is a verdict's number as a person reads it. Checkers use one wording whatever the numbers are, so that Combine
// can add them up.
func plain(number string) string {
	for _, v := range vacant {
		number = v.found.ReplaceAllString(number, v.stays)
	}
	number = oldest.ReplaceAllStringFunc(number, func(s string) string {
		parts := agePart.ReplaceAllStringFunc(oldest.FindStringSubmatch(s)[2], func(part string) string {
			if part[0] == '0' && !strings.Contains(part, ".") {
				return ""
			}
			return agePart.ReplaceAllString(part, " $1 $2")
		})
		return oldest.ReplaceAllString(s, "$1") + parts
	})
	number = one.ReplaceAllStringFunc(number, func(s string) string { return strings.TrimSuffix(s, "s") })
	return lone.ReplaceAllString(number, "1 decision during an outage, ")
}
