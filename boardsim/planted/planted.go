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
	switch name {
	case bug.BoardIgnoresNotAfter:
		return func(s firmware.State, ev firmware.Event) (firmware.State, []firmware.Effect) {
			if ev.Kind == firmware.Command {
				ev.SessionMs, ev.Command.NotAfterMs = max(ev.SessionMs, 1), math.MaxInt64
			}
			return step(s, ev)
		}
	case bug.BoardForgetsCommands:
		return func(s firmware.State, ev firmware.Event) (firmware.State, []firmware.Effect) {
			return step(forget(s, ev), ev)
		}
	case bug.BoardActsTwice:
		return onCommand(step, forget, func(out []firmware.Effect, i int) []firmware.Effect { return slices.Insert(out, i, out[i]) })
	case bug.BoardReportsOnly:
		return onCommand(step, asItIs, func(out []firmware.Effect, i int) []firmware.Effect { return slices.Delete(out, i, i+1) })
	case bug.BoardRefusesAndOpens:
		return onCommand(step, asItIs, func(out []firmware.Effect, i int) []firmware.Effect {
			if out[i].Entry.Action == firmware.ActRefuse {
				out[i].Entry.Action = firmware.ActPulse
			}
			return out
		})
	case bug.Outage36hGE:
		return func(s firmware.State, ev firmware.Event) (firmware.State, []firmware.Effect) {
			if !s.Outage.Online && s.Age(ev.Mono) == access.OutageLimitMs { // a millisecond early
				early, first := step(s, firmware.Event{Kind: firmware.Tick, Wall: ev.Wall + 1, Mono: ev.Mono + 1})
				s, out := step(early, ev)
				return s, append(first, out...)
			}
			return step(s, ev)
		}
	}
	for _, m := range []map[string]func(Step) Step{bugs, doorBugs} {
		if b, ok := m[name]; ok {
			return b(step)
		}
	}
	return step
}

func asItIs(s firmware.State, _ firmware.Event) firmware.State { return s }

// forget makes the board forget the current command.
func forget(s firmware.State, ev firmware.Event) firmware.State {
	if ev.Kind == firmware.Command {
		s.Done = slices.DeleteFunc(slices.Clone(s.Done), func(d firmware.Done) bool { return d.Report.CommandID == ev.Command.ID })
	}
	return s
}

// onCommand changes what a command does to the relay.
func onCommand(step Step, before func(firmware.State, firmware.Event) firmware.State, change func([]firmware.Effect, int) []firmware.Effect) Step {
	return func(s firmware.State, ev firmware.Event) (firmware.State, []firmware.Effect) {
		s, out := step(before(s, ev), ev)
		if ev.Kind != firmware.Command {
			return s, out
		}
		i := slices.IndexFunc(out, func(e firmware.Effect) bool {
			return e.Kind == firmware.Actuate && e.Entry.Cause == firmware.CauseCommand
		})
		if i >= 0 {
			out = change(out, i)
		}
		return s, out
	}
}
