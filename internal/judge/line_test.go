package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// On a busy machine a board may learn of a cut two seconds late. Close to 36 h, even half a second is too much.
func TestOutageAgeOfABusyMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		since, says int64
		wrong       bool
	}{
		{635, 126, false}, {2000, 0, false}, {2001, 0, true}, {1000, 3001, true},
		{limitMs - 1000, limitMs - 1500, false}, {limitMs - 1000, limitMs - 1501, true},
	} {
		s := lineState{known: true}
		s.see(&history.Event{Kind: history.Line, Op: "down", Text: "offline", At: 1})
		if _, wrong := s.wrong(&history.Event{At: 1 + c.since, OutageAgeMs: c.says}); wrong != c.wrong {
			t.Errorf("a board says %d ms when its line has been down for %d: wrong is %t, want %t", c.says, c.since, wrong, c.wrong)
		}
	}
}

// Until its keep-alive expires, a board that nobody notified may believe that its dead line is alive, but no longer
// than that.
func TestOutageAgeOfASilentLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		since, says int64
		wrong       bool
	}{
		{ageSilentMs, 0, false}, {ageSilentMs + 1, 0, true}, {600_000, 0, true}, {600_000, 600_000, false},
		{600_000, 600_000 + ageSilentMs, false}, {600_000, 600_001 + ageSilentMs, true}, {37 * 3600_000, 3600_000, true},
	} {
		s := lineState{known: true}
		s.see(&history.Event{Kind: history.Line, Op: "down", Text: "oneway-up", At: 1})
		if _, wrong := s.wrong(&history.Event{At: 1 + c.since, OutageAgeMs: c.says}); wrong != c.wrong {
			t.Errorf("a board says %d ms when its line has been dead for %d: wrong is %t, want %t", c.says, c.since, wrong, c.wrong)
		}
	}
}
