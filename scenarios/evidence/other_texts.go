package evidence

import (
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// texts are texts other than x; a time is replaced by times.
func texts(x string, k known) []any {
	out := []any{"", nonsense, x + nonsense, nonsense + x}
	if at, err := time.Parse(time.RFC3339, x); err == nil {
		out = times(at)
	}
	out = append(append(out, digits(x, k)...), dates(x)...)
	for _, c := range k.Values {
		s, ok := c.(string)
		switch {
		case !ok:
		case !isTime(x):
			out = append(out, s, s+nonsense, nonsense+s)
		case sameEra(s, x):
			out = append(out, s)
		}
	}
	return out
}

// digits are other numbers for a number in a text, such as that of a header.
func digits(x string, k known) []any {
	n, err := strconv.ParseFloat(x, 64)
	if err != nil {
		return nil
	}
	return each.Of(numbers(n, 0, k), func(o any) any { return expression.Show(o) })
}

// dates are other dates for a date.
func dates(x string) []any {
	day, err := time.Parse(time.DateOnly, x)
	if err != nil {
		return nil
	}
	by := []time.Duration{-era, -24 * time.Hour, 24 * time.Hour, era}
	return each.Of(by, func(by time.Duration) any { return day.Add(by).Format(time.DateOnly) })
}

// era is how far a time in an answer might be off: that it isn't centuries ago says nothing.
const era = 1000 * 24 * time.Hour

// oddly moves a time to another time of day, with other milliseconds.
const oddly = 7*time.Hour + 31*time.Minute + 17*time.Second + 123*time.Millisecond

// times are other times, at the same time of day and at another, and the time itself as it is written elsewhere.
func times(at time.Time) (out []any) {
	if last := time.Date(9998, 12, 31, 0, 0, 0, 0, time.UTC); at.After(last.Add(-era)) {
		at = last.Add(-era)
	}
	for _, by := range []time.Duration{-era, era, oddly - era, era - oddly} {
		out = append(out, at.Add(by).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return append(out, at.In(time.FixedZone("", 9*60*60)).Format(time.RFC3339))
}

func sameEra(a, b string) bool {
	x, errX := time.Parse(time.RFC3339, a)
	y, errY := time.Parse(time.RFC3339, b)
	return errX == nil && errY == nil && x.Sub(y).Abs() <= era
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
