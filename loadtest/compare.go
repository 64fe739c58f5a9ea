package loadtest

import (
	"math"

	"github.com/doorlab/doorlab/internal/plot"
)

// compare puts a result beside a stored one. A difference counts only if it exceeds the noise, estimated from how much
// the seconds of both runs differ among themselves, and what matters (5 % and half a millisecond).
func compare(path string, before, now Result) *Comparison {
	c := &Comparison{Baseline: path}
	for _, m := range []struct {
		name string
		of   func(Point) float64
	}{
		{"p50 of a second", func(p Point) float64 { return p.P50 }},
		{"p99 of a second", func(p Point) float64 { return p.P99 }},
		{"slowest of a second", func(p Point) float64 { return p.Max }},
	} {
		c.Changes = append(c.Changes, change(m.name, values(before, m.of), values(now, m.of)))
	}
	errs := func(p Point) float64 { return float64(p.Outcomes[rejected] + p.Outcomes[noAnswer]) }
	was, is := sum(values(before, errs)), sum(values(now, errs))
	e := Change{Name: "errors", Before: was, Now: is, Noise: round(3*math.Sqrt(was), 1), Verdict: "same"}
	e.judge()
	c.Changes = append(c.Changes, e)
	return c
}

func values(r Result, of func(Point) float64) []float64 {
	var list []float64
	for _, p := range r.Series {
		if p.Planned > 0 {
			list = append(list, of(p))
		}
	}
	return list
}

func change(name string, before, now []float64) Change {
	c := Change{Name: name, Before: round(plot.Median(before), 3), Now: round(plot.Median(now), 3)}
	// Standard error of a median: 1.2533 sigma / sqrt(n), three of them.
	chance := 3 * 1.2533 * math.Hypot(spreadOf(before)/math.Sqrt(count(before)), spreadOf(now)/math.Sqrt(count(now)))
	c.Noise = round(max(chance, c.Before*0.05, 0.5), 3)
	c.judge()
	return c
}

// judge decides on a change; for every measure, less is better.
func (c *Change) judge() {
	switch d := c.Now - c.Before; {
	case d > c.Noise:
		c.Verdict = "worse"
	case d < -c.Noise:
		c.Verdict = "better"
	default:
		c.Verdict = "same"
	}
}

func count(v []float64) float64 { return float64(max(len(v), 1)) }

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// spreadOf is a standard deviation that is robust against outliers (1.4826 MAD).
func spreadOf(v []float64) float64 {
	m := plot.Median(v)
	off := make([]float64, len(v))
	for i, x := range v {
		off[i] = math.Abs(x - m)
	}
	return 1.4826 * plot.Median(off)
}

func pow10(x float64) float64 { return math.Pow(10, x) }
