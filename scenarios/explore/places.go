package explore

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/doorlab/doorlab/internal/each"
)

var refs = []string{"always", "business_hours", "after_hours", "custom"}

// window stores a time-window policy of a door; one for each ref, and custom ones.
func (m *model) window(o Op) {
	w := window{ref: refs[o.Nth%4], mode: o.Name, door: o.Door, made: m.now}
	args := fields{"doors", doorName(o.Door), "mode", o.Name, "ref", w.ref}
	switch {
	case o.Nth == 4:
		w.ref, w.weekly, w.days, w.hours = "custom", true, o.Doors, o.N
		args = fields{"doors", doorName(o.Door), "mode", o.Name, "ref", w.ref, "week", w.asked()}
	case w.ref == "custom":
		w.from, w.to = m.now+o.From, m.now+o.From+o.To
		args = append(args, "startsAt", moment(w.from), "endsAt", moment(w.to))
	}
	i := slices.IndexFunc(m.windows, func(x window) bool { return x.door == w.door && x.ref == w.ref && x.span() == w.span() })
	rival := func(x window) bool { return x.door == w.door && classes[x.ref] == classes[w.ref] && x.made == m.now }
	switch {
	case i >= 0 && m.windows[i].mode == w.mode: // a repeat is one call
		m.add("policy", args)
		return
	case slices.ContainsFunc(m.windows, rival): // the newest wins: there must be one
		m.clockTo(m.now + second)
		m.window(o)
		return
	case i >= 0:
		m.windows = slices.Delete(m.windows, i, i+1)
	}
	m.windows = append(m.windows, w)
	m.changed()
	m.add("policy", args)
	m.policies(o.Door)
}

// policies compares the list of a door, oldest first.
func (m *model) policies(d int) {
	mine := each.If(m.windows, func(w window) bool { return w.door == d })
	want := each.Of(mine, func(w window) string { return strconv.Quote(w.ref + " " + w.mode) })
	m.add("call", fields{"place", "lab", "path", "/device/v1/doors/${" + doorName(d) + "}/policies"},
		fmt.Sprintf(`sort(map(data, .window.ref + " " + .mode)) == sort(%s)`, texts(want))).clauses = []string{"ENT-2"}
}

// unwindow removes a door's policies of one ref, or all.
func (m *model) unwindow(o Op) {
	args := fields{"doors", doorName(o.Door), "remove", true}
	if o.Nth < 4 {
		args = append(args, "ref", refs[o.Nth])
	}
	gone := 0
	m.windows = slices.DeleteFunc(m.windows, func(w window) bool {
		if w.door != o.Door || o.Nth < 4 && w.ref != refs[o.Nth] {
			return false
		}
		gone++
		return true
	})
	if gone > 0 {
		m.changed()
	}
	m.add("policy", args, fmt.Sprintf("data.deleted == %d", gone))
}

// open sets the opening hours of one day and reads the schedule of a week.
func (m *model) open(o Op) {
	m.hours[o.N] = weeks[o.Nth]
	m.changed()
	name := weekdays[3*o.N : 3*o.N+3]
	m.add("hours", fields{"place", "lab", "week", fields{name, pairsOf(weeks[o.Nth])}}).clauses = []string{"HRS-1"}
	m.schedule()
}

// schedule compares the public schedule of a week.
func (m *model) schedule() {
	c, first := m.content(), m.zone.day(m.now)
	var want, open []string
	for i := range 7 {
		open = append(open, strconv.FormatBool(len(c.own(first+i)) > 0)) // its own, if they belong to another day's, too
		d := (first + i) % 7
		s := weekdays[3*d : 3*d+3]
		switch x := c.special[first+i]; {
		case x.closed:
			s += " closure"
		case x.holiday:
			s += " holiday"
		}
		for _, p := range c.shown(first+i, first) {
			s += " " + p.String()
		}
		want = append(want, strconv.Quote(s))
	}
	m.add("call", fields{"path", "/core/v1/public/places/${lab.place}/schedule?days=7"},
		`map(data.days, .weekday + (.note == nil ? "" : " " + .note.type) + join(map(.intervals, " " + .start + "-" + .end), "")) == `+texts(want),
		"map(data.days, .open) == "+texts(open)).clauses = []string{"HRS-1", "HRS-2"}
}

// closed sets which days have hours that differ from their week's, as the operator does: all of them at once.
func (m *model) closed(o Op) {
	if !m.dated { // closures are of dates, the model's days are numbers
		m.dated, m.dateOf = true, m.zone.day(m.now)
		m.add("call", fields{"path", fmt.Sprintf("/core/v1/public/places/${lab.place}/schedule?days=%d", dates)}).capture = fields{"dates", "map(data.days, .date)"}
	}
	d := m.zone.day(m.now) + o.N
	next := maps.Clone(m.special)
	if next == nil || o.Nth == 0 {
		next = map[int]special{}
	}
	x := next[d]
	switch o.Nth {
	case 1:
		x.closed = true
	case 2:
		x.holiday, x.hours = true, nil
	case 3:
		x.holiday, x.hours = true, weeks[4]
	}
	if o.Nth > 0 {
		next[d] = x
	}
	closures, holidays := list{}, list{}
	for _, d := range slices.Sorted(maps.Keys(next)) {
		date := fmt.Sprintf("${dates[%d]}", d-m.dateOf)
		x := next[d]
		if x.closed {
			closures = append(closures, fields{"from", date, "to", date, "name", "Refit"})
		}
		if x.holiday && x.hours == nil {
			holidays = append(holidays, fields{"date", date, "name", "Feast"})
		} else if x.holiday {
			holidays = append(holidays, fields{"date", date, "name", "Feast", "intervals", pairsOf(x.hours)})
		}
	}
	m.special = next
	m.changed()
	m.add("place", fields{"place", "lab", "set", fields{"closures", closures, "holidays", holidays}}).clauses = []string{"HRS-1"}
	m.schedule()
}

// dates is how many dates are read: a sequence takes 24 days at most.
const dates = 31

// netloss sets a board's outage policy; the board itself stores it.
func (m *model) netloss(o Op) {
	b, _ := m.where(o.Door)
	rest := [2]string{rests[o.Nth], rests[o.Who]}
	args := fields{"boards", boardName(b.index), "graceSec", o.N, "channels", fields{strconv.Quote("1"), rest[0], strconv.Quote("2"), rest[1]}}
	if !b.online {
		m.add("netloss", append(args, "status", 503, "error", "store_offline")).clauses = []string{"OFF-3"}
		return
	}
	if grace := int64(o.N) * second; grace != b.grace || rest != b.rest || b.applied == never { // a repeat changes nothing
		b.grace, b.rest, b.applied = grace, rest, m.now
	}
	applied := "!= nil"
	if b.applied != earlier {
		applied = "== " + at(b.applied)
	}
	m.add("netloss", args)
	m.add("call", fields{"place", "lab", "path", "/device/v1/boards/${" + boardName(b.index) + "}/netloss"},
		fmt.Sprintf(`data.graceSec == %d and data.channels == {"1": %q, "2": %q} and data.appliedAt %s`, o.N, rest[0], rest[1], applied)).clauses = []string{"OFF-3"}
}

// operator changes a door or the place as the console does.
func (m *model) operator(o Op) {
	switch o.Nth {
	case 0:
		m.entry[o.Door] = o.Flag
		m.add("door", fields{"doors", doorName(o.Door), "set", fields{"entry", o.Flag}})
	case 1:
		m.longest[o.Door] = o.N
		m.add("door", fields{"doors", doorName(o.Door), "set", fields{"entryPermitMaxHours", o.N}})
	default:
		m.talks = o.Flag
		m.add("place", fields{"place", "lab", "set", fields{"phoneEnabled", o.Flag}})
		m.add("call", fields{"place", "lab", "path", "/space/v1/partner/gate-config"}, fmt.Sprintf(`data.phoneEnabled == %v and data.entryPermitMaxHours == 720 and data.entryPhone != ""`, o.Flag))
	}
	m.changed()
}

// elsewhere uses one place's key to ask for what belongs to another: it isn't found.
func (m *model) elsewhere(o Op) {
	d := doorName(o.Door)
	switch o.Nth {
	case 0:
		m.add("call", fields{"place", "elsewhere", "path", "/device/v1/devices/${" + d + "}", "status", 404, "error", "device_not_found"})
	case 1:
		m.add("call", fields{"place", "elsewhere", "method", "POST", "path", "/device/v1/devices/${" + d + "}/commands", "headers", fields{"Idempotency-Key", fmt.Sprintf("foreign-%d", len(m.steps))},
			"body", fields{"capability", "door", "command", "open"}, "status", 404, "error", "device_not_found"})
	case 2:
		m.add("call", fields{"place", "elsewhere", "path", "/core/v1/places/${lab.place}/events", "status", 403, "error", "place_forbidden"})
	case 3:
		m.add("command", fields{"door", "elsewhere", "command", o.command(), "outcome", "reported"})
		m.steps[len(m.steps)-1].clauses = []string{"CMD-8"}
		return
	default:
		g := m.named(permitName(Op{Who: o.Who}))
		if g == nil {
			return
		}
		m.add("call", fields{"place", "elsewhere", "method", "POST", "path", "/space/v1/partner/entry-permits/revoke", "body", fields{"permitId", "${" + g.name + "_id}"}, "status", 404, "error", "permit_not_found"})
		m.add("call", fields{"place", "elsewhere", "path", "/space/v1/partner/entry-permits/${" + g.name + "_id}", "status", 404, "error", "permit_not_found"})
	}
	m.steps[len(m.steps)-1].clauses = []string{"AUTH-4"}
}

// command is one of the three, by door: for the test place.
func (o Op) command() string { return []string{"open", "hold", "close", "open"}[o.Door] }
