// Package report holds the Result of a run and turns it into what people and
// programs read: a text table, JUnit XML, JSON, a job summary, a self-contained HTML
// page, and the run directory that keeps them with the history. The scenario engine
// fills Results, cmd/doorlab writes them.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/doorlab/doorlab/internal/judge"
)

// WriteTable writes the scenarios, a line per guarantee, and the first breach of each.
func WriteTable(w io.Writer, res Result) error {
	return writeTable(w, res, res.Ledger, faultTable(res.Faults))
}

// WriteBrief is WriteTable with the guarantees that nothing exercised in one line,
// and the faults in another one.
func WriteBrief(w io.Writer, res Result) error {
	var rest []string
	for _, r := range idle(res.Ledger) {
		rest = append(rest, r.Clause)
	}
	note := ""
	if len(rest) > 0 {
		note = fmt.Sprintf("not exercised: %s\n", strings.Join(rest, " "))
	}
	if n := len(res.Faults); n > 0 {
		hits := 0
		for _, u := range res.Faults {
			hits += u.Hits
		}
		note += fmt.Sprintf("faults: %d kinds, %d hits (the matrix is in report.txt and report.html)\n", n, hits)
	}
	return writeTable(w, res, exercised(res.Ledger), note)
}

func writeTable(w io.Writer, res Result, rows []judge.Row, note string) error {
	var b strings.Builder
	for _, f := range res.Files {
		fmt.Fprintf(&b, "%-7s  %-28s %6.1fs  %s\n", f.Status, stem(f.Path), f.Seconds, firstLine(f.Reason))
	}
	if len(res.Files) > 0 {
		b.WriteString("\n")
	}
	if err := judge.WriteLedger(&b, rows); err != nil {
		return err
	}
	b.WriteString(note)
	for _, r := range breaches(res) {
		fmt.Fprintf(&b, "\n%s %s\n%s", r.Clause, r.Promise, r.FirstBad)
	}
	fmt.Fprintf(&b, "\n%s\n", Line(res))
	_, err := io.WriteString(w, b.String())
	return err
}

// Line is a run in one line.
func Line(res Result) string {
	n := map[judge.Status]int{}
	for _, f := range res.Files {
		n[f.Status]++
	}
	covered := 0
	for _, r := range res.Ledger {
		if r.Status != judge.Skipped {
			covered++
		}
	}
	var parts []string
	for _, s := range []judge.Status{judge.Pass, judge.Fail, judge.Blocked, judge.Invalid, judge.Skipped} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], strings.ToLower(string(s))))
		}
	}
	out := fmt.Sprintf("%s · %d scenarios (%s) · %d of %d guarantees exercised · %d events · seed %d · %.1f s",
		res.Status, len(res.Files), strings.Join(parts, ", "), covered, len(res.Ledger), len(res.Events), res.Seed, res.Seconds)
	if res.Reason != "" {
		out += "\n" + res.Reason
	}
	for _, note := range res.Notes {
		out += "\nnote: " + note
	}
	return out
}

// breaches are the rows with a timeline to show.
func breaches(res Result) (out []judge.Row) {
	for _, r := range res.Ledger {
		if r.FirstBad != nil {
			out = append(out, r)
		}
	}
	return out
}

// stem is a file's name without folder and ending.
func stem(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	return strings.TrimSuffix(strings.TrimSuffix(path, ".yaml"), ".yml")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// leaves lists the steps that did something: a table's rows one by one.
func leaves(steps []*Step) (out []*Step) {
	for _, s := range steps {
		if len(s.Children) > 0 {
			out = append(out, leaves(s.Children)...)
			if s.Own() {
				out = append(out, s)
			}
			continue
		}
		if s.Detail != "in the background" {
			out = append(out, s)
		}
	}
	return out
}
