package firmware

import (
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// machine is one step in progress.
type machine struct {
	State
	ev     Event
	before []Door
	driven []Door // as falls saw them last
	out    []Effect
}

// Step computes the board's response to an event: its next state, and what to do, in order. Deadlines that fell due
// before the event are handled first.
func Step(s State, ev Event) (State, []Effect) {
	m := machine{State: s, ev: ev, before: s.Doors, driven: s.Doors}
	switch ev.Kind {
	case Command:
		m.out = make([]Effect, 0, 3) // an entry, the flash, a report
	case Sync:
		m.out = make([]Effect, 0, 2) // the flash, an acknowledgement
	}
	m.advance()
	skip := -1 // the door whose standing the report carries
	switch ev.Kind {
	case Connected:
		m.hello()
	case Disconnected:
		m.disconnected()
	case Command:
		m.contact()
		skip = m.command()
	case Sync:
		m.contact()
		m.sync()
	case Config:
		m.contact()
		m.config()
	case Ack:
		m.contact()
		m.ack()
	case Present:
		m.present()
	case Leaf:
		m.leaf()
	case DigestDue:
		m.digest()
	case Unanswered:
		m.again()
	case Reboot:
		m.reboot()
	case Forget:
		m.acked(ev.CommandID)
		m.persist(PartCore)
	}
	m.advance()
	m.falls()
	m.standings(skip)
	return m.State, m.out
}

// NextDeadline is the monotonic time of the next Tick; ok is false when there is none.
func (s State) NextDeadline() (at int64, ok bool) {
	soonest := func(t int64) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	for _, d := range s.Doors {
		if d.Held && d.HoldEnd > 0 {
			soonest(d.HoldEnd)
		}
		if d.PulseEnd > 0 {
			soonest(d.PulseEnd)
		}
		if t, due := d.warnAt(); due {
			soonest(t)
		}
	}
	if s.Outage.Online {
		if s.sentSeq > 0 {
			soonest(s.resendAt())
		}
		return at, ok
	}
	if !s.Outage.Rested {
		soonest(s.restAt())
	}
	if !s.Outage.Over {
		soonest(s.overAt())
	}
	return at, ok
}

// advance handles everything that is due by the event's time, each deadline at its own time.
func (m *machine) advance() {
	wall, mono := m.ev.Wall, m.ev.Mono
	for {
		at, ok := m.NextDeadline()
		if !ok || at > mono {
			m.ev.Wall, m.ev.Mono = wall, mono
			return
		}
		m.ev.Wall, m.ev.Mono = wall+at-mono, at
		for i, d := range m.Doors {
			if d.Held && d.HoldEnd > 0 && d.HoldEnd <= at {
				m.holdEnds(i)
			}
			if t, due := m.Doors[i].warnAt(); due && t <= at {
				m.door(i).Warn = true
			}
			if end := m.Doors[i].PulseEnd; end > 0 && end <= at {
				m.door(i).PulseEnd = 0
			}
		}
		m.falls()
		if m.Outage.Online {
			if m.sentSeq > 0 && m.resendAt() <= at {
				m.ev.Mono = mono
				m.again()
			}
			continue
		}
		if !m.Outage.Rested && m.restAt() <= at {
			m.rest()
		}
		if !m.Outage.Over && m.overAt() <= at {
			m.Outage.Over = true // [OFF-2]
			m.persist(PartCore)
		}
	}
}

// standings reports changed doors to the server, except skip, whose standing is in a report.
func (m *machine) standings(skip int) {
	var changed []wire.Standing
	for i := range m.Doors {
		m.since(i)
		d, b := m.Doors[i], m.before[i]
		seen := d.State() != b.State() || d.LeafOpen != b.LeafOpen || d.Held != b.Held || d.HoldEnd != b.HoldEnd
		if seen && i != skip {
			changed = append(changed, m.numbered(i))
		}
	}
	if len(changed) > 0 {
		m.publish(wire.UpState, wire.State{At: m.ev.Wall, Doors: changed})
	}
}

// since keeps the time of a door's last change of state.
func (m *machine) since(i int) {
	if m.Doors[i].State() != m.before[i].State() && m.Doors[i].SinceAt == m.before[i].SinceAt {
		m.door(i).SinceAt = m.ev.Mono
	}
}

// publish sends once the server has spoken; before that only the hello goes up.
func (m *machine) publish(channel string, payload any) {
	if m.Outage.Online {
		m.out = append(m.out, Effect{Kind: Publish, Channel: channel, Payload: payload})
	}
}

func (m *machine) persist(p Parts) { m.out = append(m.out, Effect{Kind: Persist, Parts: p}) }

func (m *machine) journal(d Door, action Action, cause Cause, commandID, grantID string) {
	e := Entry{DoorID: d.ID, Channel: d.Channel, Action: action, Cause: cause, CommandID: commandID, GrantID: grantID,
		Revision: m.Content.Revision, OutageAgeMs: m.Age(m.ev.Mono), Mono: m.ev.Mono}
	if action == ActPulse {
		e.PulseMs = d.PulseEnd - m.ev.Mono
	}
	m.out = append(m.out, Effect{Kind: Actuate, Entry: e})
}

// falls reports the relays that nothing drives any more.
func (m *machine) falls() {
	for i, was := range m.driven {
		if d := m.Doors[i]; was.energised() && !d.energised() {
			m.out = append(m.out, Effect{Kind: Released, Entry: Entry{DoorID: d.ID, Channel: d.Channel}, At: m.ev.Mono})
		}
	}
	m.driven = m.Doors
}

// hello starts the conversation on a new connection.
func (m *machine) hello() {
	n := cloneNetloss(m.Netloss)
	doors := make([]wire.Standing, len(m.Doors))
	for i := range doors {
		doors[i] = m.numbered(i)
	}
	h := wire.Hello{Proto: wire.Version, Boot: m.Boot, Revision: m.Content.Revision, OutageAgeMs: m.Age(m.ev.Mono),
		Buffered: len(m.Records), Dropped: m.Dropped, Netloss: &n, At: m.ev.Wall, Doors: doors, Firmware: "doorlab"}
	if m.Content.Revision > 0 {
		h.Digest = m.Content.Digest()
	}
	if len(m.pages) > 0 && m.pages[0].Sync.Snapshot {
		y := m.pages[0].Sync
		h.Partial = &wire.Partial{To: y.To, Digest: y.Digest, Page: len(m.pages)}
	}
	m.Epoch, m.synced = 0, 0
	m.out = append(m.out, Effect{Kind: Publish, Channel: wire.UpHello, Payload: h})
}

func (m *machine) digest() {
	m.publish(wire.UpDigest, wire.Digest{Revision: m.Content.Revision, Digest: m.Content.Digest()})
}

// ack handles the server's acknowledgements.
func (m *machine) ack() {
	a := m.ev.Ack
	switch a.Type {
	case wire.AckHello:
		m.Epoch = a.Epoch
		for _, d := range m.Done { // reports the server may have missed
			if !d.Acked {
				m.publish(wire.UpRpt, d.Report)
			}
		}
		if m.Outage.Over {
			m.digest() // its answer resumes decisions
		}
		m.sentSeq = 0
		m.upload()
	case wire.AckRpt:
		m.acked(a.CommandID)
	case wire.AckRec:
		m.recordsAcked(a.Seq)
	case wire.AckDigest:
		m.resume()
	}
}

// acked marks a report as done with.
func (m *machine) acked(commandID string) {
	for i := len(m.Done) - 1; i >= 0; i-- {
		if m.Done[i].Report.CommandID == commandID && !m.Done[i].Acked {
			m.Done[i].Acked = true
			m.persist(PartLazy)
			return
		}
	}
}

// config stores the outage policy: named channels are replaced.
func (m *machine) config() {
	c := m.ev.Config
	a := wire.SyncAck{Type: wire.SyncConfig, ID: c.ID, Result: vocab.OK}
	switch {
	case m.expired(c.NotAfterMs):
		a.Result, a.Code = vocab.Refused, "expired"
	case !m.fits(c.Netloss):
		a.Result, a.Code = vocab.Refused, "unsupported"
	default:
		n := cloneNetloss(m.Netloss)
		n.GraceSec, n.Version = c.Netloss.GraceSec, max(c.Netloss.Version, 1)
		maps.Copy(n.Channels, c.Netloss.Channels)
		m.Netloss = n
		m.persist(PartCore)
		m.out = append(m.out, Effect{Kind: Configured, Payload: cloneNetloss(n)})
	}
	n := cloneNetloss(m.Netloss)
	a.Netloss = &n
	m.publish(wire.UpAck, a)
}

func (m *machine) fits(n wire.Netloss) bool {
	if n.GraceSec < 0 || n.GraceSec > maxGrace {
		return false
	}
	for ch, rest := range n.Channels {
		if !slices.ContainsFunc(m.Doors, func(d Door) bool { return d.Channel == ch }) {
			return false
		}
		if !slices.Contains([]string{wire.RestOpen, wire.RestClose, wire.RestHold, wire.RestOff}, rest) {
			return false
		}
	}
	return true
}

// reboot restarts the board. Holds, ids, records and the outage age survive in flash.
func (m *machine) reboot() {
	m.disconnected()
	m.Boot++
	m.pages = nil // they were in memory
	for i := range m.Doors {
		m.door(i).PulseEnd = 0
	}
	parts := PartCore
	if m.ev.Wiped { // nothing is left, not even when the line went down
		m.Content, m.Netloss = &Content{}, unconfigured(m.Doors)
		m.Done, m.Records, m.Dropped = nil, nil, 0
		m.Seq = int64(m.Boot) << bootShift // the server identifies records by (board, seq)
		m.Outage = Outage{Contact: m.ev.Mono, Lost: true}
		for i := range m.Doors {
			d := m.door(i)
			d.Held, d.HoldEnd, d.Rest = false, 0, ""
		}
		parts |= PartAll
	}
	m.Outage.Lost = m.Outage.Lost || m.ev.ClockLost
	m.persist(parts)
}

func (m *machine) expired(notAfterMs int64) bool {
	return m.ev.SessionMs <= 0 || m.ev.SessionMs > notAfterMs
}
