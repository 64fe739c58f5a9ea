package firmware

import (
	"slices"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// remembered is the index of a command among those done; -1 = it is new, as nearly all are. Ids of the same time differ
// at their end, so the last byte tells most of them apart.
func (m *machine) remembered(id string) int {
	for i := range m.Done {
		if have := m.Done[i].Report.CommandID; len(have) == len(id) && (id == "" || have[len(have)-1] == id[len(id)-1]) && have == id {
			return i
		}
	}
	return -1
}

// command executes a door command and reports it. It returns the index of the door whose standing the report carries,
// -1 = none.
func (m *machine) command() int {
	c := m.ev.Command
	if known := m.remembered(c.ID); known >= 0 { // [CMD-5] repeat the stored report; the relay doesn't move
		m.report(m.Done[known].Report)
		return -1
	}
	i := m.doorByID(c.DoorID)
	if c.DoorID == "" {
		i = slices.IndexFunc(m.Doors, func(d Door) bool { return d.Channel == c.Channel })
	}
	r := wire.Report{CommandID: c.ID, Epoch: c.Epoch, Result: vocab.OK, At: m.ev.Wall}
	if code := m.refusal(i); code != "" { // [CMD-3] [CMD-4]
		d := Door{ID: c.DoorID, Channel: c.Channel}
		m.journal(d, ActRefuse, CauseCommand, c.ID, c.GrantID)
		r.Result, r.Code = vocab.Refused, code
	} else {
		m.act(i)
	}
	parts := PartDone
	if c.Command != wire.CmdOpen {
		parts |= PartCore
	}
	if i >= 0 {
		m.since(i)
		st := m.numbered(i)
		r.Standing = &st
	}
	m.Done = append(m.Done, Done{Report: r})
	if len(m.Done) > MaxDone {
		m.Done = m.Done[1:]
	}
	m.persist(parts)
	m.report(r)
	return i
}

// report answers the current command.
func (m *machine) report(r wire.Report) {
	if m.Outage.Online {
		m.out = append(m.out, Effect{Kind: Report, Report: r})
	}
}

// energised reports whether anything drives the relay: a pulse, a hold or the resting behaviour.
func (d Door) energised() bool { return d.PulseEnd > 0 || d.driven() }

// refusal is why the current command is not executed; "" = it is.
func (m *machine) refusal(door int) string {
	c := m.ev.Command
	switch {
	case m.expired(c.NotAfterMs) || c.Epoch != m.Epoch: // no door opens late [CMD-4]
		return "expired"
	case door < 0 || c.Channel != 0 && m.Doors[door].Channel != c.Channel,
		c.Minutes < 0 || c.Minutes > 1440,
		!slices.Contains([]string{wire.CmdOpen, wire.CmdHold, wire.CmdClose}, c.Command):
		return "unsupported"
	}
	return m.ev.Refuse
}

// act moves the relay: exactly one line of ground truth per command, see CMD-1.
func (m *machine) act(i int) {
	c := m.ev.Command
	d := m.door(i)
	switch c.Command {
	case wire.CmdOpen: // an active hold stays
		d.PulseEnd = m.ev.Mono + PulseMs
		m.journal(*d, ActPulse, CauseCommand, c.ID, c.GrantID) // [CMD-1]
	case wire.CmdHold: // [CMD-7]
		d.Held, d.HoldEnd, d.Warn = true, 0, false
		if c.Minutes > 0 {
			d.HoldEnd = m.ev.Mono + int64(c.Minutes)*60_000
		}
		m.journal(*d, ActHold, CauseCommand, c.ID, c.GrantID)
	case wire.CmdClose:
		d.lock()
		m.journal(*d, ActLock, CauseCommand, c.ID, c.GrantID)
	}
}

// lock ends holds and pulses; with the leaf open, the door goes into warning.
func (d *Door) lock() {
	d.Held, d.HoldEnd, d.PulseEnd, d.Rest = false, 0, 0, ""
	d.Warn = d.LeafOpen
}

// holdEnds handles the end of a hold of N minutes, in an outage or not, see CMD-7.
func (m *machine) holdEnds(i int) {
	d := m.door(i)
	d.Held, d.HoldEnd = false, 0
	if d.Rest == wire.RestHold { // the outage holds on
		return
	}
	d.released(m.ev.Mono)
	m.journal(*d, ActLock, CauseHoldEnd, "", "") // [CMD-7]
	m.persist(PartCore)
}

// released: a leaf that is open when a hold ends has 60 s from now.
func (d *Door) released(mono int64) {
	if d.LeafOpen && !d.Warn {
		d.LeafAt = mono
	}
}

// warnAt is when an open leaf turns into a warning.
func (d Door) warnAt() (at int64, due bool) {
	return d.LeafAt + leafWarnMs + 1, d.LeafOpen && !d.Warn && !d.driven()
}

// leaf handles the door's leaf being moved.
func (m *machine) leaf() {
	i := m.doorByID(m.ev.DoorID)
	if i < 0 {
		return
	}
	d := m.door(i)
	switch m.ev.Action {
	case LeafClose:
		d.LeafOpen, d.Warn = false, false
	case LeafOpen, LeafForce:
		if !d.LeafOpen {
			d.LeafOpen, d.LeafAt = true, m.ev.Mono
			d.Warn = !d.driven() && d.PulseEnd <= m.ev.Mono
		}
		d.Warn = d.Warn || m.ev.Action == LeafForce
	}
	m.persist(PartCore)
}
