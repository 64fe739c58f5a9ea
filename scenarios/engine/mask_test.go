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
