package fail

import "strings"

// Deceptive reports whether a text contains control characters (C0, C1, DEL),
// line or paragraph separators, or characters that turn the direction of others.
func Deceptive(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		switch {
		case r < 0x20, r >= 0x7f && r < 0xa0:
			return true
		case r == 0x2028, r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return true
		}
		return false
	})
}
