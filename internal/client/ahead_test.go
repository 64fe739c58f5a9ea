package client

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"
)

// TestAhead: a token with an expiry tells the server's clock; any other tells nothing.
func TestAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	jwt := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	exp := func(at time.Time) string { return jwt(fmt.Sprintf(`{"exp":%d}`, at.Add(tokenLife).Unix())) }
	for token, want := range map[string]struct {
		by    time.Duration
		known bool
	}{
		exp(now):                      {0, true},
		exp(now.Add(36 * time.Hour)):  {36 * time.Hour, true},
		exp(now.Add(-36 * time.Hour)): {-36 * time.Hour, true},
		jwt(`{}`):                     {},
		jwt(`{"exp":"soon"}`):         {},
		"opaque":                      {},
		"a.b.c":                       {},
	} {
		if by, known := Ahead(token, now); by != want.by || known != want.known {
			t.Errorf("%s: got %s, %v, want %s, %v", token, by, known, want.by, want.known)
		}
	}
}
