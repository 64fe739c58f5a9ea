package access

import "strings"

// National is a phone number in the form in which it is stored: the digits of the national form. Callers show up as
// 010-1234-5678 or +82 10 1234 5678. Nationwide numbers such as 1588-1234 are dialled without a 0 everywhere. A foreign
// number keeps its plus sign, so that it never equals a domestic one.
func National(number string) string {
	number = strings.TrimSpace(number)
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	switch {
	case strings.HasPrefix(number, "+82"):
		bare := strings.TrimPrefix(digits[2:], "0")
		if len(bare) == len("15881234") && bare[0] == '1' { // mobile numbers have more digits
			return bare
		}
		return "0" + bare
	case strings.HasPrefix(number, "+"):
		return "+" + digits
	}
	return digits
}
