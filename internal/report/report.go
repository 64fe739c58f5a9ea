// Package report holds the Result of a run and presents it to people and programs: a text table, JUnit XML, TAP, JSON,
// a job summary, a self-contained HTML page, and the run directory that keeps them with the history. Each starts with
// the failures. The scenario engine fills Results, cmd/doorlab writes them.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
)

// WriteTable writes the result in a sentence, the failures with everything about them, a line per guarantee, the matrix
// of faults, and the scenarios last: in a whole suite most of its lines are theirs.
func WriteTable(w io.Writer, res Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s\n%s\n\n", res.Status, sentence(res), strings.Join(append([]string{measures(res)}, remarks(res)...), "\n"))
	for i, f := range Failures(res) {
		fmt.Fprintf(&b, "%d. %s  %s\n%s\n", i+1, f.Status, f.Title, shifted(f.Text(), "   "))
	}
	if err := writeLedger(&b, res.Ledger, Plain); err != nil {
		return err
	}
	res.tellScores(&b)
	b.WriteString(faultTable(res.Faults) + "\n")
	files(&b, res, Plain, nil)
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// WriteBrief writes the result for a terminal, in its colours: one line per scenario, the guarantees that were
// exercised, and the failures last, where people look. What a failure says stands only there.
func WriteBrief(w io.Writer, res Result, c Colors) error {
	var b strings.Builder
	failures := Failures(res)
	shown := failures[:min(len(failures), mostInTerminal)]
	files(&b, res, c, shown)
	if err := writeLedger(&b, shortened(res, shown), c); err != nil {
		return err
	}
	if rest := idle(res.Ledger); len(rest) > 0 {
		b.WriteString(c.dim(left(rest)) + "\n")
	}
	res.tellScores(&b)
	if n := len(res.Faults); n > 0 {
		hits := 0
		for _, u := range res.Faults {
			hits += u.Hits
		}
		fmt.Fprintf(&b, "faults: %s, %s (the matrix is in report.txt and report.html)\n", amount.Many(n, "kind"), amount.Many(hits, "hit"))
	}
	for _, f := range shown {
		fmt.Fprintf(&b, "\n%s  %s\n%s", c.Status(f.Status), c.bold(f.Title), shifted(f.brief(), "   "))
	}
	if n := len(failures) - len(shown); n > 0 {
		fmt.Fprintf(&b, "\nand %s, see report.html\n", amount.Many(n, "more failure"))
	}
	res.Notes = slices.DeleteFunc(slices.Clone(res.Notes), func(note string) bool {
		return slices.ContainsFunc(shown, func(f Failure) bool { return strings.Contains(f.Why, note) })
	})
	if told(shown, res.Reason) {
		res.Reason = ""
	}
	fmt.Fprintf(&b, "\n%s\n", c.first(res.Status, Line(res)))
	_, err := io.WriteString(w, b.String())
	return err
}

// told reports whether one of the failures says it: a reason contains the first line of a failure, or stands in one.
func told(shown []Failure, reason string) bool {
	return reason != "" && slices.ContainsFunc(shown, func(f Failure) bool {
		why := FirstLine(f.Why)
		return why != "" && strings.Contains(reason, why) || strings.Contains(f.Why, reason)
	})
}

// shortened are the rows of a terminal's ledger: without what the failures below it say and, except for the whole suite,
// without the planted bugs, which are the same in every run.
func shortened(res Result, shown []Failure) []judge.Row {
	rows := exercised(res.Ledger)
	for i := range rows {
		r := &rows[i]
		if r.Status != judge.Pass && told(shown, r.Number) {
			r.Number = "see below"
		}
		if !res.Whole {
			r.Planted = ""
		}
	}
	return rows
}

// fewLeft is how many guarantees a terminal lists of those that weren't exercised: what is missing in a nearly complete run
// is news, and what a run of a single file doesn't touch isn't.
const fewLeft = 5

// left says which guarantees weren't exercised, or how many.
func left(rest []judge.Row) string {
	if len(rest) > fewLeft {
		return fmt.Sprintf("%s not exercised (report.html lists them)", amount.Many(len(rest), "guarantee"))
	}
	return "not exercised: " + strings.Join(each.Of(rest, func(r judge.Row) string { return r.Clause }), " ")
}

// WriteQuiet writes the result in a line, and the reason why it isn't PASS.
func WriteQuiet(w io.Writer, res Result, c Colors) error {
	_, err := fmt.Fprintln(w, c.first(res.Status, Line(res)))
	return err
}

// mostInTerminal bounds the failures that a terminal shows.
const mostInTerminal = 10

// files are the scenarios, a line each, with the reason unless one of the failures that are shown says it.
func files(b *strings.Builder, res Result, c Colors, shown []Failure) {
	width := 24
	for _, f := range res.Files {
		width = max(width, len(f.label()))
	}
	for _, f := range res.Files {
		why := FirstLine(f.Reason)
		if told(shown, why) {
			why = ""
		}
		line := fmt.Sprintf("%s  %-*s %8s  %s", c.Status(f.Status), width, f.label(), amount.Duration(rounded(f.Seconds)), why)
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
	covered := len(each.If(res.Ledger, judge.Row.Exercised))
	var parts []string
	for _, s := range []judge.Status{judge.Pass, judge.Fail, judge.Blocked, judge.Invalid, judge.Skipped} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], strings.ToLower(string(s))))
		}
	}
	played := amount.Many(len(res.Files), res.Thing()) + bracketed(strings.Join(parts, ", "))
	judged := ""
	if len(res.Ledger) > 0 {
		judged = fmt.Sprintf("%d of %d guarantees exercised · ", covered, len(res.Ledger))
	}
	out := fmt.Sprintf("%s · %s · %s%s", res.Status, played, judged, measures(res))
	return strings.Join(append([]string{out}, remarks(res)...), "\n")
}

// measures are how much a run recorded, its seed and its time.
func measures(res Result) string {
	return fmt.Sprintf("%s · seed %d · %.1f s", amount.Many(res.Told(), "event"), res.Seed, res.Seconds)
}

// remarks are the reason why a run isn't PASS, and its notes.
func remarks(res Result) (out []string) {
	if res.Reason != "" {
		out = append(out, res.Reason)
	}
	others := each.If(res.Notes, func(note string) bool { return note != res.Reason })
	return append(out, each.Of(others, func(note string) string { return "note: " + note })...)
}

// stem is a file's name without folder and extension.
func stem(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	return strings.TrimSuffix(strings.TrimSuffix(path, ".yaml"), ".yml")
}

// FirstLine is what stands before a line break.
func FirstLine(s string) string {
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
