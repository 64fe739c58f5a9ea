// Package lang picks the language that a reader of our pages prefers. The entry
// page and the console speak Korean and English.
package lang

import (
	"strconv"
	"strings"
)

// The languages of the pages.
const (
	English = "en"
	Korean  = "ko"
)

// Of picks by an Accept-Language header: English unless Korean is preferred.
func Of(accept string) string {
	found, best := English, 0.0
	for tag := range strings.SplitSeq(strings.ToLower(accept), ",") {
		tag, q := weighted(tag)
		if q <= best { // of equals the first
			continue
		}
		if name, _, _ := strings.Cut(tag, "-"); name == Korean || name == English {
			found, best = name, q
		}
	}
	return found
}

// weighted splits "ko;q=0.9".
func weighted(tag string) (string, float64) {
	tag, param, given := strings.Cut(tag, ";")
	q := 1.0
	if given {
		_, value, _ := strings.Cut(param, "=")
		q, _ = strconv.ParseFloat(strings.TrimSpace(value), 64)
	}
	return strings.TrimSpace(tag), q
}
