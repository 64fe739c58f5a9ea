// Package planted holds the boards' planted bugs as decorators of the firmware's step (see internal/bug). Only builds
// with the tag "planted" link it, and tests.
package planted

import (
	"math"
	"slices"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/bug"
)

// Step is firmware.Step, or a decorator of it.
type Step func(firmware.State, firmware.Event) (firmware.State, []firmware.Effect)

// In plants the named bug in a step, if it is a board bug.
func In(name string, step Step) Step {
	for _, m := range []map[string]func(Step) Step{commandBugs, bugs, doorBugs} {
		if b, ok := m[name]; ok {
			return b(step)
		}
	}
	return step
}

// commandBugs are those that are named for other tests, too.
var commandBugs = map[string]func(Step) Step{
	bug.BoardIgnoresNotAfter: on(firmware.Command, func(_ *state, ev *event) {
		ev.SessionMs, ev.Command.NotAfterMs = max(ev.SessionMs, 1), math.MaxInt64
	}),
	bug.BoardForgetsCommands: on(firmware.Command, forget),
	bug.BoardActsTwice: func(step Step) Step {
		twice := onCommand(func(out []effect, i int) []effect { return slices.Insert(out, i, out[i]) })
		return on(firmware.Command, forget)(twice(step))
	},
	bug.BoardReportsOnly: onCommand(func(out []effect, i int) []effect { return slices.Delete(out, i, i+1) }),
	bug.BoardRefusesAndOpens: onCommand(func(out []effect, i int) []effect {
		if out[i].Entry.Action == firmware.ActRefuse {
			out[i].Entry.Action = firmware.ActPulse
		}
		return out
	}),
	bug.Outage36hGE: func(step Step) Step {
		return func(s state, ev event) (state, []effect) {
			if !s.Outage.Online && s.Age(ev.Mono) == access.OutageLimitMs { // a millisecond early
				early, first := step(s, event{Kind: firmware.Tick, Wall: ev.Wall + 1, Mono: ev.Mono + 1})
				s, out := step(early, ev)
				return s, append(first, out...)
			}
			return step(s, ev)
		}
	},
}

// forget makes the board forget the current command.
func forget(s *state, ev *event) {
	s.Done = slices.DeleteFunc(slices.Clone(s.Done), func(d firmware.Done) bool { return d.Report.CommandID == ev.Command.ID })
}

// onCommand changes what a command does to the relay; i is where that is in the step's effects.
func onCommand(change func(out []effect, i int) []effect) func(Step) Step {
	return after(func(t *turn) {
		i := slices.IndexFunc(t.out, func(e effect) bool { return e.Kind == firmware.Actuate && e.Entry.Cause == firmware.CauseCommand })
		if t.ev.Kind == firmware.Command && i >= 0 {
			t.out = change(t.out, i)
		}
	})
}
