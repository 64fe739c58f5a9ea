package history

import (
	"strings"
	"testing"
)

// TestPhonesAreSeenHoweverTheyAreWritten: a number is found with or without separators, and with other digits beside it. A masked number, a longer run of
// digits and a stranger's number don't count.
func TestPhonesAreSeenHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	known := func(number string) bool { return number == "01012345678" }
	for text, want := range map[string]int{
		`{"phone":"01012345678"}`: 1, `call 010-1234-5678 now`: 1, `01012345678 and 010-1234-5678`: 2,
		`010 1234 5678`: 1, `at 010.1234.5678.`: 1, `call 5 010-1234-5678 or 2`: 1, `0101 2345 678 01012345678 7`: 2, `2026-11-28 01012345678`: 1,
		`010-****-5678`: 0, `0101234567, 8`: 0, `x` + strings.Repeat("9", 20): 0, `01087654321`: 0, `1012345678`: 0,
	} {
		if got := PhonesIn([]byte(text), known); got != want {
			t.Errorf("%s: got %d numbers, want %d", text, got, want)
		}
	}
}
