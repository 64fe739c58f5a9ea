package engine

import (
	"strings"
	"testing"
)

// TestTokensInARow: of several tokens with one character between them, all are hidden.
func TestTokensInARow(t *testing.T) {
	t.Parallel()
	for _, between := range []string{" ", ",", "\n"} {
		got := lookalikes(strings.Join([]string{fakeToken, fakeToken, fakeToken, fakeToken}, between))
		if want := strings.Join([]string{"[token]", "[token]", "[token]", "[token]"}, between); got != want {
			t.Errorf("between %q: got %q, want %q", between, got, want)
		}
	}
}

// TestNumbersWithAPlus: a number as it is dialled from abroad is hidden, and a time that looks like one isn't.
func TestNumbersWithAPlus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<sip:+821011112222@carrier>": "<sip:+82-****-2222@carrier>",
		"+82-10-1111-2222":            "+82-****-2222",
		"+1 202 555 0147":             "+1 -****-0147",
		"cut+129600000ms":             "cut+129600000ms",
		"2026-03-01T09:00:00+09:00":   "2026-03-01T09:00:00+09:00",
	} {
		if got := lookalikes(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// TestPartsOfTokens: header and payload of a token are hidden without its signature, too.
func TestPartsOfTokens(t *testing.T) {
	t.Parallel()
	const header, payload = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJzdWIiOiJrZXlfMDAwMSIsImV4cCI6MTc5MDAwMDAwMH0"
	for text, want := range map[string]string{
		"header=Bearer " + header:                       "header=Bearer [token]",
		"header=Bearer " + header + "." + payload:       "header=Bearer [token].[token]",
		"header=Bearer " + header + "." + payload + ".": "header=Bearer [token].[token].",
	} {
		if got := lookalikes(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
