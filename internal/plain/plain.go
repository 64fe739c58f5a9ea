// Package plain detects texts that deceive their reader. The server's rules and the world file check every name with
// it.
package plain

import "strings"

// Reason completes "the name ...".
const Reason = "must not contain control or bidirectional override characters"

// ReasonOfText is Reason for a text that may have several lines.
const ReasonOfText = "must not contain bidirectional override characters, or control characters other than line breaks and tabs"

// DeceptiveText is Deceptive for a text that may have several lines: a reason, which the contract limits only in length.
func DeceptiveText(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return deceives(r) && !breaks(r) })
}

// breaks reports whether a character only lays out a text of several lines.
func breaks(r rune) bool {
	return r == '\n' || r == '\r' || r == '\t' || r == 0x2028 || r == 0x2029
}

// Deceptive reports whether a text contains control characters (C0, C1, DEL), line or paragraph separators, or
// characters that override text direction.
func Deceptive(s string) bool { return strings.ContainsFunc(s, deceives) }

func deceives(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x2028, r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}
