package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// TestAskedInVain: a jump waits for an answer that may not come, but a missing one isn't a message that was given up.
func TestAskedInVain(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(f *clock.Flight)
		lost int64
		wait time.Duration
	}{
		{"answered", func(f *clock.Flight) { f.Asked("b"); f.Got("b") }, 0, 0},
		{"not answered", func(f *clock.Flight) { f.Asked("b") }, 0, time.Second},
		{"a message that must arrive", func(f *clock.Flight) { f.Sent("b") }, 1, 5 * time.Second},
		{"both, neither answered", func(f *clock.Flight) { f.Asked("b"); f.Sent("b") }, 1, 5 * time.Second},
		{"both, one answered", func(f *clock.Flight) { f.Sent("b"); f.Asked("b"); f.Got("b") }, 0, time.Second},
		{"of two boards", func(f *clock.Flight) { f.Asked("a"); f.Sent("b"); f.Sent("b") }, 2, 5 * time.Second},
		{"the line was cut", func(f *clock.Flight) { f.Asked("b"); f.Reset("b"); f.Sent("b") }, 1, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := clock.NewFlight()
				v := clock.NewVirtual(time.Unix(0, 0), f)
				c.do(f)
				start := time.Now()
				f.Settle()
				if got := time.Since(start); got != c.wait {
					t.Errorf("waited for %v, want %v", got, c.wait)
				}
				if got := v.Abandoned(); got != c.lost {
					t.Errorf("gave up %d messages, want %d", got, c.lost)
				}
				if work, messages := f.Pending(); work != 0 || messages != 0 {
					t.Errorf("pending: %d work and %d messages, want 0 and 0", work, messages)
				}
			})
		})
	}
}
