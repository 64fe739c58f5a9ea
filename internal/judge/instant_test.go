package judge

import (
	"testing"
	"time"
)

// TestInstantReadsEveryForm: the judge understands every way in which a request may write the same time.
func TestInstantReadsEveryForm(t *testing.T) {
	t.Parallel()
	want := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	for _, s := range []string{"2031-01-01T00:00:00Z", "2031-01-01T09:00:00.0009+09:00", "2030-12-31t23:59:60z", "2030-12-31T23:59:60.5Z"} {
		if got, ok := instant(s); !ok || got != want {
			t.Errorf("instant(%q) = %d, %t, want %d", s, got, ok, want)
		}
	}
	if got, ok := instant("2031-01-01"); ok {
		t.Errorf("a date is read as %d, want nothing", got)
	}
}
