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
