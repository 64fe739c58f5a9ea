package loadtest

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

//go:embed report.html
var page string

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"ms": ms, "num": number, "counts": counts, "plots": plots,
}).Parse(page))

// HTML is the report as one page that loads nothing.
func (r Result) HTML() string {
	var b strings.Builder
	if err := reportPage.Execute(&b, r); err != nil {
		return "<pre>" + template.HTMLEscapeString(r.Text()) + "</pre>"
	}
	return b.String()
}

// plot is one chart: lines over a common x, drawn as SVG.
type plot struct {
	Title, Unit, Across string
	Lines               []line
	XTicks, YTicks      []tick
}

type line struct{ Name, Color, Points string }

type tick struct {
	At   float64
	Text string
}

const plotWidth, plotHeight = 860.0, 200.0

type xy struct{ x, y float64 }

type curve struct {
	name, color string
	points      []xy
}

func plots(r Result) []plot {
	over := func(name, color string, of func(Point) float64) curve {
		c := curve{name: name, color: color}
		for _, p := range r.Series {
			if p.Planned == 0 {
				continue // the last stragglers
			}
			c.points = append(c.points, xy{float64(p.Second), of(p)})
		}
		return c
	}
	rates := []curve{over("planned", "#888", func(p Point) float64 { return float64(p.Planned) }),
		over("sent", "#06c", func(p Point) float64 { return float64(p.Sent) })}
	latency := []curve{over("p50", "#06c", func(p Point) float64 { return p.P50 }),
		over("p99", "#c60", func(p Point) float64 { return p.P99 }), over("slowest", "#c00", func(p Point) float64 { return p.Max }),
		over("generator lag", "#888", func(p Point) float64 { return p.Lag })}
	var by []curve
	for i, name := range outcomes {
		if r.outcome(name).Count > 0 {
			color := []string{"#080", "#888", "#a0a", "#c60", "#c00", "#000"}[i]
			by = append(by, over(string(name), color, func(p Point) float64 { return float64(p.Outcomes[name]) }))
		}
	}
	all := r.outcome(everything)
	dist := []curve{{"since scheduled", "#c60", percentiles(all.Scheduled)}, {"service time", "#06c", percentiles(all.Service)}}
	return []plot{
		draw("Rate", "requests/s", "seconds", rates), draw("Latency since scheduled", "ms", "seconds", latency),
		draw("Outcomes", "requests/s", "seconds", by), draw("Distribution", "ms", "percentile", dist),
	}
}

// percentiles puts p50, p90, p99, p99.9 ... at even steps (x = nines).
func percentiles(l Latency) []xy {
	h, err := hdrhistogram.Decode([]byte(l.HDR))
	if err != nil {
		return nil
	}
	var list []xy
	for i := 0; i <= 80; i++ {
		nines := float64(i) / 20
		list = append(list, xy{nines, float64(h.ValueAtPercentile(100-100*pow10(-nines))) / 1000})
	}
	return list
}

func draw(title, unit, across string, curves []curve) plot {
	p := plot{Title: title, Unit: unit, Across: across}
	maxX, maxY := 1.0, 0.0
	for _, c := range curves {
		for _, at := range c.points {
			maxX, maxY = max(maxX, at.x), max(maxY, at.y)
		}
	}
	maxY = nice(maxY)
	for _, c := range curves {
		var b strings.Builder
		for _, at := range c.points {
			fmt.Fprintf(&b, "%.1f,%.1f ", at.x/maxX*plotWidth, plotHeight-at.y/maxY*plotHeight)
		}
		p.Lines = append(p.Lines, line{c.name, c.color, b.String()})
	}
	for i := range 5 {
		y := maxY * float64(i) / 4
		p.YTicks = append(p.YTicks, tick{plotHeight - plotHeight*float64(i)/4, number(round(y, 3))})
		x := maxX * float64(i) / 4
		label := number(round(x, 1))
		if across == "percentile" {
			label = number(round(100-100*pow10(-x), 4))
		}
		p.XTicks = append(p.XTicks, tick{plotWidth * float64(i) / 4, label})
	}
	return p
}
