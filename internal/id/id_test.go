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
			t.Fatalf("got %q after %q, want a later id of the same length", got, prev)
		}
		prev = got
	}
}
