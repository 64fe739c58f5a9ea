package id

import (
	"testing"
	"time"
)

func TestNewSortsAndNeverRepeats(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	prev := ""
	for i := range 5000 {
		got := New(Permit, now.Add(time.Duration(i/100)*time.Millisecond))
		if len(got) != len(Permit)+26 || got <= prev {
			t.Fatalf("%q after %q", got, prev)
		}
		prev = got
	}
}

// TestKind: what New made has the kind it was made for, and no other text has one.
func TestKind(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		if made := New(k, time.Now()); Kind(made) != k || Kind(made[1:]) != "" || Kind(made+"0") != "" || Kind(made[:29]+"U") != "" {
			t.Errorf("%s: kind %q, want %q, and none without its first letter, with more digits or a letter that is no digit", made, Kind(made), k)
		}
	}
}
