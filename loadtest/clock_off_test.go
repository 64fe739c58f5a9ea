package loadtest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestClockOff: with keys only, a load that registers permits for now isn't sent to a target whose clock is far off, where
// they would be over or yet to begin. Door commands don't depend on that.
func TestClockOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ahead   time.Duration
		plan    string
		refused bool
	}{
		"permits, three days ahead":  {72 * time.Hour, "requests: {register: 50%, command: 50%}", true},
		"permits, three days behind": {-72 * time.Hour, "requests: {register: 50%, command: 50%}", true},
		"permits, in time":           {time.Minute, "requests: {register: 50%, command: 50%}", false},
		"commands":                   {72 * time.Hour, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.scopes = `"device:door","space:partner"`
				target, opts := bubble(f)
				target.Ahead = c.ahead
				res, err := Run(t.Context(), target, mustParse(t, "rate: 10/s\nduration: 1s\n"+c.plan), opts)
				if refused := errors.Is(err, ErrClock); refused != c.refused || refused && (len(f.exchanges) > 0 || !strings.Contains(err.Error(), "the target's clock is 72 h")) {
					t.Errorf("got %v and %d exchanges, want it refused before any: %t", err, len(f.exchanges), c.refused)
				}
				if slices.ContainsFunc(res.Notes, func(n string) bool { return strings.HasPrefix(n, "the target's clock is ") }) {
					t.Errorf("got the notes %q, want none on the clock, which this load doesn't depend on", res.Notes)
				}
			})
		})
	}
}
