package loadtest

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Text is the report for a terminal.
func (r Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  (%s)\n", r.Plan.Name, r.Verdict, r.pace())
	for _, why := range r.Reasons {
		fmt.Fprintf(&b, "  %s\n", why)
	}
	fmt.Fprintf(&b, "\nsent %d of %d planned in %ss, %s/s of %s/s; %d attempts, %d repeated keys, %d replayed, %d after a new token\n",
		r.Sent, r.Planned, number(round(r.Seconds, 1)), number(r.SentRate), number(r.PlannedRate), r.Attempts, r.Repeats, r.Replayed, r.Renewed)
	if r.Validated > 0 {
		fmt.Fprintf(&b, "%d answers held against the OpenAPI documents, %d do not fit\n", r.Validated, r.Breaches)
	}
	fmt.Fprintf(&b, "generator lag: p50 %s  p99 %s  max %s; seed %d\n\nlatency since scheduled, the service time below it:\n", ms(r.Lag.P50), ms(r.Lag.P99), ms(r.Lag.Max), r.Seed)
	b.WriteString(r.latencies() + "\n")
	fmt.Fprintf(&b, "\nstatus  %s\n", counts(r.Statuses))
	if len(r.Codes) > 0 {
		fmt.Fprintf(&b, "code    %s\n", counts(r.Codes))
	}
	if len(r.Errors) > 0 {
		fmt.Fprintf(&b, "error   %s\n", counts(r.Errors))
	}
	for _, part := range []string{r.thresholdTable(), r.searchTable(), r.compareTable(), strings.TrimSuffix(r.Guarantees.text(), "\n")} {
		if part != "" {
			b.WriteString("\n" + part + "\n")
		}
	}
	return b.String()
}

func (r Result) pace() string {
	if r.Highest > 0 {
		return fmt.Sprintf("search, highest rate %s/s", number(r.Highest))
	}
	return fmt.Sprintf("%s, %s/s", r.Plan.Pacer, number(r.PlannedRate))
}

func counts(m map[string]int64) string {
	var parts []string
	for _, k := range sortedKeys(m) {
		name := k
		if k == "0" {
			name = "none"
		}
		parts = append(parts, fmt.Sprintf("%s: %d", name, m[k]))
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

// latencies: for each outcome the time since scheduled, and under it the service time.
func (r Result) latencies() string {
	t := newTable(8, "outcome", "count", "mean", "p50", "p90", "p99", "p99.9", "max")
	for _, o := range r.Outcomes {
		row := func(name string, n any, l Latency) {
			t.AppendRow(table.Row{name, n, ms(l.Mean), ms(l.P50), ms(l.P90), ms(l.P99), ms(l.P999), ms(l.Max)})
		}
		row(string(o.Name), o.Count, o.Scheduled)
		row("  service", "", o.Service)
	}
	return t.Render()
}

func (r Result) thresholdTable() string {
	if len(r.Thresholds) == 0 {
		return ""
	}
	t := newTable(4, "threshold", "limit", "measured", "verdict")
	for _, h := range r.Thresholds {
		verdict := "ok"
		if !h.OK {
			verdict = "BROKEN"
		}
		t.AppendRow(table.Row{h.Name, h.Limit, h.Value, verdict})
	}
	return t.Render()
}

func (r Result) searchTable() string {
	if len(r.Search) == 0 {
		return ""
	}
	t := newTable(3, "rate", "p99", "verdict")
	for _, s := range r.Search {
		t.AppendRow(table.Row{number(s.Rate) + "/s", ms(s.P99), s.Verdict})
	}
	return t.Render()
}

func (r Result) compareTable() string {
	if r.Compare == nil {
		return ""
	}
	t := newTable(5, "against the baseline", "before", "now", "noise", "verdict")
	for _, c := range r.Compare.Changes {
		t.AppendRow(table.Row{c.Name, number(c.Before), number(c.Now), "±" + number(c.Noise), c.Verdict})
	}
	return t.Render()
}
