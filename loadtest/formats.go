package loadtest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/jedib0t/go-pretty/v6/table"
)

// SchemaVersion is the version of result.json's format, as in report.Result.
const SchemaVersion = 1

// Schema is the JSON Schema of result.json.
func Schema() ([]byte, error) {
	return report.SchemaOf(&Result{}, "doorlab load result", SchemaVersion)
}

// Failures lists what keeps the run from PASS: broken guarantees, then thresholds, then reasons why the figures are the
// generator's. In a run that is INVALID these reasons come first, because they decided the verdict.
func (r Result) Failures() (out []report.Failure) {
	told := map[string]bool{}
	if r.Gone != "" {
		told[r.Gone] = true
		out = append(out, report.Failure{ID: "gone", Status: judge.Blocked, Title: "The run as a whole", Why: r.Gone})
	}
	for _, row := range r.Guarantees.breached() {
		told[row.Clause+": "+row.Number] = true
		out = append(out, report.Failure{ID: "breach-" + row.Clause, Status: judge.Fail, Title: row.Clause + " " + row.Promise, Why: row.Number,
			Clauses: []string{row.Clause}, Bad: row.FirstBad})
	}
	var broken, reasons []report.Failure
	for _, t := range r.Thresholds {
		if !t.OK {
			told[t.why()] = true
		}
		if !t.OK && r.notJudged(t) == "" {
			status, _ := r.Shows(t)
			broken = append(broken, report.Failure{ID: "threshold-" + t.Name, Status: status, Title: "Threshold " + t.Name, Why: t.why(), Requests: r.showing(t)})
		}
	}
	for i, why := range r.Reasons {
		if !told[why] {
			reasons = append(reasons, report.Failure{ID: fmt.Sprintf("reason-%d", i+1), Status: judge.Status(r.Verdict), Title: "The run as a whole", Why: why})
		}
	}
	if r.Verdict == Invalid {
		return slices.Concat(out, reasons, broken)
	}
	return slices.Concat(out, broken, reasons)
}

// Whys are the reasons in the order of the failures: what decided the verdict comes first.
func (r Result) Whys() []string {
	return each.Of(r.Failures(), func(f report.Failure) string { return strings.Join(append(f.Clauses, f.Why), ": ") })
}

// why is the reason why a threshold is broken.
func (t Threshold) why() string {
	if t.Value == none {
		return fmt.Sprintf("%s: there was nothing to measure; the limit is %s", t.Name, t.Bound())
	}
	return fmt.Sprintf("%s is %s; the limit is %s", t.Name, t.Value, t.Bound())
}

// suites presents the run as test results: its thresholds, the guarantees, and the run itself.
func (r Result) suites() []report.Suite {
	name := cmp.Or(r.Plan.Name, "load")
	run := report.Case{Name: "the run counts", Seconds: r.Seconds, Status: judge.Pass}
	if doubts := r.doubted(); len(doubts) > 0 || r.Verdict == Invalid {
		run.Status, run.Why = judge.Invalid, cmp.Or(strings.Join(doubts, "; "), strings.Join(r.Reasons, "; "))
	}
	if r.Gone != "" {
		run.Status, run.Why = judge.Blocked, r.Gone
	}
	switch {
	case r.Breaches > 0:
		run.Status, run.Why = judge.Fail, r.FirstBreach
	case r.lost > 0:
		run.Status, run.Why = judge.Fail, "a part that can't be merged is a FAIL: "+strings.Join(r.Reasons, "; ")
	}
	s := report.Suite{Name: name, Status: judge.Status(r.Verdict), Started: r.Started, Seconds: r.Seconds, Cases: []report.Case{run}}
	for _, t := range r.Thresholds {
		status, why := r.status(t)
		s.Cases = append(s.Cases, report.Case{Name: "threshold " + t.Name + " " + t.Limit, Status: status, Why: why})
	}
	out := []report.Suite{s}
	switch g := r.Guarantees; {
	case g != nil && g.NotJudged != "":
		out = append(out, report.Suite{Name: "guarantees", Status: judge.Skipped, Started: r.Started,
			Cases: []report.Case{{Name: "guarantees", Status: judge.Skipped, Why: g.NotJudged}}})
	case g != nil:
		out = append(out, report.Ledger(g.Rows, r.Started))
	}
	return out
}

// WriteSummary writes the job summary, GitHub-flavoured Markdown: the failures first.
func (r Result) WriteSummary(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s doorlab load: %s %s\n\n%s\n", report.Mark(judge.Status(r.Verdict)), r.Plan.Name, r.Verdict, r.Headline())
	report.SummarizeFailures(&b, r.Failures())
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	tableIn(&b, "\n| shard | started | sent | | directory |\n|---|---|--:|---|---|\n", r.Shards, func(s Shard) table.Row {
		return table.Row{s.Label(), s.Begin(), amount.Number(s.Sent), s.Said(), "`" + s.Dir + "`"}
	})
	b.WriteString("\n| outcome | count | p50 | p90 | p95 | p99 | max |\n|---|--:|--:|--:|--:|--:|--:|\n")
	tableIn(&b, "", r.rows(), func(o Outcome) table.Row {
		l := o.Scheduled
		return table.Row{o.Name, amount.Number(o.Count), ms(l.P50), ms(l.P90), ms(l.P95), ms(l.P99), ms(l.Max)}
	})
	tableIn(&b, "\n| stage | sent | p50 | p99 | max | errors |\n|---|--:|--:|--:|--:|--:|\n", r.Stages, StageResult.row)
	tableIn(&b, "\n| threshold | limit | measured | |\n|---|--:|--:|---|\n", r.Thresholds, r.thresholdRow)
	if why := r.unjudgedWhy(); why != "" {
		b.WriteString("\n" + why + "\n")
	}
	tableIn(&b, "\n| phase | whose | p50 | p99 |\n|---|---|--:|--:|\n", r.Phases, func(p Phase) table.Row {
		return table.Row{p.Name, p.Who, ms(p.P50), ms(p.P99)}
	})
	if why := longest(r.Phases); why != "" {
		b.WriteString("\n" + why + "\n")
	}
	tableIn(&b, "\n| rate | p50 | p99 | | outcomes | why |\n|--:|--:|--:|---|---|---|\n", r.Search, func(s Step) table.Row {
		return append(s.row(), strings.ReplaceAll(strings.Join(s.Reasons, "; "), "|", "\\|"))
	})
	if g := r.Guarantees; g != nil && g.NotJudged == "" {
		report.SummarizeLedger(&b, g.Rows)
		for _, note := range g.Notes() {
			fmt.Fprintf(&b, "\n%s\n", note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
