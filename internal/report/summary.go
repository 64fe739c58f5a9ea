package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
)

var marks = map[judge.Status]string{judge.Pass: "✅", judge.Fail: "❌", judge.Blocked: "🚧", judge.Invalid: "⚠️", judge.Skipped: "➖"}

// Mark is the sign of a status in a job summary.
func Mark(s judge.Status) string { return marks[s] }

// longestOpen is how many lines a failure may have to be shown unfolded: more would push the verdicts off the screen.
const longestOpen = 60

// mostInSummary bounds the failures that a job summary shows in full: GitHub accepts 1 MiB.
const mostInSummary = 20

// WriteSummary writes the job summary, GitHub-flavoured Markdown: the failures first.
func WriteSummary(w io.Writer, res Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s doorlab: %s\n\n%s\n", marks[res.Status], res.Status, inline(Line(res)))
	SummarizeFailures(&b, Failures(res))
	b.WriteString(scenarioTables(res))
	SummarizeLedger(&b, res.Ledger)
	if lines, none := res.scores(); len(lines) > 0 {
		fmt.Fprintf(&b, "\n### With API keys only\n\n- %s\n\nNothing can be shown about %s.\n", strings.Join(lines, "\n- "), none)
	}
	if len(res.Faults) > 0 {
		b.WriteString("\n### Faults\n\n| fault | hits | guarantees with evidence while it was in force |\n|---|--:|---|\n")
	}
	for _, u := range res.Faults {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", u.Fault, amount.Number(u.Hits), u.Shown())
	}
	if facts := res.Environment(); len(facts) > 0 {
		b.WriteString("\n<details><summary>Environment</summary>\n\n| | |\n|---|---|\n")
		for _, f := range facts {
			fmt.Fprintf(&b, "| %s | %s |\n", cell(f.Name), cell(f.Value))
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// scenarioTables are the scenarios, those that passed folded.
func scenarioTables(res Result) string {
	files, head := res.Files, "| | "+res.Thing()+" | time | |\n|---|---|--:|---|\n"
	var passed, others strings.Builder
	n := 0
	for _, f := range files {
		b := &others
		if f.Status == judge.Pass {
			b = &passed
			n++
		}
		fmt.Fprintf(b, "| %s | `%s` %s | %.1f s | %s |\n", marks[f.Status], stem(f.Path), cell(f.Name), f.Seconds, cell(FirstLine(f.Reason)))
	}
	out := "\n### " + res.Things() + "\n"
	if others.Len() > 0 {
		out += "\n" + head + others.String()
	}
	if n > 0 {
		out += fmt.Sprintf("\n<details><summary>%s passed</summary>\n\n%s%s\n</details>\n", amount.Many(n, res.Thing()), head, passed.String())
	}
	return out
}

// SummarizeFailures writes each failure folded, with the first one open unless it is long; its reason then stands above it, in
// the summary's first lines.
func SummarizeFailures(b *strings.Builder, failures []Failure) {
	if len(failures) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n", amount.Many(len(failures), "failure"))
	for i, f := range failures {
		if i == mostInSummary {
			fmt.Fprintf(b, "\nand %s, see report.html\n", amount.Many(len(failures)-i, "more failure"))
			return
		}
		open := ""
		if i == 0 && strings.Count(f.Text(), "\n") <= longestOpen {
			open = " open"
		}
		where := ""
		if f.Where() != "" {
			where = " <code>" + inline(f.Where()) + "</code>"
		}
		fmt.Fprintf(b, "\n<details%s><summary>%s <b>%s</b>%s %s</summary>\n\n%s\n</details>\n", open, marks[f.Status], inline(f.Title), where,
			strings.Join(f.Clauses, " "), fenced(f.Text()))
	}
}

// SummarizeLedger writes the guarantees that were exercised, and names the others.
func SummarizeLedger(b *strings.Builder, rows []judge.Row) {
	b.WriteString("\n### Guarantees\n\n| | guarantee | | checked | |\n|---|---|---|--:|---|\n")
	for _, r := range exercised(rows) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", marks[r.Status], r.Clause, cell(r.Promise), amount.Number(r.Checked), cell(r.Told()))
	}
	if rest := each.Of(idle(rows), func(r judge.Row) string { return r.Clause }); len(rest) > 0 {
		fmt.Fprintf(b, "\nNot exercised: %s\n", strings.Join(rest, " "))
	}
}

// fenced is a text as a code block that can't be ended by its content.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// inline escapes a text for a place in a line, also one in HTML, where a backslash stays what it is.
func inline(s string) string {
	return strings.NewReplacer("\n", "<br>", "<", "&lt;").Replace(s)
}

// cell escapes a text for a table cell.
func cell(s string) string { return strings.ReplaceAll(inline(s), "|", `\|`) }

// listed is a copy that JSON writes as a list even if it is empty.
func listed[T any](list []T) []T { return append([]T{}, list...) }
