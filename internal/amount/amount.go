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

// TooLong reports whether time.ParseDuration refuses a text only because a Duration can't be that long.
func TooLong(text string) bool {
	_, err := time.ParseDuration(text)
	_, short := time.ParseDuration(digits.ReplaceAllString(text, "1"))
	return err != nil && short == nil
}
