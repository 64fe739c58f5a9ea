package planted

import (
	"slices"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// doorBugs are bugs in what a board does when several things happen at one door.
var doorBugs = map[string]func(Step) Step{
	"hold-survives-a-resting-hold": after(func(t *turn) {
		for i, w := range t.was.Doors {
			if w.Rest != wire.RestHold || !w.Held || t.s.Doors[i].Held || !t.s.Outage.Online {
				continue
			}
			door(t.s, w.ID, func(d *firmware.Door) { d.Held, d.HoldEnd = true, w.HoldEnd })
			t.out = slices.DeleteFunc(t.out, func(e effect) bool {
				return e.Kind == firmware.Actuate && e.Entry.DoorID == w.ID && e.Entry.Cause == firmware.CauseOutage
			})
		}
	}),
	"acknowledgement-forgets-one-record-more": before(func(s *state, ev *event) {
		n := slices.IndexFunc(s.Records, func(r wire.Record) bool { return r.Seq > ev.Ack.Seq })
		if ev.Kind == firmware.Ack && n > 1 {
			ev.Ack.Seq = s.Records[n].Seq
		}
	}),
	"end-of-a-pulse-ends-the-hold": after(func(t *turn) {
		for i, w := range t.was.Doors {
			if w.PulseEnd > 0 && t.s.Doors[i].PulseEnd == 0 && t.s.Doors[i].Held {
				door(t.s, w.ID, func(d *firmware.Door) { d.Held, d.HoldEnd = false, 0 })
			}
		}
	}),
	"second-hold-never-shorter": after(func(t *turn) {
		if t.ev.Kind == firmware.Command && t.ev.Command.Minutes > 0 {
			for i, w := range t.was.Doors {
				if w.Held && w.HoldEnd > t.s.Doors[i].HoldEnd && t.s.Doors[i].Held {
					door(t.s, w.ID, func(d *firmware.Door) { d.HoldEnd = w.HoldEnd })
				}
			}
		}
	}),
	"closed-leaf-ends-the-hold": on(firmware.Leaf, func(s *state, ev *event) {
		if ev.Action == firmware.LeafClose {
			door(s, ev.DoorID, func(d *firmware.Door) { d.Held, d.HoldEnd = false, 0 })
		}
	}),
	"opening-begins-a-leafs-60-s-again": after(func(t *turn) {
		if t.ev.Kind == firmware.Command && t.ev.Command.Command == wire.CmdOpen {
			door(t.s, t.ev.Command.DoorID, func(d *firmware.Door) { d.LeafAt, d.Warn = t.ev.Mono, false })
		}
	}),
	"grace-of-0-is-the-default": before(func(_ *state, ev *event) {
		if ev.Kind == firmware.Config && ev.Config.Netloss.GraceSec == 0 {
			ev.Config.Netloss.GraceSec = wire.DefaultGraceSec
		}
	}),
	"link-opens-every-door-on-site": func(step Step) Step {
		everywhere := denied(step, vocab.DoorOutOfScope)
		return func(s state, ev event) (state, []effect) {
			if ev.Kind == firmware.Present && ev.TokenHash != "" {
				return everywhere(s, ev)
			}
			return step(s, ev)
		}
	},
	"off-gives-a-leaf-no-minute": after(func(t *turn) {
		for i, w := range t.was.Doors {
			if w.Rest != wire.RestOff && t.s.Doors[i].Rest == wire.RestOff {
				door(t.s, w.ID, func(d *firmware.Door) { d.LeafAt = w.LeafAt })
			}
		}
	}),
}
