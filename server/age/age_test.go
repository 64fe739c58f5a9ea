package age

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/clock/clocktest"
)

const (
	year    = 365 * day
	decades = 56 * year
)

// step is something that happens to a machine: it runs, with a tick every hour, then is off for a while, and then its
// clock is set.
type step struct {
	runs, off, set time.Duration
	down           bool // it restarts, even if it wasn't off
}

// life is a machine's history, with how far its dates may run ahead of the truth, and how far behind they may be at
// the end.
type life struct {
	first         time.Duration // the clock's error at the first start
	steps         []step
	ahead, behind time.Duration
}

var lives = map[string]life{
	"an honest clock":              {steps: []step{{runs: 30 * day}}},
	"an hour ahead":                {steps: []step{{runs: day, set: time.Hour}, {runs: day, set: -time.Hour}, {runs: day}}, ahead: time.Hour},
	"years ahead for six days":     {steps: []step{{runs: day, set: 3 * year}, {runs: 6 * day, set: -3 * year}, {runs: time.Hour}}},
	"ahead over restarts":          {steps: []step{{runs: day, set: 3 * year, down: true}, {runs: 5 * day, down: true}, {runs: day, set: -3 * year, down: true}, {}}},
	"boots in 1970, then learns":   {first: -decades, steps: []step{{runs: time.Minute, set: decades}, {runs: 7*day + 2*time.Hour}}},
	"reboots in 1970, then learns": {steps: []step{{runs: day, set: -decades, down: true}, {runs: 3 * day, set: decades}, {}}},
	"a month in 1970, then learns": {steps: []step{{runs: day, set: -decades}, {runs: 30 * day, set: decades}, {runs: 7*day + 2*time.Hour}}},
	"off for two months":           {steps: []step{{runs: day, off: 60 * day}, {runs: 7*day + 2*time.Hour}}},
	"off every night":              {steps: nights(40), behind: 8 * day},
	"first start ahead":            {first: 3 * year, steps: []step{{runs: time.Hour, set: -3 * year}, {}}, ahead: 3 * year},
	"a drifting clock":             {steps: drift(200), ahead: time.Minute},
	"ahead and further ahead":      {steps: []step{{set: year}, {runs: 6 * day, set: year}, {runs: 12 * time.Hour, set: -2 * year}, {runs: time.Hour}}},
	"ahead, behind, ahead":         {steps: []step{{set: year}, {runs: 6 * day, set: -2 * year}, {runs: 6 * day, set: 2 * year}, {runs: 6 * day, set: -year}, {runs: time.Hour}}},
	"what stands for a week":       {steps: []step{{set: 14 * day}, {runs: 8 * day, set: -14 * day}, {}}, ahead: 14 * day},
	"the same twice": {first: 3 * year, ahead: 3 * year, steps: []step{{runs: time.Hour, set: -3 * year}, {runs: 8 * day, set: 2 * year},
		{runs: day, set: -2 * year}, {}}},
}

func nights(n int) (out []step) {
	for range n {
		out = append(out, step{runs: 14 * time.Hour, off: 10 * time.Hour})
	}
	return out
}

// drift is a clock that gains a minute every ten hours and is then corrected.
func drift(n int) (out []step) {
	for range n {
		out = append(out, step{runs: 10 * time.Hour, set: time.Minute}, step{runs: time.Hour, set: -time.Minute})
	}
	return out
}

// However the machine's clock is set, no date arrives before its time, running time neither jumps nor stops, and a
// clock that is right is trusted in the end.
func TestClock(t *testing.T) {
	t.Parallel()
	for name, l := range lives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { l.play(t) })
		})
	}
}

func (l life) play(t *testing.T) {
	machine := &clocktest.Machine{}
	machine.Set(l.first)
	var off, ran time.Duration // total
	var saved State
	c := New(machine, saved, time.Time{}, 0)
	first, began := c.Ran(), clock.Real{}.Now()
	look := func(when int, last bool) {
		t.Helper()
		truth := began.Add(ran + off).Round(0)
		switch come := c.Come().Round(0); {
		case come.Sub(truth) > l.ahead:
			t.Errorf("step %d: it has come to %s, want %s and %s more at most", when, come, truth, l.ahead)
		case last && truth.Sub(come) > l.behind+slack:
			t.Errorf("at last it has come to %s, want %s and %s less at most", come, truth, l.behind+slack)
		}
		if passed := c.Ran().Sub(first); passed > ran || ran-passed > time.Hour*time.Duration(when+1) {
			t.Errorf("step %d: running time moved on by %s, want %s", when, passed, ran)
		}
	}
	for i, s := range l.steps {
		for left := s.runs; left > 0; left -= time.Hour {
			time.Sleep(min(left, time.Hour))
			ran += min(left, time.Hour)
			saved = c.Tick()
			look(i, false)
		}
		off += s.off
		machine.Set(s.off + s.set)
		if s.down || s.off > 0 {
			c = New(machine, saved, time.Time{}, 0)
		}
		look(i, i == len(l.steps)-1)
	}
}

// Data from before the state existed has only its newest key, and its clock is trusted.
func TestClockOfOlderData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := clock.Real{}.Now()
		c := New(clock.Real{}, State{}, now.Add(-30*day), 0)
		if got, want := c.Ran(), now.Add(-30*day); !got.Equal(want) {
			t.Errorf("running time is %s, want that of the newest key, %s", got, want)
		}
		if got := c.Come(); !got.Equal(now) {
			t.Errorf("it has come to %s, want %s", got, now)
		}
	})
}
