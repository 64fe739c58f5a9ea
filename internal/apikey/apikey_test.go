package apikey

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/shard"
)

func TestKeysAreWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := Derive(LivePrefix, rapid.String().Draw(t, "secret"), "plc_1", rapid.String().Draw(t, "key"))
		if !WellFormed(key) || !strings.HasPrefix(key, LivePrefix) || len(key) != len(LivePrefix)+36 {
			t.Fatalf("key %q, want %s and 36 characters more, well formed", key, LivePrefix)
		}
		i := rapid.IntRange(0, len(key)-1).Draw(t, "typo")
		bad := []byte(key)
		if bad[i]++; WellFormed(string(bad)) {
			t.Fatalf("a typo at %d went unnoticed, want it refused: %q", i, bad)
		}
	})
	if a, b := New(TestPrefix, "plc_1"), New(TestPrefix, "plc_1"); a == b || !WellFormed(a) {
		t.Errorf("two new keys are %q and %q, want two different well-formed ones", a, b)
	}
	once, again := Derive(TestPrefix, "1", "plc_1", "x"), Derive(TestPrefix, "1", "plc_1", "x")
	if once != again || Derive(TestPrefix, "1", "plc_1", "x") == Derive(TestPrefix, "2", "plc_1", "x") {
		t.Error("a derived key must depend on its secret and nothing else")
	}
}

// TestKeysCarryTheirPlace: a router finds the place of a key, derived or new, without asking a server.
func TestKeysCarryTheirPlace(t *testing.T) {
	t.Parallel()
	want := TestPrefix + shard.Label("plc_a")
	for _, key := range []string{New(TestPrefix, "plc_a"), Derive(TestPrefix, "secret", "plc_a", "key_1")} {
		if !strings.HasPrefix(key, want) {
			t.Errorf("a key of plc_a is %q, want one that begins with %q", key, want)
		}
	}
	if other := New(TestPrefix, "plc_b"); strings.HasPrefix(other, want) {
		t.Errorf("a key of plc_b is %q, want another label than that of plc_a", other)
	}
}
