package explore

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/each"
)

// grant is a permit, a reservation or a membership, as created by the operations.
type grant struct {
	kind    string // permit reservation membership
	name    string // of a permit: its externalRef is uid(name)
	ref     string // of an imported membership: the other system's name for it
	phone   int    // whose; another person's after a re-registration with another phone
	doors   []int
	from    int64
	to      int64 // far = no end
	made    int64
	changed int64
	revoked int64 // -1 = no
	reason  string
	links   int // how many links it has had; the newest is alive unless revoked
	uses    int
	first   int64
	vague   bool // another one could have been credited, too
}

func (g *grant) valid(now int64) bool {
	return g.revoked < 0 && now >= g.from && now < g.to
}

func (g *grant) opens(door int) bool { return slices.Contains(g.doors, door) }

func (g *grant) state(now int64) string {
	switch {
	case g.revoked >= 0:
		return "revoked"
	case now < g.from:
		return "pending"
	case now >= g.to:
		return "expired"
	}
	return "active"
}

// window is a time-window policy of a door.
type window struct {
	ref, mode string
	door      int
	from, to  int64
	weekly    bool // custom, by hours of some days instead of a period
	days      int  // ... as bits, 0 = all
	hours     int  // ... one of weeks
	made      int64
}

// content is what decisions are based on: the server's own, or a board's.
type content struct {
	grants  []grant // copies
	of      []*grant
	windows []window
	hours   [7][][2]int
	special map[int]special // by the day of the sequence
	zone    zone
}

func (m *model) content() content {
	return content{grants: each.Of(m.grants, func(g *grant) grant { return *g }), of: slices.Clone(m.grants),
		windows: slices.Clone(m.windows), hours: m.hours, special: maps.Clone(m.special), zone: m.zone}
}

// The sequence starts on a Monday.
const weekdays = "montuewedthufrisatsun"

// special is a day whose hours differ from its week's.
type special struct {
	closed  bool // a closure, which beats a holiday
	holiday bool
	hours   [][2]int // of a holiday
}

// pairs is the opening hours of a day; 0 is the day on which the sequence starts.
func (c content) pairs(day int) [][2]int {
	switch s := c.special[day]; {
	case s.closed:
		return nil
	case s.holiday:
		return s.hours
	}
	return c.hours[(day%7+7)%7]
}

// open reports whether the place is open: sequences start on a Monday at midnight,
// and hours past midnight belong to the day on which they begin.
func (c content) open(now int64) bool {
	today := c.zone.day(now)
	for d := today - 1; d <= today; d++ {
		for _, i := range c.own(d) {
			if now >= i.from && now < i.to {
				return true
			}
		}
	}
	return false
}

var classes = map[string]int{"always": 1, "business_hours": 2, "after_hours": 2, "custom": 3}

// mode is the door's window mode, see ENT-2.
func (c content) mode(door int, now int64) string {
	best := window{mode: "auth"}
	for _, w := range c.windows {
		in := w.door == door
		switch w.ref {
		case "business_hours":
			in = in && c.open(now)
		case "after_hours":
			in = in && !c.open(now)
		case "custom":
			in = in && w.covers(c.zone, now)
		}
		if in && (classes[w.ref] > classes[best.ref] || classes[w.ref] == classes[best.ref] && w.made >= best.made) {
			best = w
		}
	}
	return best.mode
}

var ranks = map[string]int{"permit": 0, "reservation": 1, "membership": 2}

// before orders grants by who is credited.
func before(a, b grant) int {
	return cmp.Or(ranks[a.kind]-ranks[b.kind], cmp.Compare(a.to, b.to))
}

// answer of a decision.
type answer struct {
	allow  bool
	reason string
	credit *grant // the permit that is credited
	tie    bool   // another could be as well
}

// of are the grants of a person.
func (c content) person(phone int) (out []int) {
	for i, g := range c.grants {
		if g.phone == phone {
			out = append(out, i)
		}
	}
	return out
}

// decide is the reference: who may enter a door now, see ENT-1 and ENT-2. over:
// the outage is longer than 36 h; dead: a link that is unknown or revoked.
func (c content) decide(phone, door int, method string, now int64, over, dead bool) answer {
	switch {
	case over:
		return answer{reason: "outage_limit"}
	case dead:
		return answer{reason: "link_invalid"}
	}
	switch c.mode(door, now) {
	case "closed":
		return answer{reason: "closed_window"}
	case "free":
		return answer{allow: true, reason: "free_window"}
	}
	best, tie := -1, false
	for _, i := range c.person(phone) {
		g := c.grants[i]
		if !g.valid(now) || !g.opens(door) {
			continue
		}
		switch {
		case best < 0 || before(g, c.grants[best]) < 0:
			best, tie = i, false
		case before(g, c.grants[best]) == 0:
			tie = true
		}
	}
	if best >= 0 {
		a := answer{allow: true, reason: method, tie: tie}
		if c.grants[best].kind == "permit" {
			a.credit = c.of[best]
		}
		return a
	}
	return answer{reason: c.miss(phone, now)}
}

// missed is why a grant doesn't open, and how near that is.
func (g *grant) missed(now int64) (rank int, why string) {
	switch {
	case g.valid(now):
		return 4, "door_out_of_scope"
	case g.revoked >= 0:
		return 1, "revoked"
	case now < g.from:
		return 3, "not_started"
	}
	return 2, "expired"
}

// miss names the nearest reason for a denial.
func (c content) miss(phone int, now int64) string {
	top, reason := 0, "no_valid_grant"
	for _, i := range c.person(phone) {
		if rank, why := c.grants[i].missed(now); rank > top {
			top, reason = rank, why
		}
	}
	return reason
}

// answers is the door that a caller tries, -1 = none: the first entry door in the credited grant's scope, else the first
// that is free, else the first of the grants that miss by the least.
func (m *model) answers(phone int) int {
	c := m.content()
	first := func(fits func(int) bool) int {
		for i := range 4 {
			if m.entry[i] && fits(i) {
				return i
			}
		}
		return -1
	}
	mine := c.person(phone)
	slices.SortStableFunc(mine, func(a, b int) int { return before(c.grants[a], c.grants[b]) })
	for _, i := range mine {
		if g := c.grants[i]; g.valid(m.now) {
			if d := first(g.opens); d >= 0 {
				return d
			}
		}
	}
	if d := first(func(d int) bool { return c.mode(d, m.now) == "free" }); d >= 0 {
		return d
	}
	nearest := c.miss(phone, m.now)
	return first(func(d int) bool {
		return slices.ContainsFunc(mine, func(i int) bool {
			_, why := c.grants[i].missed(m.now)
			return why == nearest && c.grants[i].opens(d)
		})
	})
}

// hhmm is a minute of the day as HH:MM.
func hhmm(min int) string {
	return time.Unix(int64(min%1440)*60, 0).UTC().Format("15:04")
}
