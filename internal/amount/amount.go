// Package amount writes numbers, counts and durations as people read them.
package amount

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Number writes a number with thousands separators and at most two decimals.
func Number[N int | int64 | float64](v N) string {
	text := strconv.FormatFloat(math.Round(float64(v)*100)/100, 'f', -1, 64)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		return whole + "." + rest
	}
	return whole
}

// Many is a count with its noun.
func Many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Number(n) + " " + thing + "s"
}

// Duration writes seconds as people say them.
func Duration(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 1:
		return Number(s*1000) + " ms"
	case s < 60:
		return Number(s) + " s"
	case s < 3600:
		return strings.TrimSuffix(fmt.Sprintf("%d m %d s", int(s)/60, int(s)%60), " 0 s")
	}
	return strings.TrimSuffix(fmt.Sprintf("%d h %d m", int(s)/3600, int(s)/60%60), " 0 m")
}

// Longest is the longest time.Duration in whole hours.
const Longest = time.Duration(math.MaxInt64 / int64(time.Hour) * int64(time.Hour))

var digits = regexp.MustCompile(`\d+`)

var days = regexp.MustCompile(`^([0-9]+)d`)

// ParseShare is strconv.ParseFloat that takes percentages, too: 0.1 or 10%.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	return v, err
}

// ParseDuration is time.ParseDuration that takes days, too, before the rest: 2d, 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	m := days.FindStringSubmatch(text)
	if m == nil {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if most := int64(Longest/(24*time.Hour)) - 1; err != nil || n > most {
		return 0, fmt.Errorf("%q is longer than %d days", text, most)
	}
	d, rest := time.Duration(n)*24*time.Hour, text[len(m[0]):]
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err == nil && (more < 0 || more > Longest-d) {
		err = fmt.Errorf("%q is not a duration", text)
	}
	return d + more, err
}

// TooLong reports whether ParseDuration refuses a text only because a Duration can't be that long.
func TooLong(text string) bool {
	if _, err := ParseDuration(text); err == nil {
		return false
	}
	_, err := ParseDuration(digits.ReplaceAllString(text, "1"))
	return err == nil
}
