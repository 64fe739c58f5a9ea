package loadtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/doorlab/doorlab/internal/amount"
)

// Text is the report for a terminal.
func (r Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  (%s)\n", r.Plan.Name, r.Verdict, r.pace())
	for _, why := range r.Whys() {
		fmt.Fprintf(&b, "  %s\n", why)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "  note: %s\n", note)
	}
	n := func(v int64) string { return amount.Number(v) }
	b.WriteString("\n" + r.Sends() + "\n")
	if r.Validated > 0 {
		fmt.Fprintf(&b, "%s answers checked against the OpenAPI documents: %s violations\n", n(r.Validated), n(r.Breaches))
	}
	for _, line := range r.Setting() {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "generator lag: p50 %s  p99 %s  max %s; seed %d\n\nlatency from the scheduled send (first row) and from the actual send (second)%s:\n", ms(r.Lag.P50), ms(r.Lag.P99), ms(r.Lag.Max), r.Seed, r.included())
	b.WriteString(r.latencies() + "\n")
	fmt.Fprintf(&b, "\nstatus  %s\n", counts(r.Statuses))
	if len(r.Codes) > 0 {
		fmt.Fprintf(&b, "code    %s\n", counts(r.Codes))
	}
	if len(r.Errors) > 0 {
		fmt.Fprintf(&b, "error   %s\n", counts(r.Errors))
	}
	for _, part := range []string{r.shardTable(), r.stageTable(), r.thresholdTable(), r.phaseTable(), r.searchTable(), r.compareTable(), strings.TrimSuffix(r.Guarantees.text(), "\n")} {
		if part != "" {
			b.WriteString("\n" + part + "\n")
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.Line())
	if r.Verdict == Invalid {
		b.WriteString("what to do about it: docs/load-testing.md#invalid\n")
	}
	return b.String()
}

// Line is the verdict in one line. It ends the report for a terminal, too, because that is what a person sees when a run is
// over.
func (r Result) Line() string {
	return fmt.Sprintf("%s · %s: %s", r.Verdict, r.Plan.Name, strings.Join(append(r.Whys(), r.Sentence()), " · "))
}

// Sends is what was sent, of what was planned, and what of it was sent again.
func (r Result) Sends() string {
	rate := perSecond(r.PlannedRate) + " as planned"
	if perSecond(r.SentRate) != perSecond(r.PlannedRate) {
		rate = perSecond(r.SentRate) + " of " + perSecond(r.PlannedRate)
	}
	out := fmt.Sprintf("sent %s of %s in %s s (%s)", amount.Number(r.Sent), amount.Many(int(r.Planned), "request"), amount.Number(round(r.Seconds, 1)), rate)
	var more []string
	for _, of := range []struct {
		n    int64
		what string
	}{{r.Repeats, "with repeated keys"}, {r.Replayed, "replayed"}, {r.Renewed, "sent again after a new token"}} {
		if of.n > 0 {
			more = append(more, amount.Number(of.n)+" "+of.what)
		}
	}
	if len(more) > 0 {
		out += "; " + strings.Join(more, ", ")
	}
	return out
}

func (r Result) pace() string {
	if r.Highest > 0 {
		return fmt.Sprintf("search, highest rate within the thresholds %s", perSecond(r.Highest))
	}
	return fmt.Sprintf("%s, %s", r.Plan.Pacer, perSecond(r.PlannedRate))
}

func counts(m map[string]int64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		name := k
		if k == "0" {
			name = "none"
		}
		parts = append(parts, name+": "+amount.Number(m[k]))
	}
	return strings.Join(parts, "  ")
}

// newTable has its numbers to the right of the first column.
func newTable(columns int, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var cfg []table.ColumnConfig
	for i := 2; i <= columns; i++ {
		cfg = append(cfg, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(cfg)
	return t
}

// tableOf is a table with a row for each of all; "" without any.
func tableOf[T any](all []T, row func(T) table.Row, columns int, header ...any) string {
	if len(all) == 0 {
		return ""
	}
	t := newTable(columns, header...)
	for _, x := range all {
		t.AppendRow(row(x))
	}
	return t.Render()
}

// tableIn writes a table of Markdown, with a row for each of all under the head; nothing without any.
func tableIn[T any](b *strings.Builder, head string, all []T, row func(T) table.Row) {
	if len(all) > 0 {
		b.WriteString(head)
	}
	for _, x := range all {
		for _, cell := range row(x) {
			fmt.Fprintf(b, "| %v ", cell)
		}
		b.WriteString("|\n")
	}
}

// latencies: for each outcome the time since scheduled, and under it the service time.
func (r Result) latencies() string {
	t := newTable(9, "outcome", "count", "mean", "p50", "p90", "p95", "p99", "p99.9", "max")
	for _, o := range r.rows() {
		row := func(name string, n any, l Latency) {
			t.AppendRow(table.Row{name, n, ms(l.Mean), ms(l.P50), ms(l.P90), ms(l.P95), ms(l.P99), ms(l.P999), ms(l.Max)})
		}
		row(string(o.Name), amount.Number(o.Count), o.Scheduled)
		row("  service", "", o.Service)
	}
	return t.Render()
}

// rows are the outcomes as tables show them: if there was only one, its figures are those of all requests, so they are told
// once.
func (r Result) rows() []Outcome {
	if len(r.Outcomes) == 2 && r.Outcomes[0].Count == r.Outcomes[1].Count {
		one := r.Outcomes[0]
		one.Name += " (" + r.Outcomes[1].Name + ")"
		return []Outcome{one}
	}
	return r.Outcomes
}

// shardTable: what was merged.
func (r Result) shardTable() string {
	return tableOf(r.Shards, func(s Shard) table.Row {
		return table.Row{s.Label(), s.Begin(), amount.Number(s.Sent), s.Said(), s.Dir}
	}, 4, "shard", "started", "sent", "verdict", "directory")
}

// stageTable: how each stage of a run with several went.
func (r Result) stageTable() string {
	return tableOf(r.Stages, StageResult.row, 6, "stage", "sent", "p50", "p99", "max", "errors")
}

func (s StageResult) row() table.Row {
	all := s.Latency()
	if s.Sent == 0 {
		return table.Row{s.Name, 0, "-", "-", "-", 0}
	}
	return table.Row{s.Name, amount.Number(s.Sent), ms(all.P50), ms(all.P99), ms(all.Max), amount.Number(s.Errors())}
}

func (r Result) thresholdTable() string {
	return strings.TrimSuffix(tableOf(r.Thresholds, r.thresholdRow, 4, "threshold", "limit", "measured", "verdict")+"\n"+r.unjudgedWhy(), "\n")
}

func (r Result) thresholdRow(h Threshold) table.Row {
	return table.Row{h.Name, h.Bound(), h.Value, r.Said(h).Word}
}

// phaseTable: where the time of a command goes.
func (r Result) phaseTable() string {
	return strings.TrimSuffix(tableOf(r.Phases, func(p Phase) table.Row {
		return table.Row{p.Name, p.Who, ms(p.P50), ms(p.P99), ms(p.Max)}
	}, 5, "phase of a command", "whose time", "p50", "p99", "max")+"\n"+longest(r.Phases), "\n")
}

func (r Result) searchTable() string {
	why := ""
	t := tableOf(r.Search, func(s Step) table.Row {
		for _, reason := range s.Reasons {
			why += fmt.Sprintf("\n%s: %s", perSecond(s.Rate), reason)
		}
		return s.row()
	}, 4, "rate", "p50", "p99", "verdict", "outcomes")
	return t + why
}

func (s Step) row() table.Row {
	return table.Row{perSecond(s.Rate), ms(s.P50), ms(s.P99), s.Verdict, s.Ends()}
}

func (r Result) compareTable() string {
	if r.Compare == nil {
		return ""
	}
	t := newTable(5, "against the baseline", "before", "now", "noise", "verdict")
	told := r.Compare.Told()
	if told != "" {
		told = "\n" + told
	}
	for _, c := range r.Compare.Changes {
		t.AppendRow(table.Row{c.Name, c.Was(), c.Is(), c.Within(), c.Verdict})
	}
	return t.Render() + told
}
