package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// span writes a duration for people: milliseconds below a second, two units above.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "–"
	case d < time.Millisecond && d > 0:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	case d < time.Hour:
		return two(int64(d/time.Minute), "m", int64(d%time.Minute/time.Second), "s")
	case d < 48*time.Hour:
		return two(int64(d/time.Hour), "h", int64(d%time.Hour/time.Minute), "m")
	}
	return two(int64(d/(24*time.Hour)), "d", int64(d%(24*time.Hour)/time.Hour), "h")
}

func two(a int64, ua string, b int64, ub string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, ua)
	}
	return fmt.Sprintf("%d %s %d %s", a, ua, b, ub)
}

// clockTime is the time of day; when includes the date.
func clockTime(t time.Time) string { return t.UTC().Format("15:04:05") }
func when(t time.Time) string      { return t.UTC().Format("2006-01-02 15:04:05.000") + " UTC" }

// clockLayout is how the times of a list are written, with month and day unless all are of the lab's present day: after a
// jump of the clock they wouldn't look sorted, or would look like today's, otherwise.
func clockLayout(list []time.Time, now time.Time) string {
	day := func(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
	if slices.ContainsFunc(list, func(t time.Time) bool { return !day(t).Equal(day(now)) }) {
		return "01-02 15:04:05"
	}
	return "15:04:05"
}

// moment formats an API time for people; other text stays unchanged.
func moment(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	return t.UTC().Format(timeFormat) + " UTC"
}

func encode(q map[string][]string) string { return url.Values(q).Encode() }
