package planted

import (
	"slices"
	"sync"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
)

type (
	state  = firmware.State
	event  = firmware.Event
	effect = firmware.Effect
)

// before changes a step's input.
func before(do func(s *state, ev *event)) func(Step) Step {
	return func(step Step) Step {
		return func(s state, ev event) (state, []effect) {
			do(&s, &ev)
			return step(s, ev)
		}
	}
}

// turn is a step that was made: from what, by what, and its result.
type turn struct {
	was state
	ev  event
	s   *state
	out []effect
}

// ordered reports whether the step carried out this command.
func (t *turn) ordered(command string) bool {
	return t.ev.Kind == firmware.Command && t.ev.Command.Command == command
}

// after changes a step's result.
func after(do func(t *turn)) func(Step) Step {
	return func(step Step) Step {
		return func(s state, ev event) (state, []effect) {
			next, out := step(s, ev)
			t := turn{s, ev, &next, out}
			do(&t)
			return next, t.out
		}
	}
}

// moved changes journal entries, and drops those for which do returns false.
func moved(do func(was state, ev event, e *firmware.Entry) bool) func(Step) Step {
	return after(func(t *turn) {
		t.out = keep(t.out, func(e *effect) bool { return e.Kind != firmware.Actuate || do(t.was, t.ev, &e.Entry) })
	})
}

// on is before for events of one kind.
func on(kind firmware.Kind, do func(s *state, ev *event)) func(Step) Step {
	return before(func(s *state, ev *event) {
		if ev.Kind == kind {
			do(s, ev)
		}
	})
}

func door(s *state, id string, do func(d *firmware.Door)) {
	doors(s, func(d *firmware.Door) {
		if d.ID == id {
			do(d)
		}
	})
}

func windowless(s *state) {
	c := *s.Content
	c.Windows = nil
	s.Content = &c
}

// doors makes the doors writable.
func doors(s *state, do func(d *firmware.Door)) {
	s.Doors = slices.Clone(s.Doors)
	for i := range s.Doors {
		do(&s.Doors[i])
	}
}

// said changes outgoing messages.
func said(do func(e *effect) bool) func(Step) Step {
	return after(func(t *turn) { t.out = keep(t.out, do) })
}

func keep(out []effect, do func(e *effect) bool) (kept []effect) {
	for _, e := range out {
		if do(&e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// denied lets people in who are denied for a certain reason, but still reports the denial.
func denied(step Step, reason vocab.Reason) Step {
	return after(func(t *turn) {
		if slices.ContainsFunc(t.out, func(e effect) bool { return e.Kind == firmware.Decided && e.Record.Reason == reason }) {
			for i := range t.out {
				if e := &t.out[i]; e.Kind == firmware.Actuate && e.Entry.Action == firmware.ActDeny {
					e.Entry.Action, e.Entry.PulseMs = firmware.ActPulse, firmware.PulseMs
				}
			}
		}
	})(step)
}

// presented is the grant whose link was presented.
func presented(s *state, ev *event) (access.Grant, bool) {
	if ev.Kind != firmware.Present || ev.TokenHash == "" {
		return access.Grant{}, false
	}
	all := s.Content.Snapshot().Upsert
	i := slices.IndexFunc(all, func(g access.Grant) bool { return g.TokenHash == ev.TokenHash })
	if i < 0 {
		return access.Grant{}, false
	}
	linked.Store(ev.TokenHash, all[i].ID)
	return all[i], true
}

// linked maps a link's hash to its permit.
var linked sync.Map

// younger makes the board believe, when someone presents themselves, that the line went down ms later than it did.
func younger(step Step, ms int64) Step {
	return func(s state, ev event) (state, []effect) {
		if ev.Kind != firmware.Present || s.Outage.Online {
			return step(s, ev)
		}
		was := s.Outage
		s.Outage.Contact += ms
		s.Outage.Over = false
		s, out := step(s, ev)
		s.Outage = was
		return s, out
	}
}

// graceful adds seconds to the policy that is stored.
func graceful(step Step, sec int64) Step {
	return after(func(t *turn) {
		if t.ev.Kind == firmware.Config && t.s.Netloss.GraceSec+sec >= 0 {
			t.s.Netloss.GraceSec += sec
		}
	})(step)
}

// neighbours makes boards in an outage decide by what the place's other boards know.
func neighbours(step Step) Step {
	var newest sync.Map // place -> content
	return func(s state, ev event) (state, []effect) {
		if c, ok := newest.Load(s.PlaceID); ok && ev.Kind == firmware.Present && c.(*firmware.Content).Revision > s.Content.Revision {
			s.Content = c.(*firmware.Content)
		}
		s, out := step(s, ev)
		if c, ok := newest.Load(s.PlaceID); !ok || c.(*firmware.Content).Revision < s.Content.Revision {
			newest.Store(s.PlaceID, s.Content)
		}
		return s, out
	}
}
