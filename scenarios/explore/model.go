package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
)

// model is the oracle: what the server and the boards must answer and do, derived from the operations alone. Playing an
// operation on it writes the scenario steps that do the same to the target, with the expected results.
type model struct {
	now     int64 // ms since the start
	zone    zone
	grants  []*grant
	windows []window
	hours   [7][][2]int
	special map[int]special // by the day of the sequence
	tokens  []pass
	spare   bool // the key of tokens is revoked
	crashes int
	dated   bool // the dates of the days from dateOf on are known
	dateOf  int
	entry   [4]bool
	longest [4]int // hours
	boards  [2]*board
	faults  [2]*fault
	keys    map[int]*command
	heard   map[int]int64 // last link or call of a person
	talks   bool          // phoneEnabled
	records []*record
	lines   []line
	fresh   int
	waits   int  // commands that nothing answers
	slow    bool // the server's disk
	vague   bool // two permits could have been credited
	unread  bool // a repeat came since records were last read: for 250 ms its count may be in memory only (docs/decisions.md)
	steps   []*step
}

// record is what an entry record must contain.
type record struct {
	door                   int // -1 = none could be chosen
	result, reason, method string
	who                    int // -1 = an operator
	at, recorded           int64
	replays                int
	credit                 *grant
	vague                  bool   // an on-site denial whose reason depends on when a board forgets
	board                  bool   // made by a board
	up                     bool   // ... and uploaded
	unnamed                bool   // nobody knows whose the link was
	link                   *grant // the link that was shown to a board but let nobody in
	linkNo                 int
	meant                  bool   // ... by a permit whose holder the board knew
	settled                string // what became of an unanswered command later
	cond                   string // ... if this expression is true; "" = in any case
	sure                   string // answered 200 in time if this expression is true, else not at all; "" = as result says
}

// line is one of a relay's journal.
type line struct {
	door          int
	action, cause string
	at            int64
	cond          string // an expression without which it isn't there; "" = it is
}

// fault is what a board does wrong with commands.
type fault struct{ name, code string }

// command is what was asked for under a key, and the result.
type command struct {
	door    int
	name    string
	minutes int
	legacy  bool
	status  int
	record  *record
}

var weeks = [][][2]int{
	{{9 * 60, 22 * 60}},
	{},
	{{0, 1440}},
	{{20 * 60, 4 * 60}},
	{{6 * 60, 8 * 60}, {17 * 60, 23*60 + 59}},
	{{60, 150}, {9 * 60, 12 * 60}},
}

// begin is the model of a shop in its initial state.
func begin() *model {
	m := &model{keys: map[int]*command{}, heard: map[int]int64{}, talks: true, hours: week7(weeks[0]),
		entry: [4]bool{true, true, true, true}, longest: [4]int{720, 720, 720, 720}}
	for i := range m.boards {
		m.boards[i] = &board{index: i, online: true, grace: limit, rest: [2]string{"close", "close"}, applied: earlier, doors: [2]*door{{}, {}}, has: m.content()}
	}
	return m
}

// play plays operations by name; one that makes no sense here adds no step.
var play = map[string]func(m *model, o Op){
	"permit": (*model).permit, "revoke": (*model).revoke, "membership": (*model).term, "reservation": (*model).term,
	"command": (*model).command, "repeat": (*model).repeat, "link": (*model).link, "call": (*model).call, "present": (*model).present,
	"leaf": (*model).leaf, "advance": (*model).advance, "boundary": (*model).boundary, "cut": (*model).cut, "mend": (*model).mend,
	"fault": (*model).fault, "boot": (*model).reboot, "restart": (*model).restart, "window": (*model).window, "unwindow": (*model).unwindow,
	"hours": (*model).open, "netloss": (*model).netloss, "operator": (*model).operator, "look": (*model).look, "read": (*model).read,
	"zone": (*model).move, "line": (*model).wire, "lossy": (*model).lossy, "flap": (*model).flap, "skew": (*model).skew, "wrong": (*model).wrong, "crash": (*model).crash, "withdraw": (*model).withdraw, "closed": (*model).closed, "import": (*model).imported, "exchange": (*model).exchange, "token": (*model).useToken,
	"lists": (*model).lists, "elsewhere": (*model).elsewhere, "disk": (*model).disk,
	"records": (*model).allRecords, "events": (*model).allEvents, "permits": (*model).allPermits, "journal": (*model).journal,
}

// scenario writes a sequence as a scenario file that expects what the model says.
func scenario(title, description string, seq []Op) []byte {
	m := begin()
	for _, o := range seq {
		play[o.Do](m, o)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\ndescription: %s\nneeds: {boards: 2, test: true}\nsetup:\n", flow(title), flow(description))
	for _, s := range setup {
		s.write(&b)
	}
	b.WriteString("steps:\n")
	unused(m.steps)
	for _, s := range m.steps {
		s.write(&b)
	}
	(&step{verb: "clock", args: "run"}).write(&b)
	return []byte(b.String())
}

// steps counts how often a sequence acts on the target.
func steps(seq []Op) int {
	m := begin()
	for _, o := range seq {
		play[o.Do](m, o)
	}
	return len(m.steps)
}

// setup picks two boards of one place without traces of earlier files, and starts on a Monday at midnight in Seoul.
var setup = []*step{
	{verb: "cohort", args: fields{"name", "shop", "places", 1}},
	{verb: "cohort", args: fields{"name", "lab", "from", "shop", "boards", 2, "atLeast", 2}},
	{verb: "cohort", args: fields{"name", "rest", "from", "shop", "except", "lab", "atLeast", 0}},
	{verb: "cohort", args: fields{"name", "elsewhere", "kind", "test", "boards", 1}},
	{verb: "door", args: fields{"doors", "rest", "set", fields{"entry", false}}, cond: "rest.count > 0"},
	{verb: "call", args: fields{"place", "lab", "path", "/device/v1/doors"}, capture: fields{"rows", "filter(data, .id in lab.doors)"}},
	{verb: "set", args: fields{"door", "${map(rows, .id)}", "board", "${[rows[0].boardId, rows[2].boardId]}"}},
	{name: "two boards with two doors each", expect: []string{"len(door) == 4", "rows[0].boardId == rows[1].boardId", "rows[2].boardId == rows[3].boardId"}},
	{verb: "door", args: fields{"doors", "lab", "set", fields{"entry", true, "entryPermitMaxHours", 720}}},
	{verb: "place", args: fields{"place", "lab", "set", fields{"phoneEnabled", true, "closures", list{}, "holidays", list{}}}},
	{verb: "policy", args: fields{"doors", "lab", "remove", true}},
	{verb: "hours", args: fields{"place", "lab", "week", weekOf(week7(weeks[0]))}},
	{verb: "netloss", args: fields{"boards", "lab", "graceSec", 129600, "channels", fields{"all", "close"}}},
	{verb: "clock", args: "freeze"},
	{verb: "clock", args: fields{"to", `now+${777600000 - (label("now") - 140400000) % 604800000}ms`}}, // two days or more: for records of a clock that is slow
	{verb: "mark", args: "start"},
	{verb: "synced", args: fields{"of", "lab"}},
}

func week7(pairs [][2]int) (w [7][][2]int) {
	for i := range w {
		w[i] = pairs
	}
	return w
}

// weekOf is a week as the API takes it.
func weekOf(w [7][][2]int) fields {
	var out fields
	for i, pairs := range w {
		out = append(out, weekdays[3*i:3*i+3], pairsOf(pairs))
	}
	return out
}

func pairsOf(pairs [][2]int) list {
	out := list{}
	for _, p := range pairs {
		end := hhmm(p[1])
		if p[1] == 1440 {
			end = "24:00"
		}
		out = append(out, list{hhmm(p[0]), end})
	}
	return out
}

// add writes a step.
func (m *model) add(verb string, args any, expect ...string) *step {
	s := &step{verb: verb, args: args, expect: expect}
	m.steps = append(m.steps, s)
	return s
}

// names of doors and boards in expressions.
func doorName(i int) string  { return fmt.Sprintf("door[%d]", i) }
func boardName(i int) string { return fmt.Sprintf("board[%d]", i) }

func doorNames(ds []int) list {
	return each.Of(ds, func(d int) any { return doorName(d) })
}

// doorExpr is a list of doors in an expression.
func doorExpr(ds []int) string { return texts(each.Of(ds, doorName)) }

var allDoors = []int{0, 1, 2, 3}

// bits lists the doors of a set.
func bits(n int) []int { return each.If(allDoors, func(i int) bool { return n>>i&1 == 1 }) }

// entries are the doors through which people can enter.
func (m *model) entries() []int { return each.If(allDoors, func(i int) bool { return m.entry[i] }) }

// changed: the place's content now differs from its boards'.
func (m *model) changed() {
	for _, b := range m.boards {
		b.dirty = true
	}
}

// settle waits until the connected boards have what the server has.
func (m *model) settle() {
	of := list{}
	for i, b := range m.boards {
		if b.online && b.dirty {
			of = append(of, plain(boardName(i)))
			b.has, b.dirty = m.content(), false
		}
	}
	if len(of) > 0 {
		m.add("synced", fields{"of", flow(of)}) // judged for SYNC-1 and SYNC-2; whether it shows them depends on what changed
	}
}

// clockTo moves time, never back.
func (m *model) clockTo(to int64) {
	if to <= m.now {
		return
	}
	m.settle()
	for _, b := range m.boards {
		if b.wrong && (to > b.set+longestWrong || b.wall(to) > to+mostSkew) {
			m.right(b)
		}
		m.until(b, to)
	}
	m.now = to
	m.add("clock", fields{"to", moment(to)})
}

func (m *model) advance(o Op) {
	if m.now+o.To < 24*day {
		m.clockTo(m.now + o.To)
	}
}

// boundary moves to the time at which something begins or ends, or a millisecond beside it.
func (m *model) boundary(o Op) {
	const half = hour / 2
	all := m.edges()
	for _, b := range m.boards {
		all = append(all, b.next())
		if !b.online {
			all = append(all, b.contact+b.grace, b.contact+limit)
		}
		if b.wrong {
			for _, t := range each.If(m.edges(), func(t int64) bool { return t < 40*day }) {
				all = append(all, b.shows(t))
			}
		}
	}
	for _, w := range m.windows {
		for h := m.now/half + 1; w.weekly && h < m.now/half+100; h++ {
			if w.covers(m.zone, h*half) != w.covers(m.zone, h*half-1) {
				all = append(all, h*half)
				break
			}
		}
	}
	for h := m.now/half + 1; h < m.now/half+50; h++ {
		if c := m.content(); c.open(h*half) != c.open(h*half-1) {
			all = append(all, h*half)
			break
		}
	}
	all = slices.DeleteFunc(all, func(t int64) bool { return t+o.To <= m.now || t > 24*day })
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	all = slices.Compact(all)
	m.clockTo(all[o.N%len(all)] + o.To)
}

// texts makes one expression of a list of expressions.
func texts(of []string) string { return "[" + strings.Join(of, ", ") + "]" }
