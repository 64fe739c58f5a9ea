// Package report holds the Result of a run and presents it to people and programs: a text table, JUnit XML, TAP, JSON,
// a job summary, a self-contained HTML page, and the run directory that keeps them with the history. Each starts with
// the failures. The scenario engine fills Results, cmd/doorlab writes them.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// WriteTable writes the failures with everything about them, the scenarios, a line per guarantee, and the matrix of
// faults.
func WriteTable(w io.Writer, res Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s\n\n", res.Status, sentence(res))
	for i, f := range Failures(res) {
		fmt.Fprintf(&b, "%d. %s  %s\n%s\n", i+1, f.Status, f.Title, shifted(f.Text(), "   "))
	}
	files(&b, res, Plain)
	if err := writeLedger(&b, res.Ledger, Plain); err != nil {
		return err
	}
	res.tellScores(&b)
	fmt.Fprintf(&b, "%s\n%s\n", faultTable(res.Faults), Line(res))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteBrief writes the result for a terminal, in its colours: one line per scenario, the guarantees that were
// exercised, and the failures last, where people look.
func WriteBrief(w io.Writer, res Result, c Colors) error {
	var b strings.Builder
	files(&b, res, c)
	if err := writeLedger(&b, exercised(res.Ledger), c); err != nil {
		return err
	}
	var rest []string
	for _, r := range idle(res.Ledger) {
		rest = append(rest, r.Clause)
	}
	if len(rest) > 0 {
		b.WriteString(c.dim(fmt.Sprintf("not exercised: %s", strings.Join(rest, " "))) + "\n")
	}
	res.tellScores(&b)
	if n := len(res.Faults); n > 0 {
		hits := 0
		for _, u := range res.Faults {
			hits += u.Hits
		}
		fmt.Fprintf(&b, "faults: %s, %s (the matrix is in report.txt and report.html)\n", amount.Many(n, "kind"), amount.Many(hits, "hit"))
	}
	failures := Failures(res)
	for i, f := range failures {
		if i == mostInTerminal {
			fmt.Fprintf(&b, "\nand %s, see report.html\n", amount.Many(len(failures)-i, "more failure"))
			break
		}
		fmt.Fprintf(&b, "\n%s  %s\n%s", c.Status(f.Status), c.bold(f.Title), shifted(f.brief(), "   "))
	}
	fmt.Fprintf(&b, "\n%s\n", c.first(res.Status, Line(res)))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteQuiet writes the last line of WriteBrief.
func WriteQuiet(w io.Writer, res Result, c Colors) error {
	_, err := fmt.Fprintln(w, c.first(res.Status, Line(res)))
	return err
}

// mostInTerminal bounds the failures that a terminal shows.
const mostInTerminal = 10

// files are the scenarios, a line each.
func files(b *strings.Builder, res Result, c Colors) {
	width := 24
	for _, f := range res.Files {
		width = max(width, len(f.label()))
	}
	for _, f := range res.Files {
		line := fmt.Sprintf("%s  %-*s %8s  %s", c.Status(f.Status), width, f.label(), amount.Duration(rounded(f.Seconds)), firstLine(f.Reason))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if len(res.Files) > 0 {
		b.WriteString("\n")
	}
}

func writeLedger(b *strings.Builder, rows []judge.Row, c Colors) error {
	var text strings.Builder
	if err := judge.WriteLedger(&text, rows); err != nil {
		return err
	}
	b.WriteString(c.words(text.String()))
	return nil
}

// Line is a run in one line.
func Line(res Result) string {
	n := map[judge.Status]int{}
	for _, f := range res.Files {
		n[f.Status]++
	}
	covered := 0
	for _, r := range res.Ledger {
		if r.Exercised() {
			covered++
		}
	}
	var parts []string
	for _, s := range []judge.Status{judge.Pass, judge.Fail, judge.Blocked, judge.Invalid, judge.Skipped} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], strings.ToLower(string(s))))
		}
	}
	played := amount.Many(len(res.Files), "scenario") + bracketed(strings.Join(parts, ", "))
	out := fmt.Sprintf("%s · %s · %d of %d guarantees exercised · %s · seed %d · %.1f s", res.Status, played, covered, len(res.Ledger), amount.Many(res.Told(), "event"), res.Seed, res.Seconds)
	if res.Reason != "" {
		out += "\n" + res.Reason
	}
	for _, note := range res.Notes {
		if note != res.Reason {
			out += "\nnote: " + note
		}
	}
	return out
}

// stem is a file's name without folder and extension.
func stem(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	return strings.TrimSuffix(strings.TrimSuffix(path, ".yaml"), ".yml")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// shifted indents each line.
func shifted(text, margin string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(margin)
		}
		b.WriteString(line)
	}
	return b.String()
}
