package command

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock/clocktest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/age"
)

// However the machine's clock is set, while the server runs or between two runs, a key is kept for 30 days of running
// time: none is forgotten early, and each is forgotten in the end.
func TestKeysSurviveTheMachinesClock(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	const decades = 56 * 365 * day
	type step struct {
		passes time.Duration // running time
		set    time.Duration // how far the clock is then moved
		down   bool          // the server then restarts, as after a power cut
	}
	for name, steps := range map[string][]step{
		"an honest clock":                {{passes: 29 * day}},
		"boots in 1970, then learns":     {{passes: time.Minute, set: decades}, {passes: 29 * day}},
		"reboots in 1970, then learns":   {{passes: time.Hour, set: -decades, down: true}, {passes: time.Minute, set: decades}, {passes: 28 * day}},
		"learns while down":              {{passes: time.Minute, set: decades, down: true}, {passes: 29 * day}},
		"set a year ahead and back":      {{passes: day, set: 365 * day}, {passes: day, set: -365 * day}, {passes: 26 * day}},
		"set back a year":                {{passes: day, set: -365 * day}, {passes: 28 * day}},
		"restarts on an honest clock":    {{passes: 9 * day, down: true}, {passes: 9 * day, down: true}, {passes: 9 * day, down: true}},
		"sleeps for two months":          {{passes: day, set: 60 * day}, {passes: 28 * day}},
		"is off for two months":          {{passes: day, set: 60 * day, down: true}, {passes: 28 * day}},
		"leaps at every restart, onward": {{passes: day, set: 40 * day, down: true}, {passes: day, set: 40 * day, down: true}, {passes: 20 * day}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clk := &clocktest.Machine{}
				if name == "boots in 1970, then learns" || name == "learns while down" {
					clk.Set(-decades)
				}
				l := newMemLedger()
				var s *Service
				begin := func() {
					s = New(Config{Ledger: l, Sender: &memBoards{offline: true}, Clock: clk, Ages: age.New(clk, age.State{}, l.newest(), 0)})
					must.Get(s.Recover())(t)
				}
				do := func() Answer {
					a := must.Get(s.Execute(t.Context(), open("k")))(t)
					return a
				}
				begin()
				first := do().Result.CommandID
				for i, st := range steps {
					time.Sleep(st.passes)
					clk.Set(st.set)
					if st.down {
						s.Kill()
						s.Stop()
						begin()
					}
					synctest.Wait()
					if a := do(); !a.Replayed || a.Result.CommandID != first {
						t.Fatalf("after step %d: executed again: got %+v, want Replayed true and Result.CommandID %v", i+1, a, first)
					}
				}
				time.Sleep(Retention + 2*time.Hour)
				synctest.Wait()
				if a := do(); a.Replayed {
					t.Errorf("the key is kept for ever: got %+v, want Replayed false", a)
				}
				s.Stop()
			})
		})
	}
}
