// Package near finds the name that was probably meant.
package near

import "fmt"

// Name is the known name closest to a wrong one, "" when none is close.
func Name(name string, known []string) string {
	best, dist := "", len(name)/2+2
	for _, k := range known {
		if d := distance(name, k); d < dist {
			best, dist = k, d
		}
	}
	return best
}

// Hint is `, did you mean "x"?`, or "" when no known name is close.
func Hint(name string, known []string) string {
	if best := Name(name, known); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}

// distance is the edit distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := prev
			if a[i-1] != b[j-1] {
				cost = 1 + min(prev, row[j], row[j-1])
			}
			prev, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
