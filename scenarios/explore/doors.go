package explore

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/doorlab/doorlab/internal/each"
)

// where is the board of a door and the door's index on it.
func (m *model) where(d int) (*board, int) { return m.boards[d/2], d % 2 }

var results = map[string]string{"open": "opened", "hold": "held", "close": "locked"}

// outcomes of a door command: the status and error code of the API and the record's result.
type outcome struct {
	name   string // reported offline refused noResponse
	status int
	code   string
	result string
}

// deaf are the faults after which the report isn't heard although the board acted.
var deaf = []string{"silent-after", "wrong-id", "garbage"}

// drive is a command on its way to the relay.
func (m *model) drive(d int, command string, minutes int, r *record) outcome {
	b, i := m.where(d)
	f := m.faults[b.index]
	out := outcome{"reported", 200, "", results[command]}
	switch {
	case !b.online:
		out = outcome{"offline", 409, "device_offline", "offline"}
	case f != nil && f.name == "refuse":
		m.line(b, i, "refuse", "command", m.now)
		out = outcome{"refused", 502, "device_refused", "refused"}
	case f != nil && f.name == "silent":
		out = outcome{"noResponse", 504, "device_no_response", "noResponse"}
	case f != nil && slices.Contains(deaf, f.name):
		m.act(b, i, command, minutes)
		b.doors[i].unheard = true
		out = outcome{"noResponse", 504, "device_no_response", "noResponse"}
	default:
		m.act(b, i, command, minutes)
		b.doors[i].unheard = false
	}
	r.result = out.result
	if out.name == "reported" && command == "open" {
		m.used(r, m.now)
	}
	return out
}

// used counts the use of the permit that a record credits.
func (m *model) used(r *record, at int64) {
	g := r.credit
	if g == nil {
		return
	}
	if g.uses == 0 || at < g.first {
		g.first = at
	}
	g.uses++
}

// uploaded is an on-site record that reaches the server.
func (m *model) uploaded(r *record) {
	r.up = true
	if g := r.link; g != nil { // the server knows the links that are alive when it hears of the record
		if r.unnamed = g.revoked >= 0 || g.links != r.linkNo; !r.unnamed && !r.meant {
			r.who = g.phone
		}
	}
	if r.recorded = m.now; r.result == "opened" {
		m.used(r, r.at)
	}
}

func (m *model) record(r record) *record {
	r.at = m.now
	if !r.board {
		r.recorded = m.now
	}
	m.records = append(m.records, &r)
	return &r
}

// command moves a door over the API, under a fresh key or one of three names.
func (m *model) command(o Op) {
	if m.longWait(o.Door) {
		return
	}
	key := o.Nth
	if key == 0 {
		key = m.key()
	}
	c := &command{door: o.Door, name: o.Name, minutes: o.N, legacy: o.Flag}
	if o.Name != "hold" {
		c.minutes = 0
	}
	m.send(key, c)
}

// key is one that nothing else uses.
func (m *model) key() int {
	m.fresh++
	return 100 + m.fresh
}

// longWait keeps a sequence short: each unanswered command takes the server's whole wait.
func (m *model) longWait(d int) bool {
	b, _ := m.where(d)
	f := m.faults[b.index]
	if !b.online || f == nil || f.name != "silent" && !slices.Contains(deaf, f.name) {
		return false
	}
	m.waits++
	return m.waits > 3
}

// repeat repeats what a key was used for, or sends something else under it.
func (m *model) repeat(o Op) {
	key, c := o.Nth, m.keys[o.Nth]
	if used := slices.Sorted(maps.Keys(m.keys)); c == nil && len(used) > 0 {
		key = used[(4*o.Nth+o.Who)%len(used)]
		c = m.keys[key]
	}
	if c == nil {
		return
	}
	again := *c
	if o.Door == 3 {
		again.door = (c.door + 1) % 4
	}
	again.legacy = c.legacy != (o.Door == 2 && c.status == 200) // a failure has the shape of its first path, which the other path's document doesn't know
	m.send(key, &again)
}

// send sends a command under a key; the first use decides, see CMD-5.
func (m *model) send(key int, c *command) {
	name := fmt.Sprintf("k%d", key)
	args := fields{"door", doorName(c.door), "command", c.name, "key", name}
	if c.name == "hold" {
		args = append(args, "minutes", c.minutes)
	}
	if c.legacy {
		args = append(args, "legacy", true)
	}
	first := m.keys[key]
	switch {
	case first == nil:
		m.keys[key] = c
		m.firstUse(name, args, c)
	case first.door == c.door && first.name == c.name && first.minutes == c.minutes:
		first.record.replays++
		m.unread = true
		m.add("command", append(args, "status", first.status), "replayed and body == "+name+"_body").clauses = []string{"CMD-5"}
	default:
		m.add("command", append(args, "status", 409, "error", "idempotency_key_reused"), "not replayed and details?.reason == nil").clauses = []string{"CMD-5"}
	}
}

func (m *model) firstUse(name string, args fields, c *command) {
	r := m.record(record{door: c.door, reason: "api", method: "api", who: -1})
	out := m.drive(c.door, c.name, c.minutes, r)
	c.status, c.record = out.status, r
	expect := []string{"not replayed"}
	if out.status == 200 {
		b, i := m.where(c.door)
		expect = append(expect, fmt.Sprintf("data.deviceId == %s and data.command == %q and data.requestedAt == %s", doorName(c.door), c.name, at(m.now)),
			fmt.Sprintf("data.standing.state == %q", b.doors[i].state()))
	} else {
		expect = append(expect, fmt.Sprintf("error == %q and details.commandId != nil", out.code))
	}
	s := m.add("command", append(args, "outcome", out.name, "status", out.status), expect...)
	s.capture = fields{name + "_body", "body"}
	s.clauses = map[string][]string{"reported": {"CMD-1"}, "offline": {"CMD-2"}, "refused": {"CMD-3"}, "noResponse": {"CMD-4"}}[out.name]
}

// space keeps links and calls of one person apart: presses within 3 s count as one, and at most six per minute are
// allowed.
func (m *model) space(who int) {
	if t, ok := m.heard[who]; ok && m.now-t < 15*second {
		m.clockTo(t + 15*second)
	}
	m.heard[who] = m.now
}

// link presses the button of a link, the newest or an older one.
func (m *model) link(o Op) {
	g := m.known(o)
	if g == nil || m.longWait(o.Door) {
		return
	}
	m.space(g.phone)
	n := g.links
	if o.Flag && n > 0 {
		n--
	}
	args := fields{"token", fmt.Sprintf("${%s_t%d}", g.name, n), "door", doorName(o.Door)}
	a := m.content().decide(g.phone, o.Door, "link", m.now, false, g.revoked >= 0 || n < g.links)
	r := m.record(record{door: o.Door, reason: a.reason, method: "link", who: g.phone})
	switch {
	case a.reason == "link_invalid":
		r.result = "denied"
		if n < g.links { // an old link belongs to no one any more
			r.who = -2
		}
		m.add("link", append(args, "status", 404, "error", "link_invalid"))
	case !a.allow:
		r.result = "denied"
		m.add("link", append(args, "status", 409, "error", "entry_denied"), fmt.Sprintf("details.rule == %q", a.reason))
	default:
		m.credit(r, a)
		out := m.drive(o.Door, "open", 0, r)
		switch out.name {
		case "reported":
			m.add("link", append(args, "status", 200), fmt.Sprintf(`data.result == "opened" and data.doorId == %s`, doorName(o.Door)))
		case "offline":
			m.add("link", append(args, "status", 503, "error", "store_offline"), `details.reason == "offline"`)
		default:
			m.add("link", append(args, "status", out.status, "error", out.code))
		}
	}
}

func (m *model) credit(r *record, a answer) {
	if r.credit = a.credit; a.tie && a.credit != nil {
		for _, g := range m.grants {
			g.vague = g.vague || g.phone == a.credit.phone
		}
		m.vague = true
	}
}

// call calls the place's number.
func (m *model) call(o Op) {
	args := fields{"from", "${" + phoneOf(o.Who) + "}", "place", "lab"}
	if !m.talks {
		m.add("phone", append(args, "answered", false))
		return
	}
	d := m.answers(o.Who)
	if d >= 0 && m.longWait(d) {
		return
	}
	m.space(o.Who)
	d = m.answers(o.Who) // time may have passed
	c := m.content()
	a := answer{reason: c.miss(o.Who, m.now)}
	if d >= 0 {
		a = c.decide(o.Who, d, "phone", m.now, false, false)
	}
	r := m.record(record{door: d, result: "denied", reason: a.reason, method: "phone", who: o.Who})
	if a.allow {
		m.credit(r, a)
		m.drive(d, "open", 0, r)
	}
	want := "doorId == nil"
	if d >= 0 {
		want = "doorId == " + doorName(d)
	}
	m.add("phone", append(args, "answered", true, "result", r.result, "reason", a.reason), want)
}

// forgets are the on-site denials that depend on whether the board still has the grant.
var forgets = []string{"expired", "revoked", "no_valid_grant", "link_invalid"}

// present shows a phone or a link at a reader: the board decides by its own content.
func (m *model) present(o Op) {
	m.settle()
	b, i := m.where(o.Door)
	args := fields{"door", doorName(o.Door)}
	who, dead, meant := o.Who, false, false
	if o.Flag {
		g := m.known(o)
		if g == nil {
			return
		}
		k := slices.Index(b.has.of, g)
		switch {
		case k < 0 || b.has.grants[k].revoked >= 0 || b.has.grants[k].links != g.links:
			dead = true
		case b.has.grants[k].to <= max(m.now, b.wall(m.now)): // the board may have forgotten it
			return
		default:
			meant = true
		}
		args, who = append(args, "token", "${"+token(g)+"}"), g.phone
		if k >= 0 {
			who = b.has.grants[k].phone
		}
	} else {
		args = append(args, "phone", "${"+phoneOf(who)+"}")
	}
	a := b.has.decide(who, o.Door, "onsite", b.wall(m.now), b.over || b.lost && !b.online, dead) // by the board's own clock
	r := m.record(record{door: o.Door, result: "denied", reason: a.reason, method: "onsite", who: who, board: true, vague: !a.allow && slices.Contains(forgets, a.reason)})
	r.at = b.wall(m.now)
	if o.Flag && (!a.allow || a.reason == "free_window") {
		r.link = m.known(o)
		r.linkNo, r.meant = r.link.links, meant
	}
	switch {
	case a.allow:
		m.credit(r, a)
		r.result = "opened"
		cause := "onsite"
		if a.reason == "free_window" {
			cause = "free"
		}
		b.doors[i].pulseEnd = m.now + pulse
		m.line(b, i, "pulse", cause, m.now)
	default:
		m.line(b, i, "deny", "onsite", m.now)
	}
	heard := b.online && !b.waits
	if heard {
		m.uploaded(r)
	} else {
		b.records = append(b.records, r)
	}
	m.add("present", append(args, "result", r.result), reasonIs(r))
	if heard && (r.link != nil || r.credit != nil) {
		m.quiet(b) // before it changes
	}
}

func reasonIs(r *record) string {
	if r.vague {
		return "reason in " + quotedList(forgets)
	}
	return fmt.Sprintf("reason == %q", r.reason)
}

func quotedList(of []string) string {
	return texts(each.Of(of, strconv.Quote))
}

// leaf moves a door's leaf.
func (m *model) leaf(o Op) {
	b, i := m.where(o.Door)
	m.push(b.doors[i], o.Name)
	m.add("leaf", fields{"door", doorName(o.Door), "action", o.Name})
}
