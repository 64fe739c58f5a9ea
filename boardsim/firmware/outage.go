package firmware

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
)

// restAt is when the resting behaviour is applied: after graceSec, no later than just past 36 h, see OFF-3; immediately
// with a lost clock.
func (s State) restAt() int64 {
	if s.Outage.Lost {
		return s.Outage.Contact
	}
	return min(s.Outage.Contact+s.Netloss.GraceSec*1000, s.overAt()) // [OFF-3]
}

// overAt is the first millisecond past 36 h; at exactly 36 h decisions still work, see OFF-2.
func (s State) overAt() int64 {
	if s.Outage.Lost {
		return s.Outage.Contact
	}
	return s.Outage.Contact + limitMs + 1 // [OFF-2]
}

// disconnected begins an outage, counted from the drop or, if nobody noticed that, from when the server was last heard.
func (m *machine) disconnected() {
	m.Epoch, m.sentSeq = 0, 0
	if !m.Outage.Online {
		return
	}
	m.Outage.Online, m.Outage.Contact = false, m.ev.Mono
	if m.ev.Silent {
		m.Outage.Contact = min(m.ev.Heard, m.ev.Mono)
	}
	m.persist(PartCore)
}

// contact handles a message from the server: only that ends an outage, see OFF-4.
func (m *machine) contact() {
	if m.Outage.Online {
		return
	}
	if access.OutageOver(m.Age(m.ev.Mono)) {
		m.Outage.Over = true
	}
	m.Outage.Online, m.Outage.Lost, m.Outage.Rested = true, false, false // [OFF-4]
	for i := range m.Doors {
		switch m.Doors[i].Rest {
		case wire.RestHold: // held until recovery, then locked
			d := m.door(i)
			d.Held, d.HoldEnd, d.Rest = false, 0, ""
			d.released(m.ev.Mono)
			m.journal(*d, ActLock, CauseOutage, "", "")
		case wire.RestOff: // the relay is driven again
			d := m.door(i)
			d.Rest = ""
			if d.Held {
				d.Warn = false
				m.journal(*d, ActHold, CauseOutage, "", "")
			}
		}
	}
	m.persist(PartCore)
}

// resume: the synchronization after an outage has been acknowledged.
func (m *machine) resume() {
	if m.Outage.Over {
		m.Outage.Over = false
		m.persist(PartCore)
	}
}

// rest applies the stored behaviour to each channel, once per outage, see OFF-3.
func (m *machine) rest() {
	m.Outage.Rested = true
	for i := range m.Doors {
		d := m.door(i)
		switch m.Netloss.Channels[d.Channel] { // [OFF-3]
		case wire.RestOpen: // one pulse, then as before
			d.PulseEnd = m.ev.Mono + PulseMs
			m.journal(*d, ActPulse, CauseOutage, "", "")
		case wire.RestHold:
			d.Rest, d.Warn = wire.RestHold, false
			m.journal(*d, ActHold, CauseOutage, "", "")
		case wire.RestOff:
			if d.driven() {
				d.released(m.ev.Mono)
			}
			d.Rest, d.PulseEnd = wire.RestOff, 0
			m.journal(*d, ActOff, CauseOutage, "", "")
		default:
			d.lock()
			m.journal(*d, ActLock, CauseOutage, "", "")
		}
	}
	m.persist(PartCore)
}
