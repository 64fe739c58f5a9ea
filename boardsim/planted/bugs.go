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
func shorter(t *turn) {
	doors(t.s, func(d *firmware.Door) {
		if d.PulseEnd == t.ev.Mono+firmware.PulseMs && !d.Held {
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
	"opened-onsite-pulses-twice": after(func(t *turn) {
		i := slices.IndexFunc(t.out, func(e effect) bool { return e.Kind == firmware.Actuate && e.Entry.Action == firmware.ActPulse })
		if t.ev.Kind == firmware.Present && i >= 0 {
			t.out = slices.Insert(t.out, i, t.out[i])
		}
	}),
	"onsite-opens-the-next-door": moved(func(was state, ev event, e *firmware.Entry) bool {
		if ev.Kind == firmware.Present && e.Action == firmware.ActPulse && len(was.Doors) > 1 {
			d := was.Doors[(slices.IndexFunc(was.Doors, func(d firmware.Door) bool { return d.ID == e.DoorID })+1)%len(was.Doors)]
			e.DoorID, e.Channel = d.ID, d.Channel
		}
		return true
	}),
	"stranger-in-an-outage-without-a-head": after(func(t *turn) {
		if n := len(t.s.Records); t.ev.Kind == firmware.Present && n > 0 && !t.s.Outage.Online {
			t.s.Records = slices.Clone(t.s.Records)
			t.s.Records[n-1].PhoneHead = ""
		}
	}),
	"late-opening-prolongs-a-hold": after(func(t *turn) {
		if t.ordered("open") {
			door(t.s, t.ev.Command.DoorID, func(d *firmware.Door) {
				if d.HoldEnd > 0 {
					d.HoldEnd = max(d.HoldEnd, t.ev.Mono+60_000)
				}
			})
		}
	}),
	"opening-keeps-a-leaf-from-warning": after(func(t *turn) {
		doors(t.s, func(d *firmware.Door) {
			was := slices.IndexFunc(t.was.Doors, func(x firmware.Door) bool { return x.Channel == d.Channel && x.LeafOpen && !x.Warn })
			if was >= 0 && d.Warn && t.ev.Kind == firmware.Tick && d.PulseEnd > t.ev.Mono {
				d.Warn, d.LeafAt = false, d.PulseEnd-60_001 // it warns when the pulse is over
			}
		})
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
	"close-leaves-the-pulse": after(func(t *turn) {
		if t.ordered(wire.CmdClose) {
			for _, w := range t.was.Doors {
				if w.PulseEnd > t.ev.Mono {
					door(t.s, w.ID, func(d *firmware.Door) { d.PulseEnd = w.PulseEnd })
				}
			}
			t.out = slices.DeleteFunc(t.out, func(e effect) bool { return e.Kind == firmware.Released })
		}
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
	"windows-ignored-for-links-in-outage": on(firmware.Present, func(s *state, ev *event) {
		if !s.Outage.Online && ev.TokenHash != "" {
			windowless(s)
		}
	}),
	"windows-ignored-on-site":       on(firmware.Present, func(s *state, _ *event) { windowless(s) }),
	"outage-knows-what-others-know": neighbours,
	"sync-acknowledged-not-applied": after(func(t *turn) {
		old := t.was.Content
		if t.ev.Kind != firmware.Sync || old.Revision == 0 || t.s.Content == old {
			return
		}
		if y := t.ev.Change.Sync; !y.Snapshot && y.To%3 == 0 {
			c := *old
			c.Revision = t.s.Content.Revision
			t.s.Content = &c
		}
	}),
	"rests-half-an-hour-late": func(step Step) Step { return graceful(step, 1800) },
	"rests-early":             func(step Step) Step { return graceful(step, -10) },
	"rests-as-channel-1": after(func(t *turn) {
		if t.ev.Kind == firmware.Config {
			n := t.s.Netloss
			n.Channels = map[int]string{}
			for ch := range t.s.Netloss.Channels {
				n.Channels[ch] = t.s.Netloss.Channels[1]
			}
			t.s.Netloss = n
		}
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
	"rest-repeated": after(func(t *turn) {
		for i, o := range slices.Backward(t.out) {
			if o.Kind == firmware.Actuate && o.Entry.Cause == firmware.CauseOutage {
				t.out = slices.Insert(t.out, i, o)
			}
		}
	}),
	"pulse-falls-early": after(shorter),
	"first-pulse-falls-early": after(func(t *turn) {
		if len(t.was.Done) == 0 && t.was.Seq == 0 { // often the last line of a board's journal, too
			shorter(t)
		}
	}),
	"scope-said-no-grant": after(func(t *turn) {
		for i := range t.out {
			if r := &t.out[i].Record; t.out[i].Kind == firmware.Decided && r.Reason == vocab.DoorOutOfScope {
				r.Reason = vocab.NoValidGrant
				t.s.Records = slices.Clone(t.s.Records)
				t.s.Records[len(t.s.Records)-1].Reason = r.Reason
			}
		}
	}),
	"pulse-lasts-a-minute": after(func(t *turn) {
		if t.ordered(wire.CmdOpen) {
			doors(t.s, func(d *firmware.Door) {
				if d.PulseEnd == t.ev.Mono+firmware.PulseMs {
					d.PulseEnd += 55_000
				}
			})
		}
	}),
	"hold-a-minute-longer": after(func(t *turn) {
		if t.ev.Kind == firmware.Command && t.ev.Command.Minutes > 0 {
			doors(t.s, func(d *firmware.Door) {
				if d.HoldEnd == t.ev.Mono+int64(t.ev.Command.Minutes)*60_000 {
					d.HoldEnd += 60_000
				}
			})
		}
	}),
	"hold-until-locked-ends-in-an-hour": before(func(_ *state, ev *event) {
		if ev.Kind == firmware.Command && ev.Command.Command == wire.CmdHold && ev.Command.Minutes == 0 {
			ev.Command.Minutes = 60
		}
	}),
	"hold-never-ends": moved(func(_ state, _ event, e *firmware.Entry) bool { return e.Cause != firmware.CauseHoldEnd }),
	"close-leaves-the-hold": after(func(t *turn) {
		if t.ordered(wire.CmdClose) {
			for _, w := range t.was.Doors {
				door(t.s, w.ID, func(d *firmware.Door) { d.Held, d.HoldEnd = w.Held, w.HoldEnd })
			}
		}
	}),
	"open-ends-the-hold": after(func(t *turn) {
		if t.ordered(wire.CmdOpen) {
			door(t.s, t.ev.Command.DoorID, func(d *firmware.Door) { d.Held, d.HoldEnd = false, 0 })
		}
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
	"records-lost-in-outage": after(func(t *turn) {
		if t.ev.Kind == firmware.Present && !t.was.Outage.Online && len(t.s.Records) > 0 {
			t.s.Records = t.s.Records[:len(t.s.Records)-1]
			t.out = slices.DeleteFunc(t.out, func(e effect) bool { return e.Kind == firmware.Persist && e.Parts&firmware.PartRecord != 0 })
		}
	}),
	"works-while-it-says-it-refused": after(func(t *turn) {
		for i := range t.out {
			if t.out[i].Kind == firmware.Report && t.out[i].Report.Result == vocab.OK && t.ev.Kind == firmware.Command {
				t.out[i].Report.Result, t.out[i].Report.Code = vocab.Refused, "busy"
			}
		}
	}),
	"commands-of-old-connections-taken": on(firmware.Command, func(s *state, ev *event) {
		ev.Command.Epoch = s.Epoch
		ev.SessionMs = min(max(ev.SessionMs, 1), ev.Command.NotAfterMs)
	}),
}
