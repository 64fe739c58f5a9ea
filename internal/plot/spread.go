package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
)

// Median is the middle of values in any order.
func Median(values []float64) float64 { return Quantile(slices.Sorted(slices.Values(values)), 0.5) }

// Quantile is a quantile of sorted values, by nearest rank; 0 if there are none.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// Spread plots a distribution of durations in milliseconds: how many there were of each size, on a logarithmic axis,
// with the median, p99 and the slowest. limit is the promised maximum, also in milliseconds; 0 = none.
func Spread(id, title string, values []float64, limit float64) Chart {
	if len(values) == 0 {
		return Chart{}
	}
	values = slices.Sorted(slices.Values(values))
	p50, p90, p99, most := Quantile(values, .5), Quantile(values, .9), Quantile(values, .99), values[len(values)-1]
	from := math.Floor(math.Log10(max(values[0], .1)))
	to := max(math.Ceil(math.Log10(max(most, limit, .1))), from+1)
	c := Chart{ID: id, Title: title, From: from, To: to}
	const perDecade = 12
	n := int(math.Round((to - from) * perDecade))
	bins := make([]int, n)
	for _, v := range values {
		i := int((math.Log10(max(v, .1)) - from) * perDecade)
		bins[min(max(i, 0), n-1)]++
	}
	line := Line{Color: 1, Area: true}
	for i, b := range bins { // as steps
		x := from + float64(i)/perDecade
		line.Points = append(line.Points, Point{x, float64(b)}, Point{x + 1.0/perDecade, float64(b)})
	}
	c.Lines = []Line{line}
	for d := from; d <= to; d++ {
		c.X = append(c.X, Tick{d, decade(d)})
	}
	c.Unit = "number by duration"
	c.Note = fmt.Sprintf("slowest of %s: %s", amount.Number(len(values)), brief(most))
	if limit > 0 {
		is := amount.Number(limit/1000) + " s" // as the guarantees write it
		c.Note += fmt.Sprintf(" (limit %s)", is)
		c.Marks = append(c.Marks, Mark{math.Log10(limit), "limit", "limit " + is})
	}
	c.Note += fmt.Sprintf("; half within %s, 90%% within %s, 99%% within %s", brief(p50), brief(p90), brief(p99))
	return c
}

// decade writes a power of ten of milliseconds: 1,000 s, as 16 m 40 s wouldn't look like one.
func decade(power float64) string {
	if power < 3 {
		return amount.Duration(math.Pow(10, power) / 1000)
	}
	return amount.Number(math.Pow(10, power-3)) + " s"
}

// brief writes milliseconds with a sensible number of digits.
func brief(ms float64) string {
	switch {
	case ms < 10:
		return amount.Duration(math.Round(ms*100) / 100 / 1000)
	case ms < 1000:
		return amount.Duration(math.Round(ms) / 1000)
	}
	return amount.Duration(math.Round(ms/10) / 100)
}
