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

// after changes a step's result; was is the state before it.
func after(do func(was state, ev event, s *state, out []effect) []effect) func(Step) Step {
	return func(step Step) Step {
		return func(s state, ev event) (state, []effect) {
			next, out := step(s, ev)
			out = do(s, ev, &next, out)
			return next, out
		}
	}
}

// moved changes journal entries, and drops those for which do returns false.
func moved(do func(was state, ev event, e *firmware.Entry) bool) func(Step) Step {
	return after(func(was state, ev event, _ *state, out []effect) []effect {
		var kept []effect
		for _, e := range out {
			if e.Kind != firmware.Actuate || do(was, ev, &e.Entry) {
				kept = append(kept, e)
			}
		}
		return kept
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
	return after(func(_ state, _ event, _ *state, out []effect) []effect {
		var kept []effect
		for _, e := range out {
			if do(&e) {
				kept = append(kept, e)
			}
		}
		return kept
	})
}

// denied lets people in who are denied for a certain reason, but still reports the denial.
func denied(step Step, reason vocab.Reason) Step {
	return func(s state, ev event) (state, []effect) {
		s, out := step(s, ev)
		for _, d := range out {
			if d.Kind == firmware.Decided && d.Record.Reason == reason {
				for i := range out {
					if out[i].Kind == firmware.Actuate && out[i].Entry.Action == firmware.ActDeny {
						out[i].Entry.Action = firmware.ActPulse
						out[i].Entry.PulseMs = firmware.PulseMs
					}
				}
			}
		}
		return s, out
	}
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
	return after(func(_ state, ev event, s *state, out []effect) []effect {
		if ev.Kind == firmware.Config && s.Netloss.GraceSec+sec >= 0 {
			s.Netloss.GraceSec += sec
		}
		return out
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
