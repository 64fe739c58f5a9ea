package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/doorlab/doorlab/internal/judge"
)

var marks = map[judge.Status]string{judge.Pass: "✅", judge.Fail: "❌", judge.Blocked: "🚧", judge.Invalid: "⚠️", judge.Skipped: "➖"}

// WriteSummary writes the job summary: GitHub-flavoured Markdown.
func WriteSummary(w io.Writer, res Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s doorlab: %s\n\n%s\n\n", marks[res.Status], res.Status, cell(Line(res)))
	b.WriteString("| | scenario | time | |\n|---|---|--:|---|\n")
	for _, f := range res.Files {
		fmt.Fprintf(&b, "| %s | `%s` %s | %.1f s | %s |\n", marks[f.Status], stem(f.Path), cell(f.Name), f.Seconds, cell(firstLine(f.Reason)))
	}
	b.WriteString("\n| | guarantee | | checked | |\n|---|---|---|--:|---|\n")
	for _, r := range res.Ledger {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", marks[r.Status], r.Clause, cell(r.Promise), r.Checked, cell(r.Told()))
	}
	if len(res.Faults) > 0 {
		b.WriteString("\n| fault | hits | in force for the evidence of |\n|---|--:|---|\n")
	}
	for _, u := range res.Faults {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", u.Fault, u.Hits, u.Shown())
	}
	for _, r := range breaches(res) {
		fmt.Fprintf(&b, "\n<details><summary>%s: first breach</summary>\n\n```\n%s```\n</details>\n", r.Clause, r.FirstBad)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell keeps a text inside its table cell.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", "<br>", "<", "&lt;").Replace(s)
}

// WriteJSON writes everything but the history.
func WriteJSON(w io.Writer, res Result) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(res)
}
