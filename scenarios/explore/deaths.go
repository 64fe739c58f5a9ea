package explore

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/each"
)

// point is a step of a command at which the server can die, and what is known then.
type point struct {
	name   string
	status int // of the key in the next life
	moved  int // 1 = the relay has, 2 = unknown
}

var points = []point{
	{"after-claim", 504, 0}, {"before-publish", 504, 0}, {"after-publish", 504, 2},
	{"before-commit", 504, 1}, {"after-commit", 200, 1}, {"before-answer", 200, 1},
}

// crash is a death of the server during a command, or while it lets in somebody who pressed a link's button. After its
// restart the server knows what was durable; what the board did is reported once it is connected again.
func (m *model) crash(o Op) {
	b, _ := m.where(o.Door)
	if !b.online || m.faults[b.index] != nil || m.crashes == 2 {
		return
	}
	m.crashes++
	p := points[o.Nth%len(points)]
	m.settle()
	m.clockTo(m.now + second) // what happens has a time of its own
	if o.Flag && m.crashInPress(o, p) {
		return
	}
	n := m.key()
	key := fmt.Sprintf("k%d", n)
	r := m.record(record{door: o.Door, reason: "api", method: "api", who: -1, replays: 1})
	m.keys[n] = &command{door: o.Door, name: "open", status: p.status, record: r}
	cond := m.cutShort(r, p, key)
	m.add("mark", key)
	m.reconnected(func() {
		m.add("crash", fields{"at", p.name, "command", fields{"door", doorName(o.Door), "command", "open", "key", key}}).clauses = []string{"CMD-6"}
	})
	s := m.add("command", fields{"door", doorName(o.Door), "command", "open", "key", key, "status", p.status}, "replayed")
	s.capture, s.clauses = fields{key + "_body", "body"}, []string{"CMD-5", "CMD-6"}
	m.hasMoved(cond, o.Door, key)
	m.unread = true
	m.told(r, key)
	m.clockTo(m.now + 10*second) // if there was a pulse, it is over
}

// crashInPress is a death of the server during a press of a link's button, which leaves one record: it has no key. It reports
// whether anybody could press.
func (m *model) crashInPress(o Op, p point) bool {
	opens := func(g *grant) answer {
		return m.content().decide(g.phone, o.Door, "link", m.now, false, g.revoked >= 0)
	}
	can := each.If(m.grants, func(g *grant) bool { return g.kind == "permit" && opens(g).allow })
	if len(can) == 0 {
		return false
	}
	g := can[o.N%len(can)]
	m.space(g.phone)
	a := opens(g)
	if !a.allow { // by now
		return false
	}
	key := fmt.Sprintf("k%d", m.key())
	r := m.record(record{door: o.Door, reason: a.reason, method: "link", who: g.phone})
	m.credit(r, a)
	cond := m.cutShort(r, p, key)
	if r.credit != nil && cond != "" {
		r.credit.vague = true // it is used if the relay has moved
	} else if p.moved > 0 {
		m.used(r, m.now)
	}
	m.add("mark", key)
	m.reconnected(func() {
		m.add("crash", fields{"at", p.name, "link", fields{"token", "${" + token(g) + "}", "door", doorName(o.Door)}}).clauses = []string{"CMD-6"}
	})
	m.hasMoved(cond, o.Door, key)
	s := m.add("records", fields{"place", "lab", "door", doorName(o.Door), "since", key}, fmt.Sprintf(`count == 1 and first.result == %q and (first.settledAs == nil ? "-" : first.settledAs) == %s`, r.result, r.outcome(fmt.Sprintf("%q", r.settled), `"-"`)))
	s.within, s.clauses = "5s", []string{"CMD-6", "ENT-4"}
	m.clockTo(m.now + 10*second)
	return true
}

// cutShort is what is left of an opening that the server's death cut short: its record, and the relay's movement, if the
// expression that it returns is true.
func (m *model) cutShort(r *record, p point, key string) (cond string) {
	if p.moved == 2 {
		cond = key + "_moved == 1"
	}
	if p.moved > 0 {
		b, i := m.where(r.door)
		m.act(b, i, "open", 0)
		m.lines[len(m.lines)-1].cond = cond
	}
	if r.result = "noResponse"; p.status == 200 {
		r.result = "opened"
	} else if p.moved > 0 {
		r.settled, r.cond = "opened", cond
	}
	return cond
}

// hasMoved finds out what a condition of cutShort is about; "" = it is known.
func (m *model) hasMoved(cond string, door int, since string) {
	if cond == "" {
		return
	}
	s := m.add("journal", fields{"of", doorName(door), "cause", "command", "since", since}, "count <= 1")
	s.capture, s.clauses = fields{since + "_moved", "count"}, []string{"CMD-1", "CMD-4"}
}

// told waits until the server has heard what became of an unanswered command.
func (m *model) told(r *record, key string) {
	if r.settled == "" {
		return
	}
	s := m.add("records", fields{"place", "lab", "command", "${" + key + "_body.details.commandId}"}, fmt.Sprintf(`count == 1 and (first.settledAs == nil ? "-" : first.settledAs) == %s`, r.outcome(fmt.Sprintf("%q", r.settled), `"-"`)))
	s.within, s.clauses = "5s", []string{"CMD-4", "ENT-4"}
	m.unread = false
}

// outcome is an expression for what follows from a settlement, if there was one.
func (r *record) outcome(yes, no string) string {
	switch {
	case r.settled == "":
		return no
	case r.cond == "":
		return yes
	}
	return fmt.Sprintf("(%s ? %s : %s)", r.cond, yes, no)
}

// reconnected ends the server's life and brings back every connected board.
func (m *model) reconnected(end func()) {
	m.slow = false // the next life's disk works
	up := list{}
	for i, b := range m.boards {
		if b.online {
			m.quiet(b)
			m.drop(b)
			m.meet(b)
			up = append(up, plain(boardName(i)))
		}
	}
	end()
	if len(up) > 0 {
		m.add("synced", fields{"of", flow(up)}).clauses = []string{"CMD-6"}
	}
}

// wire makes a board's line bad for a moment: messages arrive twice or late, which changes nothing, or are lost in one
// or both directions during a command.
func (m *model) wire(o Op) {
	b, i := m.where(o.Door)
	if !b.online || m.faults[b.index] != nil {
		return
	}
	m.settle()
	name := fmt.Sprintf("wire%d", b.index)
	arm := func(fault string, params ...any) {
		args := fields{"fault", fault, "name", name, "of", boardName(b.index), "hits", 0}
		if params != nil {
			args = append(args, "params", fields(params))
		}
		m.add("fault", args)
	}
	key := m.key()
	c := &command{door: o.Door, name: []string{"open", "hold", "close"}[o.N%3], minutes: 0}
	switch o.Name {
	case "double", "delayed":
		if o.Name == "double" {
			arm("lossy", "percent", 0, "duplicatePercent", 100)
		} else {
			arm("lossy", "percent", 0, "delayMs", 20)
		}
		m.send(key, c)
		m.present(Op{Who: o.Who, Door: o.Door})
		m.quiet(b)
		m.add("clear", name)
		return
	}
	if m.waits == 3 || b.grace == 0 { // how often such a line drops is not promised, and each time would show
		return
	}
	m.waits++
	arm(o.Name)
	m.keys[key] = c
	c.status, c.record = 504, m.record(record{door: o.Door, result: "noResponse", reason: "api", method: "api", who: -1})
	if o.Name == "oneway-up" { // the board acts, and says so once it can be heard
		m.act(b, i, c.name, 0)
		c.record.settled = results[c.name]
	}
	s := m.add("command", fields{"door", doorName(o.Door), "command", c.name, "key", fmt.Sprintf("k%d", key), "outcome", "noResponse", "status", 504}, "not replayed")
	s.capture, s.clauses = fields{fmt.Sprintf("k%d_body", key), "body"}, []string{"CMD-4"}
	m.add("clear", name)
	m.cut(o)
	m.mend(o)
	m.told(c.record, fmt.Sprintf("k%d", key))
}
