package loadtest

import (
	"time"

	"github.com/doorlab/doorlab/internal/amount"
)

// How all reports of a load write times, rates and limits.

// ms is a time in milliseconds, in about three digits: the histograms know no more.
func ms(v float64) string {
	unit := " ms"
	if v >= 999.5 {
		v, unit = v/1000, " s"
	}
	switch {
	case v < 10:
		v = round(v, 2)
	case v < 100:
		v = round(v, 1)
	default:
		v = round(v, 0)
	}
	return amount.Number(v) + unit
}

// span is a duration of a plan.
func span(d Duration) string {
	if d == 0 {
		return "0 s"
	}
	return amount.Duration(time.Duration(d).Seconds())
}

// perSecond is a rate.
func perSecond(v float64) string { return inSecond(v) + "/s" }

// roundRate rounds a rate for a result: finely enough for a few requests per hour, and for the sum of all shards.
func roundRate(v float64) float64 { return round(v, 6) }

func inSecond(v float64) string {
	if v < 1 {
		return number(round(v, 4))
	}
	return amount.Number(round(v, 1))
}

// percent is a share, exact enough for limits on rare errors.
func percent(v float64) string { return number(round(v*100, 3)) + "%" }

// said is a measured value or the limit itself.
func (l limit) said(v float64) string {
	switch {
	case l.measure == "rate":
		return perSecond(v)
	case l.share:
		return percent(v)
	case l.measure == "errors" || l.measure == "count":
		return amount.Number(v)
	}
	return ms(v)
}

// broken is said for a value that breaks the limit, with all digits if it would look like the limit.
func (l limit) broken(v float64) string {
	switch text := l.said(v); {
	case text != l.said(l.value):
		return text
	case l.measure == "rate":
		return number(round(v, 4)) + "/s"
	case l.share:
		return number(v*100) + "%"
	}
	return number(round(v, 3)) + " ms"
}

// Bound is the limit in the style of the measured values.
func (t Threshold) Bound() string {
	_, _, name := Result{}.within(t.Name)
	l, err := parseThreshold(name, t.Limit)
	if err != nil { // of another version
		return t.Limit
	}
	return l.said(l.value)
}
