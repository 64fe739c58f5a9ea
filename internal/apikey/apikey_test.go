package apikey

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestKeysAreWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := Derive(LivePrefix, rapid.String().Draw(t, "secret"), rapid.String().Draw(t, "label"))
		if !WellFormed(key) || !strings.HasPrefix(key, LivePrefix) || len(key) != len(LivePrefix)+36 {
			t.Fatalf("key %q, want %s and 36 characters more, well formed", key, LivePrefix)
		}
		i := rapid.IntRange(0, len(key)-1).Draw(t, "typo")
		bad := []byte(key)
		if bad[i]++; WellFormed(string(bad)) {
			t.Fatalf("a typo at %d went unseen: %q", i, bad)
		}
	})
	if a, b := New(TestPrefix), New(TestPrefix); a == b || !WellFormed(a) {
		t.Errorf("two new keys are %q and %q, want two different well-formed ones", a, b)
	}
	once, again := Derive(TestPrefix, "1", "x"), Derive(TestPrefix, "1", "x")
	if once != again || Derive(TestPrefix, "1", "x") == Derive(TestPrefix, "2", "x") {
		t.Error("a derived key must depend on its secret and nothing else")
	}
}
