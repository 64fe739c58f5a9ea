package fail

import (
	"strings"
	"time"
)

// ParseTime reads an RFC 3339 time with a zone, to the millisecond. Only the years 2 to 9999 UTC are accepted: an
// answer couldn't show the year 10000, and Go's zero time, in the year 1, means no time at all. Errors:
// InvalidTimestamp with details.field.
func ParseTime(field, s string) (time.Time, error) {
	s = strings.ToUpper(s)
	if !strict(s) {
		return time.Time{}, wrongTime(field)
	}
	s, leap := leapSecond(s)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, wrongTime(field)
	}
	if t = t.UTC(); leap {
		if t = t.Truncate(time.Second).Add(time.Second); t.Day() != 1 || t.Hour() != 0 || t.Minute() != 0 {
			return time.Time{}, wrongTime(field)
		}
	}
	if y := t.Year(); y < 2 || y > 9999 {
		return time.Time{}, New(InvalidTimestamp, field+" must be in the years 2 to 9999 (UTC)", "field", field)
	}
	return Milli(t), nil
}

func wrongTime(field string) *Error {
	return New(InvalidTimestamp, field+" must be an RFC 3339 time with a zone, such as 2026-12-01T09:00:00Z", "field", field)
}

// strict rejects what Go's parser lets pass: every number must have all its digits, a fraction must start with a point,
// and an offset must be under 24:00.
func strict(s string) bool {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) {
		return false
	}
	for i := range len(form) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	rest := s[len(form):]
	if rest[0] == '.' {
		rest = strings.TrimLeft(rest[1:], "0123456789")
	}
	if len(rest) == len("+00:00") { // hours and minutes of the offset
		return rest[1:3] < "24" && rest[4:6] < "60"
	}
	return rest == "Z"
}

// leapSecond replaces a second 60, which Go cannot read, by 59. A leap second is the last of a month in UTC and counts
// as part of the second before it.
func leapSecond(s string) (string, bool) {
	if s[17:19] != "60" {
		return s, false
	}
	return s[:17] + "59" + s[19:], true
}

// Milli is a time as it is stored: UTC, cut to the millisecond.
func Milli(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
