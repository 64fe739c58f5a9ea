// Package near finds the name that was probably meant.
package near

import (
	"cmp"
	"fmt"
	"strings"
)

// Name is the known name closest to a wrong one: the same in other letters, or up to a third of the letters may differ. If
// none is that close, it is the shortest that begins with the wrong one (p99 for p99_all); "" if none does.
func Name(name string, known []string) string {
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
	}
	best, short, least := "", "", 0
	for _, k := range known {
		most := (max(len(name), len(k)) + 1) / 3
		if max(len(name), len(k))-min(len(name), len(k)) > most { // the distance is at least that; a name may have been made up to be long
			continue
		}
		if d := distance(name, k); d <= most && (best == "" || d < least) {
			best, least = k, d
		}
	}
	for _, k := range known {
		if best == "" && len(name) > 2 && strings.HasPrefix(k, name) && (least == 0 || len(k) < least) {
			short, least = k, len(k)
		}
	}
	return cmp.Or(best, short)
}

// Slip is the known name that is one slip away from another: a letter added, left out, swapped or replaced; "" if none is,
// and for names that are too short to tell.
func Slip(name string, known []string) string {
	for _, k := range known {
		if len(name) > 3 && distance(name, k) == 1 {
			return k
		}
	}
	return ""
}

// Hint is `, did you mean "x"?`, or "" when no known name is near.
func Hint(name string, known []string) string {
	if best := Name(name, known); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}

// Hints is Hint, or a list of the known names if none is near and there are few.
func Hints(name string, known []string) string {
	if hint := Hint(name, known); hint != "" || len(known) == 0 || len(known) > 12 {
		return hint
	}
	return ", valid: " + strings.Join(known, " ")
}

// distance is the edit distance of two names; swapping two adjacent letters counts once.
func distance(a, b string) int {
	var before []int // the row before last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := last[j-1]
			if a[i-1] != b[j-1] {
				same++
			}
			row[j] = min(same, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
