package explore

import (
	"fmt"
	"slices"
)

// disk has the server's disk be full during one write: what was asked for is refused and leaves no trace, so that it works when
// it is repeated, and what a board decided meanwhile arrives once there is room. With Flag, each commit takes longer from
// now on, or no longer does.
func (m *model) disk(o Op) {
	if o.Flag {
		if m.slow = !m.slow; m.slow {
			m.add("disk", fields{"slow", "20ms"})
			m.elsewhere(Op{Nth: 3, Door: o.Door}) // the test place's command is always written: a slow disk without a write shows nothing
		} else {
			m.add("disk", "ok")
		}
		return
	}
	refused := fields{"status", 503, "error", "storage_unavailable"}
	var ask func() *step
	var repeat func()
	switch o.Nth {
	case 0:
		ask, repeat = m.commandUnwritten(o, refused)
	case 1:
		ask, repeat = m.permitUnwritten(o, refused)
	case 2:
		if g := m.known(o); g != nil && g.revoked < 0 {
			ask, repeat = func() *step { return m.add("revoke", append(fields{"person", g.name}, refused...)) }, func() { m.revoke(o) }
		}
	case 3:
		ask, repeat = m.linkUnwritten(o, refused)
	case 4:
		if !slices.ContainsFunc(m.windows, func(w window) bool { return w.door == o.Door && w.ref == "always" }) {
			args := fields{"doors", doorName(o.Door), "mode", "auth", "ref", "always"}
			ask, repeat = func() *step { return m.add("policy", append(args, refused...)) }, func() { m.window(Op{Door: o.Door, Name: "auth"}) }
		}
	case 5:
		args := fields{"place", "lab", "week", fields{weekdays[3*o.N : 3*o.N+3], pairsOf([][2]int{{13 * 60, 13*60 + 1}})}}
		ask, repeat = func() *step { return m.add("hours", append(args, refused...)) }, func() { m.open(Op{N: o.N, Nth: o.Who}) }
	default:
		m.unwrittenEntry(o)
	}
	if ask == nil {
		return
	}
	m.settle()
	m.quietAll()
	m.diskDuring(func() {
		if s := ask(); s.verb == "command" {
			s.clauses = []string{"CMD-1"}
		}
	})
	repeat()
}

// diskDuring has the disk be full while something happens.
func (m *model) diskDuring(what func()) {
	m.add("disk", "full")
	what()
	if m.add("disk", "ok"); m.slow {
		m.add("disk", fields{"slow", "20ms"})
	}
}

// commandUnwritten: what isn't claimed isn't sent, see CMD-1; its key is still new.
func (m *model) commandUnwritten(o Op, refused fields) (ask func() *step, repeat func()) {
	if m.longWait(o.Door) {
		return nil, nil
	}
	key, c := m.key(), &command{door: o.Door, name: []string{"open", "hold", "close"}[o.N%3], legacy: o.Who == 1}
	args := fields{"door", doorName(o.Door), "command", c.name, "key", fmt.Sprintf("k%d", key)}
	if c.name == "hold" {
		args = append(args, "minutes", 0)
	}
	if c.legacy {
		args = append(args, "legacy", true)
	}
	return func() *step { return m.add("command", append(args, refused...)) }, func() { m.send(key, c) }
}

// permitUnwritten is a permit for the next hour, which every door allows.
func (m *model) permitUnwritten(o Op, refused fields) (ask func() *step, repeat func()) {
	g := m.named(permitName(o))
	if g == nil && len(m.entries()) == 0 || g != nil && len(g.doors) == 0 {
		return nil, nil
	}
	if g != nil && g.revoked < 0 && g.phone == o.Who && g.from == m.now {
		return nil, nil // it may be the same, and nothing is written
	}
	args := fields{"person", permitName(o), "place", "lab", "phone", "${" + phoneOf(o.Who) + "}", "from", moment(m.now), "to", moment(m.now + hour)}
	again := Op{Who: o.Who, Nth: o.Nth, To: hour - int64(o.Who*2+o.Nth)*second}
	return func() *step { return m.add("permit", append(args, refused...)) }, func() { m.permit(again) }
}

// linkUnwritten is a press on a link that would open.
func (m *model) linkUnwritten(o Op, refused fields) (ask func() *step, repeat func()) {
	b, _ := m.where(o.Door)
	g := m.known(o)
	if g == nil || !b.online || m.faults[b.index] != nil {
		return nil, nil
	}
	m.space(g.phone)
	if !m.content().decide(g.phone, o.Door, "link", m.now, false, g.revoked >= 0).allow {
		return nil, nil
	}
	args := fields{"token", "${" + token(g) + "}", "door", doorName(o.Door)}
	return func() *step { return m.add("link", append(args, refused...)) }, func() { m.link(Op{Who: o.Who, Nth: o.Nth, Door: o.Door}) }
}

// unwrittenEntry: a board decides by itself, and keeps its record until the server has stored it.
func (m *model) unwrittenEntry(o Op) {
	b, _ := m.where(o.Door)
	if !b.online {
		return
	}
	m.settle()
	m.quietAll()
	b.waits = true
	m.counted() // else a count that is written later would pass for the record
	m.diskDuring(func() {
		m.present(Op{Who: o.Who, Door: o.Door})
		m.add("control", fields{"path", "/disk"}, "data.hits > 0").within = "3s"
	})
	b.waits = false
	m.clockTo(m.now + 10*second) // when it sends again
	m.upload(b)
	m.quiet(b)
}
