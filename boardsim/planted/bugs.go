package planted

import (
	"math"
	"slices"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// shorter ends a new pulse after one second, although its journal line says 5 s.
func shorter(s *state, ev event) {
	doors(s, func(d *firmware.Door) {
		if d.PulseEnd == ev.Mono+firmware.PulseMs && !d.Held {
			d.PulseEnd -= 4000
		}
	})
}

// bugs are the board bugs that need no constant.
var bugs = map[string]func(Step) Step{
	"denied-revoked-moves-relay":  func(step Step) Step { return denied(step, "revoked") },
	"denied-stranger-moves-relay": func(step Step) Step { return denied(step, "no_valid_grant") },
	"opened-in-outage-moves-nothing": moved(func(was state, ev event, e *firmware.Entry) bool {
		return ev.Kind != firmware.Present || was.Outage.Online || e.Action != firmware.ActPulse
	}),
	"opened-onsite-pulses-twice": after(func(_ state, ev event, _ *state, out []effect) []effect {
		i := slices.IndexFunc(out, func(e effect) bool { return e.Kind == firmware.Actuate && e.Entry.Action == firmware.ActPulse })
		if ev.Kind == firmware.Present && i >= 0 {
			out = slices.Insert(out, i, out[i])
		}
		return out
	}),
	"onsite-opens-the-next-door": moved(func(was state, ev event, e *firmware.Entry) bool {
		if ev.Kind == firmware.Present && e.Action == firmware.ActPulse && len(was.Doors) > 1 {
			d := was.Doors[(slices.IndexFunc(was.Doors, func(d firmware.Door) bool { return d.ID == e.DoorID })+1)%len(was.Doors)]
			e.DoorID, e.Channel = d.ID, d.Channel
		}
		return true
	}),
	"flash-keeps-nothing": said(func(e *effect) bool { return e.Kind != firmware.Persist }),
	"flash-keeps-commands-late": said(func(e *effect) bool {
		if e.Kind == firmware.Persist && e.Parts&firmware.PartDone != 0 {
			e.Parts &^= firmware.PartDone
			return e.Parts != 0
		}
		return true
	}),
	"flash-loses-records":     said(func(e *effect) bool { return e.Kind != firmware.Persist || e.Parts&firmware.PartRecord == 0 }),
	"reboot-forgets-commands": on(firmware.Reboot, func(s *state, _ *event) { s.Done = nil }),
	"reboot-forgets-reports": on(firmware.Reboot, func(s *state, _ *event) {
		s.Done = slices.Clone(s.Done)
		for i := range s.Done {
			s.Done[i].Acked = true
		}
	}),
	"late-policy-stored": on(firmware.Config, func(_ *state, ev *event) { ev.Config.NotAfterMs = math.MaxInt64 }),
	"reboot-forgets-hold-end": on(firmware.Reboot, func(s *state, _ *event) {
		doors(s, func(d *firmware.Door) { d.HoldEnd = 0 })
	}),
	"reboot-ends-holds": on(firmware.Reboot, func(s *state, _ *event) {
		doors(s, func(d *firmware.Door) { d.Held, d.HoldEnd = false, 0 })
	}),
	"reboot-restarts-outage-age": on(firmware.Reboot, func(s *state, ev *event) {
		if !s.Outage.Online {
			s.Outage.Contact, s.Outage.Over = ev.Mono, false
		}
	}),
	"reboot-forgets-outage-policy": on(firmware.Reboot, func(s *state, _ *event) {
		s.Netloss = wire.Netloss{GraceSec: wire.DefaultGraceSec, Channels: map[int]string{1: "close", 2: "close"}}
	}),
	"reboot-forgets-content":      on(firmware.Reboot, func(s *state, _ *event) { s.Content = &firmware.Content{} }),
	"lost-clock-decides":          before(func(_ *state, ev *event) { ev.ClockLost = false }),
	"silent-outage-30s-short":     before(func(_ *state, ev *event) { ev.Heard += 30_000 }),
	"silent-outage-from-noticing": before(func(_ *state, ev *event) { ev.Silent = false }),
	"decides-until-40-hours":      func(step Step) Step { return younger(step, 4*3_600_000) },
	"stops-at-35-hours":           func(step Step) Step { return younger(step, -3_600_000) },
	"connection-ends-outage":      on(firmware.Connected, func(s *state, _ *event) { s.Outage = firmware.Outage{Online: true} }),
	"close-leaves-the-pulse": after(func(was state, ev event, s *state, out []effect) []effect {
		if ev.Kind == firmware.Command && ev.Command.Command == wire.CmdClose {
			for _, w := range was.Doors {
				if w.PulseEnd > ev.Mono {
					door(s, w.ID, func(d *firmware.Door) { d.PulseEnd = w.PulseEnd })
				}
			}
			out = slices.DeleteFunc(out, func(e effect) bool { return e.Kind == firmware.Released })
		}
		return out
	}),
	"link-ends-with-its-permit-on-site": before(func(s *state, ev *event) {
		if g, ok := presented(s, ev); ok && !g.ValidAt(ev.Wall) {
			ev.TokenHash = "0"
		}
	}),
	"closed-window-hides-dead-links": before(func(s *state, ev *event) {
		if _, ok := presented(s, ev); !ok && ev.TokenHash != "" && s.Content.Hours != nil &&
			access.Mode(s.Content.Windows, *s.Content.Hours, ev.DoorID, time.UnixMilli(ev.Wall)) == access.ModeClosed {
			ev.TokenHash, ev.PhoneHash = "", "0"
		}
	}),
	"old-link-opens-on-site": before(func(s *state, ev *event) {
		if _, ok := presented(s, ev); ok || ev.TokenHash == "" {
			return
		}
		id, _ := linked.Load(ev.TokenHash)
		for _, g := range s.Content.Snapshot().Upsert {
			if g.ID == id && g.TokenHash != "" {
				ev.TokenHash = g.TokenHash
			}
		}
	}),
	"links-dead-in-outage": on(firmware.Present, func(s *state, ev *event) {
		if !s.Outage.Online && ev.TokenHash != "" {
			ev.TokenHash = "0"
		}
	}),
	"phones-dead-in-outage": on(firmware.Present, func(s *state, ev *event) {
		if !s.Outage.Online && ev.PhoneHash != "" {
			ev.PhoneHash = "0"
		}
	}),
	"windows-ignored-in-outage": on(firmware.Present, func(s *state, _ *event) {
		if !s.Outage.Online {
			windowless(s)
		}
	}),
	"windows-ignored-on-site":       on(firmware.Present, func(s *state, _ *event) { windowless(s) }),
	"outage-knows-what-others-know": neighbours,
	"sync-acknowledged-not-applied": func(step Step) Step {
		return func(s state, ev event) (state, []effect) {
			if ev.Kind != firmware.Sync || s.Content.Revision == 0 || ev.Change.Sync.Snapshot || ev.Change.Sync.To%3 != 0 {
				return step(s, ev)
			}
			old := s.Content
			s, out := step(s, ev)
			if s.Content != old {
				c := *old
				c.Revision = s.Content.Revision
				s.Content = &c
			}
			return s, out
		}
	},
	"rests-half-an-hour-late": func(step Step) Step { return graceful(step, 1800) },
	"rests-early":             func(step Step) Step { return graceful(step, -10) },
	"rests-as-channel-1": after(func(_ state, ev event, s *state, out []effect) []effect {
		if ev.Kind == firmware.Config {
			n := s.Netloss
			n.Channels = map[int]string{}
			for ch := range s.Netloss.Channels {
				n.Channels[ch] = s.Netloss.Channels[1]
			}
			s.Netloss = n
		}
		return out
	}),
	"rest-hold-stays-after-recovery": moved(func(_ state, _ event, e *firmware.Entry) bool {
		return e.Cause != firmware.CauseOutage || e.Action != firmware.ActLock || e.OutageAgeMs > 0
	}),
	"rest-open-does-nothing": moved(func(_ state, _ event, e *firmware.Entry) bool {
		return e.Cause != firmware.CauseOutage || e.Action != firmware.ActPulse
	}),
	"rest-off-still-holds": moved(func(_ state, _ event, e *firmware.Entry) bool {
		if e.Cause == firmware.CauseOutage && e.Action == firmware.ActOff {
			e.Action = firmware.ActHold
		}
		return true
	}),
	"rest-repeated": after(func(_ state, _ event, _ *state, out []effect) []effect {
		for i, o := range slices.Backward(out) {
			if o.Kind == firmware.Actuate && o.Entry.Cause == firmware.CauseOutage {
				out = slices.Insert(out, i, o)
			}
		}
		return out
	}),
	"pulse-falls-early": after(func(_ state, ev event, s *state, out []effect) []effect {
		shorter(s, ev)
		return out
	}),
	"first-pulse-falls-early": after(func(was state, ev event, s *state, out []effect) []effect {
		if len(was.Done) == 0 && was.Seq == 0 { // often the last line of a board's journal, too
			shorter(s, ev)
		}
		return out
	}),
	"scope-said-no-grant": after(func(_ state, _ event, s *state, out []effect) []effect {
		for i := range out {
			if r := &out[i].Record; out[i].Kind == firmware.Decided && r.Reason == vocab.DoorOutOfScope {
				r.Reason = vocab.NoValidGrant
				s.Records = slices.Clone(s.Records)
				s.Records[len(s.Records)-1].Reason = r.Reason
			}
		}
		return out
	}),
	"pulse-lasts-a-minute": after(func(_ state, ev event, s *state, out []effect) []effect {
		if ev.Kind == firmware.Command && ev.Command.Command == wire.CmdOpen {
			doors(s, func(d *firmware.Door) {
				if d.PulseEnd == ev.Mono+firmware.PulseMs {
					d.PulseEnd += 55_000
				}
			})
		}
		return out
	}),
	"hold-a-minute-longer": after(func(was state, ev event, s *state, out []effect) []effect {
		if ev.Kind == firmware.Command && ev.Command.Minutes > 0 {
			doors(s, func(d *firmware.Door) {
				if d.HoldEnd == ev.Mono+int64(ev.Command.Minutes)*60_000 {
					d.HoldEnd += 60_000
				}
			})
		}
		return out
	}),
	"hold-until-locked-ends-in-an-hour": before(func(_ *state, ev *event) {
		if ev.Kind == firmware.Command && ev.Command.Command == wire.CmdHold && ev.Command.Minutes == 0 {
			ev.Command.Minutes = 60
		}
	}),
	"hold-never-ends": moved(func(_ state, _ event, e *firmware.Entry) bool { return e.Cause != firmware.CauseHoldEnd }),
	"close-leaves-the-hold": func(step Step) Step {
		return func(s state, ev event) (state, []effect) {
			was := s.Doors
			s, out := step(s, ev)
			if ev.Kind == firmware.Command && ev.Command.Command == wire.CmdClose {
				for _, w := range was {
					door(&s, w.ID, func(d *firmware.Door) { d.Held, d.HoldEnd = w.Held, w.HoldEnd })
				}
			}
			return s, out
		}
	},
	"open-ends-the-hold": after(func(_ state, ev event, s *state, out []effect) []effect {
		if ev.Kind == firmware.Command && ev.Command.Command == wire.CmdOpen {
			door(s, ev.Command.DoorID, func(d *firmware.Door) { d.Held, d.HoldEnd = false, 0 })
		}
		return out
	}),
	"forced-leaf-is-open": on(firmware.Leaf, func(_ *state, ev *event) {
		if ev.Action == firmware.LeafForce {
			ev.Action = firmware.LeafClose
		}
	}),
	"records-forgotten-when-sent": said(func(e *effect) bool {
		r, ok := e.Payload.(wire.Records)
		if ok && len(r.Records) > 1 {
			r.Records = r.Records[1:]
			e.Payload = r
		}
		return true
	}),
	"records-lost-in-outage": after(func(was state, ev event, s *state, out []effect) []effect {
		if ev.Kind == firmware.Present && !was.Outage.Online && len(s.Records) > 0 {
			s.Records = s.Records[:len(s.Records)-1]
			out = slices.DeleteFunc(out, func(e effect) bool { return e.Kind == firmware.Persist && e.Parts&firmware.PartRecord != 0 })
		}
		return out
	}),
	"works-while-it-says-it-refused": after(func(_ state, ev event, _ *state, out []effect) []effect {
		for i := range out {
			if out[i].Kind == firmware.Report && out[i].Report.Result == vocab.OK && ev.Kind == firmware.Command {
				out[i].Report.Result, out[i].Report.Code = vocab.Refused, "busy"
			}
		}
		return out
	}),
	"commands-of-old-connections-taken": on(firmware.Command, func(s *state, ev *event) {
		ev.Command.Epoch = s.Epoch
		ev.SessionMs = min(max(ev.SessionMs, 1), ev.Command.NotAfterMs)
	}),
}
