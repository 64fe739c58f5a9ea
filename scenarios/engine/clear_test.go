package engine

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestClearedWhenItIsRemoved: a fault that couldn't be removed is still armed, so another try removes it.
func TestClearedWhenItIsRemoved(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"all", "offline"} {
		f := newFake(t)
		f.away = 2
		res, out := play(t, f, `steps: [{fault: {fault: offline, of: "\"brd_1\""}}, {call: {path: /echo}, expect: data.n == 3}, {control: {method: POST, path: /restart, body: {}}},
  {clear: `+name+`, expect: hits == 4, within: 10s}]`, Options{})
		if tries := f.asked("DELETE /faults/flt_1"); res.Files[0].Status != judge.Pass || tries != 3 {
			t.Errorf("clear %s: got %s after %d tries, want PASS after 3\n%s", name, res.Files[0].Status, tries, out)
		}
	}
}
