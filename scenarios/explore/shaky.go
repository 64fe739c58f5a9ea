package explore

import (
	"fmt"
	"slices"
	"strconv"
)

// Lines that come and go or lose packets, and clocks that are wrong: nobody knows when exactly a line is down, or what
// is lost. Each operation ends in a known state.

// flap has a line come and go. Its first time up is cut short by an unknown amount: a full time up after the start it
// is down, and a time down later it is up again.
func (m *model) flap(o Op) {
	b, _ := m.where(o.Door)
	down := int64(o.N) * second
	if !b.online || m.faults[b.index] != nil || b.grace < minute || m.now > 23*day {
		return
	}
	m.settle()
	m.quiet(b)
	name := fmt.Sprintf("flap%d", b.index)
	m.add("fault", fields{"fault", "flap", "name", name, "of", boardName(b.index), "params", fields{"upSec", 10, "downSec", o.N}})
	m.clockTo(m.now + 10*second)
	m.drop(b)
	m.add("boards", fields{"of", boardName(b.index), "all", "not online"}).within = "3s"
	m.once(o.Door)
	m.clockTo(m.now + down)
	m.meet(b)
	m.add("synced", fields{"of", boardName(b.index)}).clauses = []string{"OFF-4"}
	m.once(o.Door)
	m.add("clear", name)
}

// once opens a door under a key that nothing else uses.
func (m *model) once(door int) {
	m.send(m.key(), &command{door: door, name: "open"})
}

// lossy is a command over a line that loses some of its packets: it is answered 200 or 504, the relay's movement is
// reported in the end, and a repeat changes nothing.
func (m *model) lossy(o Op) {
	b, i := m.where(o.Door)
	if !b.online || m.faults[b.index] != nil || b.grace == 0 || m.waits == 3 {
		return
	}
	m.waits++
	m.settle()
	m.clockTo(m.now + second) // what happens has a time of its own
	key := fmt.Sprintf("k%d", m.key())
	sure, moved := key+"_ok", key+"_moved == 1"
	r := m.record(record{door: o.Door, result: "noResponse", reason: "api", method: "api", who: -1, replays: 1, sure: sure,
		settled: "opened", cond: fmt.Sprintf("(not %s and %s)", sure, moved)})
	m.add("mark", key)
	m.add("fault", fields{"fault", "lossy", "name", "loss", "of", boardName(b.index), "hits", 0, "params", fields{"percent", o.N}})
	args := fields{"door", doorName(o.Door), "command", "open", "key", key, "status", list{200, 504}}
	s := m.add("command", args, "not replayed")
	s.capture = fields{key + "_body", "body", sure, "status == 200"} // either is right; the journal and the checkers say more
	m.add("clear", "loss")
	m.act(b, i, "open", 0)
	m.lines[len(m.lines)-1].cond = fmt.Sprintf("(%s or %s)", sure, moved)
	m.cut(o)
	m.mend(o)
	s = m.add("journal", fields{"of", doorName(o.Door), "cause", "command", "since", key}, "count <= 1")
	s.capture, s.clauses = fields{key + "_moved", "count"}, []string{"CMD-1", "CMD-4"}
	m.add("command", args, "replayed and body == "+key+"_body").clauses = []string{"CMD-5"}
	id := fmt.Sprintf("${%s ? %s_body.data?.commandId : %s_body.details?.commandId}", sure, key, key)
	s = m.add("records", fields{"place", "lab", "command", id}, fmt.Sprintf(`count == 1 and (first.settledAs == nil ? "-" : first.settledAs) == %s`, r.outcome(`"opened"`, `"-"`)))
	s.within, s.clauses = "5s", []string{"CMD-4", "ENT-4"}
	m.clockTo(m.now + 10*second) // if there was a pulse, it is over
}

// How far a clock may be ahead, so that a record's time is within the hour that the server accepts, and how far behind:
// nothing in a sequence is earlier.
const (
	mostSkew = hour - second
	slowest  = -2 * day
)

// skew lets a person come to a reader while the board's wall clock is wrong, by just enough to reach a time at which
// something begins or ends, or a millisecond beside it.
func (m *model) skew(o Op) {
	b, _ := m.where(o.Door)
	if b.wrong {
		return
	}
	m.settle() // what is synchronized meanwhile would be judged by the wrong clock, too
	by := []int64{-day, -hour, -minute, minute, 10 * minute, mostSkew}
	for _, t := range m.edges() {
		if d := t + o.To - m.now; d != 0 && d > slowest && d <= mostSkew {
			by = append(by, d)
		}
	}
	slices.Sort(by)
	b.skew, b.ppm = by[(o.N*7+o.Nth*3)%len(by)], 0
	m.quiet(b)
	m.add("fault", fields{"fault", "skew", "name", "skewed", "of", boardName(b.index), "hits", 0, "params", fields{"seconds", inSeconds(b.skew)}})
	m.present(o)
	m.quiet(b)
	m.add("clear", "skewed")
	b.skew = 0
}

func inSeconds(ms int64) plain {
	return plain(strconv.FormatFloat(float64(ms)/float64(second), 'f', 3, 64))
}

// longestWrong keeps a drift exact: the boards compute it with floating-point numbers.
const longestWrong = 4 * day

// wrong lets a board's wall clock be wrong from now on, and perhaps gain or lose more, or be right again. It is off by more
// than the server takes for the time that a message travels, so that the server must notice (docs/board-protocol.md).
func (m *model) wrong(o Op) {
	b, _ := m.where(o.Door)
	if b.wrong {
		m.right(b)
		return
	}
	b.wrong, b.set = true, m.now
	b.skew = []int64{-day, -hour, -2 * minute, 2 * minute, 10 * minute, 30 * minute}[o.N%6]
	if b.ppm = []int64{0, 1000, 10000}[o.Nth%3]; b.skew < 0 {
		b.ppm = -b.ppm
	}
	m.add("fault", fields{"fault", "skew", "name", fmt.Sprintf("clock%d", b.index), "of", boardName(b.index), "hits", 0, "params", fields{"seconds", inSeconds(b.skew), "ppm", b.ppm}})
}

func (m *model) right(b *board) {
	b.wrong, b.skew, b.ppm = false, 0, 0
	m.add("clear", fmt.Sprintf("clock%d", b.index))
}

// wall is what the board's wall clock shows: whole milliseconds of what has begun.
func (b *board) wall(now int64) int64 {
	ns := b.skew*1_000_000 + (now-b.set)*b.ppm
	ms := ns / 1_000_000
	if ns%1_000_000 < 0 {
		ms--
	}
	return now + ms
}

// shows is the first time at which a board's wall clock shows at least t.
func (b *board) shows(t int64) int64 {
	at := b.set + (t-b.set-b.skew)*1_000_000/(1_000_000+b.ppm)
	for b.wall(at-1) >= t {
		at--
	}
	for b.wall(at) < t {
		at++
	}
	return at
}

// edges are the times at which a grant or a window begins or ends.
func (m *model) edges() (all []int64) {
	for _, g := range m.grants {
		all = append(all, g.from, g.to)
	}
	for _, w := range m.windows {
		all = append(all, w.from, w.to)
	}
	return all
}

// covers reports whether a custom window applies at a time; like opening hours, what
// runs past midnight belongs to the day on which it begins.
func (w window) covers(z zone, now int64) bool {
	if !w.weekly {
		return now >= w.from && now < w.to
	}
	today := z.day(now)
	for d := today - 1; d <= today; d++ {
		if w.days != 0 && w.days>>((d%7+7)%7)&1 == 0 {
			continue
		}
		for _, p := range weeks[w.hours] {
			to := z.at(d, p[1])
			if p[1] <= p[0] {
				to = z.at(d+1, p[1])
			}
			if now >= z.at(d, p[0]) && now < to {
				return true
			}
		}
	}
	return false
}

// asked is a window's week as the API takes it.
func (w window) asked() fields {
	var out fields
	for d := range 7 {
		if w.days == 0 || w.days>>d&1 == 1 {
			out = append(out, weekdays[3*d:3*d+3], pairsOf(weeks[w.hours]))
		}
	}
	return out
}

// span is when a window applies: another call with the same span concerns the same window.
func (w window) span() window {
	if w.weekly && w.days == 0 {
		w.days = 1<<7 - 1
	}
	return window{from: w.from, to: w.to, weekly: w.weekly, days: w.days, hours: w.hours}
}
