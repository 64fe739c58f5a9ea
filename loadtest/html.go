package loadtest

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/report"
)

//go:embed report.html
var page string

// The page shares its look, its failures and its ledger with that of check.
var reportPage = report.Page(page, template.FuncMap{
	"ms": ms, "rate": perSecond, "counts": counts, "sum": amount.Number[int64],
	"status": func(v string) string { return strings.ToLower(v) },
})

// view is what the page shows.
type view struct {
	Result
	Failures []report.Failure
	Plots    []plot.Chart
	Capacity plot.Chart
	Falls    []fall
	Whole    float64 // ms that the width of the falls stands for
	Longest  string
	Included string
}

// Rows are the outcomes of the table.
func (v view) Rows() []Outcome { return v.rows() }

// HTML is the report as one self-contained page, failures first.
func (r Result) HTML() string {
	var b strings.Builder
	if err := reportPage.Execute(&b, view{r, r.Failures(), plots(r), capacity(r), falls(r.Phases), whole(r.Phases), longest(r.Phases), r.included()}); err != nil {
		return "<pre>" + template.HTMLEscapeString(r.Text()) + "</pre>"
	}
	return b.String()
}

// plots are the run over time, and its distribution.
func plots(r Result) []plot.Chart {
	end := float64(r.labSeconds())
	over := func(name string, color int, of func(Point) float64) plot.Line {
		l := plot.Line{Name: name, Color: color}
		for _, p := range r.Series {
			if p.Planned > 0 { // without the last stragglers
				l.Points = append(l.Points, plot.Point{X: float64(p.Second) + .5, Y: of(p)})
			}
		}
		return l
	}
	chart := func(id, title, unit string, lines ...plot.Line) plot.Chart {
		return plot.Chart{ID: id, Title: title, Unit: unit, To: end, X: plot.Seconds(end), Lines: lines, Marks: r.marks()}
	}
	var by []plot.Line
	for i, name := range outcomes {
		if r.outcome(name).Count > 0 {
			by = append(by, over(string(name), outcomeColors[i%len(outcomeColors)], func(p Point) float64 { return float64(p.Outcomes[name]) }))
		}
	}
	out := []plot.Chart{
		chart("rate", "Rate", "requests per second", over("sent", 1, func(p Point) float64 { return float64(p.Sent) }), over("planned", 12, func(p Point) float64 { return float64(p.Planned) })),
		chart("latency", "Latency from the scheduled send", "ms", r.limited(
			over("p50", 1, func(p Point) float64 { return p.P50 }), over("p99", 4, func(p Point) float64 { return p.P99 }),
			over("slowest", 3, func(p Point) float64 { return p.Max }), over("generator lag", 6, func(p Point) float64 { return p.Lag }))...),
		chart("outcomes", "Outcomes", "requests per second", by...),
	}
	return append(append(out, r.Lab.charts(chart, r.badDisks(end))...), distribution(r))
}

// outcomeColors are the colours of outcomes: each has its own.
var outcomeColors = []int{2, 6, 5, 4, 3, 1, 7, 13, 8, 9, 14, 12, 11, 10, 15}

// limitColors are the colours of limits in the plot of latencies. More limits than these would hide what they limit.
var limitColors = []int{13, 15, 14, 10}

// limited adds to the lines of latencies the limits that the plan sets them. One that is far above all of them is left out,
// because the plot would be empty below it.
func (r Result) limited(lines ...plot.Line) []plot.Line {
	top := 0.0
	for _, l := range lines {
		for _, p := range l.Points {
			top = max(top, p.Y)
		}
	}
	limits := 0
	for _, t := range r.Thresholds {
		from, to, l := r.latencyLimit(t)
		if l == 0 || l > 2*top || limits == len(limitColors) {
			continue
		}
		lines = append(lines, plot.Line{Name: "limit of " + t.Name, Color: limitColors[limits], Points: []plot.Point{{X: from, Y: l}, {X: to, Y: l}}})
		limits++
	}
	return lines
}

// latencyLimit is the limit of a threshold on latencies in ms, and the seconds of the run for which it holds; 0 for other
// thresholds.
func (r Result) latencyLimit(t Threshold) (from, to, limit float64) {
	from, to, name := r.within(t.Name)
	l, err := parseThreshold(name, t.Limit)
	if err != nil || !l.latency() {
		return from, to, 0
	}
	return from, to, l.value
}

// marks are what the plan changes on the way: named stages and faults.
func (r Result) marks() (out []plot.Mark) {
	at := 0.0
	for _, s := range r.Plan.Stages {
		if s.Name != "" {
			out = append(out, plot.Mark{X: at, Text: s.Name, Title: s.Name})
		}
		at += time.Duration(s.Duration).Seconds()
	}
	for _, f := range r.Faults {
		out = append(out, plot.Mark{X: time.Duration(f.At).Seconds(), Text: f.Name(), Title: f.said()})
	}
	return out
}

// distribution is the latency by percentile: p50, p90, p99, p99.9 at even steps.
func distribution(r Result) plot.Chart {
	all := r.outcome(everything)
	c := plot.Chart{ID: "distribution", Title: "Distribution of latency" + r.included(), Unit: "ms, by percentile", To: 4,
		Lines: []plot.Line{{Name: "from the scheduled send", Color: 4, Points: percentiles(all.Scheduled)}, {Name: "from the actual send", Color: 1, Points: percentiles(all.Service)}}}
	for nines := range 5 {
		c.X = append(c.X, plot.Tick{X: float64(nines), Text: "p" + number(round(100-100*math.Pow10(-nines), 4))})
	}
	return c
}

func percentiles(l Latency) (list []plot.Point) {
	h, err := hdrhistogram.Decode([]byte(l.HDR))
	if err != nil {
		return nil
	}
	for i := 0; i <= 80; i++ {
		nines := float64(i) / 20
		list = append(list, plot.Point{X: nines, Y: float64(h.ValueAtPercentile(100-100*math.Pow(10, -nines))) / 1000})
	}
	return list
}

// roomAbove is how far above the highest limit the plot of a search goes, as a multiple of that limit: one step far beyond the
// capacity would otherwise press all others flat.
const roomAbove = 4

// capacity is what a search finds: latency by rate.
func capacity(r Result) plot.Chart {
	steps := slices.Clone(r.Search)
	slices.SortFunc(steps, func(a, b Step) int { return int(math.Copysign(1, a.Rate-b.Rate)) })
	c := plot.Chart{ID: "capacity", Title: "Capacity", Unit: "ms of latency by rate", Lines: []plot.Line{{Name: "p50", Color: 1}, {Name: "p99", Color: 4}}}
	most := 0.0
	for _, s := range steps {
		c.To, most = max(c.To, s.Rate), max(most, s.P99)
		c.Lines[0].Points = append(c.Lines[0].Points, plot.Point{X: s.Rate, Y: s.P50})
		c.Lines[1].Points = append(c.Lines[1].Points, plot.Point{X: s.Rate, Y: s.P99})
		c.X = append(c.X, plot.Tick{X: s.Rate, Text: perSecond(s.Rate)})
	}
	for _, t := range r.Thresholds {
		if _, _, limit := r.latencyLimit(t); limit > 0 && len(c.Lines)-2 < len(limitColors) {
			c.Lines = append(c.Lines, plot.Line{Name: "limit of " + t.Name, Color: limitColors[len(c.Lines)-2], Points: []plot.Point{{X: 0, Y: limit}, {X: c.To, Y: limit}}})
			c.Max = max(c.Max, roomAbove*limit)
		}
	}
	if c.Max >= most {
		c.Max = 0
	} else if c.Max > 0 {
		c.Note = "Where requests took longer than " + ms(c.Max) + ", the lines run along the edge."
	}
	for len(c.X) > 7 { // labels would overlap
		var half []plot.Tick
		for i := 0; i < len(c.X); i += 2 {
			half = append(half, c.X[i])
		}
		c.X = half
	}
	if r.Highest > 0 {
		c.Marks = []plot.Mark{{X: r.Highest, Text: "highest within the thresholds", Title: perSecond(r.Highest)}}
	}
	return c
}

// fall is a bar of the waterfall: where a phase begins and how long it takes, in tenths of a percent of the whole.
type fall struct {
	Phase
	From, Wide, Tail string
}

// whole is how long all phases together take at most: each begins when those before it took their medians.
func whole(phases []Phase) (whole float64) {
	at := 0.0
	for _, p := range phases {
		whole = max(whole, at+p.P99)
		at += p.P50
	}
	return whole
}

// falls lines up the phases, each at its median, with its p99 beside it.
func falls(phases []Phase) (out []fall) {
	whole, at := whole(phases), 0.0
	for _, p := range phases {
		part := func(v float64) string { return fmt.Sprintf("%.1f", v/max(whole, 1e-9)*1000) }
		out = append(out, fall{p, part(at), part(max(p.P50, whole/500)), part(max(p.P99, whole/500))})
		at += p.P50
	}
	return out
}
