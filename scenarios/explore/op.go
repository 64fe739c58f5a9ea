package explore

import (
	"math/rand/v2"
)

// Milliseconds: the model's times are milliseconds since the start of a sequence.
const (
	second = int64(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// Op is one operation of a sequence. Every field is small, so that a sequence can be shortened and simplified by hand
// or by shrinking; an operation that makes no sense in its place is left out.
type Op struct {
	Do    string // see draws
	Who   int    // person, 0 to 3
	Nth   int    // which permit of the person, which key, which of several choices
	Door  int    // 0 to 3; two to a board
	Doors int    // a set of doors as bits; 0 = not given
	From  int64  // ms from the operation's time
	To    int64  // ms from the operation's time
	N     int    // minutes, seconds, a boundary's number
	Name  string // command, fault, mode or the like
	Flag  bool   // a permit that there is, the legacy path, a link instead of a phone or a command, a kill instead of a stop, a slow disk instead of a full one
}

var (
	people = []string{"ann", "bob", "cat", "dan"}
	starts = []int64{-2 * hour, -hour, 0, 0, hour, 30 * hour}
	ends   = []int64{-minute, minute, hour, 2 * hour, 35 * hour, 37 * hour, 100 * hour, 720 * hour}
	jumps  = []int64{1, second, 5 * second, 10 * second, minute, 10 * minute, hour, 7 * hour, day, 36 * hour, 40 * hour}
	graces = []int{0, 60, 3600, 129600, 200000}
	rests  = []string{"close", "open", "hold", "off"}
)

// draw is a kind of operation, how often it is drawn, and how its fields are.
type draw struct {
	do     string
	weight int
	fill   func(r *rand.Rand, o *Op)
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func period(r *rand.Rand, o *Op) {
	o.From, o.To = pick(r, starts...), pick(r, ends...)
	if r.IntN(3) == 0 {
		o.Doors = 1 + r.IntN(15)
	}
}

var draws = []draw{
	{"permit", 14, func(r *rand.Rand, o *Op) {
		o.Nth, o.Name = r.IntN(2), pick(r, "", "", "", "", "", "same", "empty", "foreign", "long", "backwards", "phone")
		o.Flag = r.IntN(3) == 0
		period(r, o)
	}},
	{"revoke", 10, func(r *rand.Rand, o *Op) { o.Nth, o.Flag = r.IntN(2), r.IntN(2) == 0 }},
	{"membership", 3, period},
	{"reservation", 3, period},
	{"command", 16, func(r *rand.Rand, o *Op) {
		o.Name, o.Flag = pick(r, "open", "open", "hold", "close"), r.IntN(4) == 0
		o.N, o.Nth = pick(r, 0, 1, 90, 1440), pick(r, 0, 0, 1, 2, 3)
	}},
	{"repeat", 6, func(r *rand.Rand, o *Op) { o.Nth = 1 + r.IntN(3) }},
	{"link", 8, func(r *rand.Rand, o *Op) { o.Nth, o.Flag = r.IntN(2), r.IntN(4) == 0 }},
	{"call", 8, func(*rand.Rand, *Op) {}},
	{"present", 12, func(r *rand.Rand, o *Op) { o.Nth, o.Flag = r.IntN(2), r.IntN(3) == 0 }},
	{"leaf", 3, func(r *rand.Rand, o *Op) { o.Name = pick(r, "open", "close", "force") }},
	{"advance", 8, func(r *rand.Rand, o *Op) { o.To = pick(r, jumps...) }},
	{"boundary", 10, func(r *rand.Rand, o *Op) { o.N, o.To = r.IntN(6), pick(r, int64(-1), 0, 0, 1) }},
	{"cut", 5, func(*rand.Rand, *Op) {}},
	{"mend", 6, func(*rand.Rand, *Op) {}},
	{"fault", 5, func(r *rand.Rand, o *Op) {
		o.Name = pick(r, "refuse", "silent", "silent-after", "duplicate", "wrong-id", "garbage", "stale", "noop")
		o.N = r.IntN(3)
	}},
	{"boot", 3, func(r *rand.Rand, o *Op) { o.Name = pick(r, "reboot", "reboot", "reboot-wiped", "no-clock") }},
	{"restart", 2, func(r *rand.Rand, o *Op) { o.Flag = r.IntN(2) == 0 }},
	{"line", 4, func(r *rand.Rand, o *Op) {
		o.Name, o.N = pick(r, "double", "delayed", "oneway-up", "oneway-down", "halfopen"), r.IntN(3)
	}},
	{"lossy", 2, func(r *rand.Rand, o *Op) { o.N = pick(r, 20, 50, 80) }},
	{"flap", 2, func(r *rand.Rand, o *Op) { o.N = pick(r, 20, 30, 45) }},
	{"skew", 3, func(r *rand.Rand, o *Op) {
		o.Nth, o.Flag, o.N, o.To = r.IntN(2), r.IntN(3) == 0, r.IntN(6), pick(r, int64(-1), 0, 0, 1)
	}},
	{"wrong", 3, func(r *rand.Rand, o *Op) { o.N, o.Nth = r.IntN(6), r.IntN(3) }},
	{"crash", 4, func(r *rand.Rand, o *Op) { o.Nth, o.N, o.Flag = r.IntN(len(points)), r.IntN(4), r.IntN(2) == 0 }},
	{"window", 5, func(r *rand.Rand, o *Op) {
		o.Name, o.Nth = pick(r, "free", "auth", "closed"), r.IntN(5)
		o.From, o.To = pick(r, starts...), pick(r, hour, 2*hour, 37*hour)
		o.N, o.Doors = pick(r, 0, 2, 3, 4, 5), r.IntN(128)
	}},
	{"unwindow", 2, func(r *rand.Rand, o *Op) { o.Nth = r.IntN(5) }},
	{"hours", 2, func(r *rand.Rand, o *Op) { o.Nth, o.N = r.IntN(len(weeks)), r.IntN(7) }},
	{"closed", 2, func(r *rand.Rand, o *Op) { o.Nth, o.N = r.IntN(4), r.IntN(3) }},
	{"import", 3, func(r *rand.Rand, o *Op) {
		o.Nth, o.Flag = r.IntN(2), r.IntN(3) == 0
		period(r, o)
	}},
	{"exchange", 1, func(*rand.Rand, *Op) {}},
	{"token", 3, func(r *rand.Rand, o *Op) { o.Nth, o.Flag = r.IntN(3), r.IntN(2) == 0 }},
	{"withdraw", 2, func(r *rand.Rand, o *Op) { o.Flag = r.IntN(2) == 0 }},
	{"netloss", 3, func(r *rand.Rand, o *Op) { o.N, o.Nth, o.Who = pick(r, graces...), r.IntN(4), r.IntN(4) }},
	{"operator", 3, func(r *rand.Rand, o *Op) { o.Nth, o.N, o.Flag = r.IntN(3), pick(r, 1, 24, 720), r.IntN(2) == 0 }},
	{"look", 5, func(*rand.Rand, *Op) {}},
	{"read", 4, func(r *rand.Rand, o *Op) { o.Nth = r.IntN(2) }},
	{"lists", 2, func(r *rand.Rand, o *Op) { o.Nth, o.N, o.Door = r.IntN(9), r.IntN(4), r.IntN(4) }},
	{"disk", 4, func(r *rand.Rand, o *Op) { o.Nth, o.N, o.Flag = r.IntN(8), r.IntN(7), r.IntN(5) == 0 }},
	{"elsewhere", 3, func(r *rand.Rand, o *Op) { o.Nth = r.IntN(5) }},
}

// sequence draws n operations. The same numbers give the same sequence.
func sequence(seed int64, index, n int) []Op {
	r := rand.New(rand.NewPCG(uint64(seed), uint64(index)))
	sum := 0
	for _, d := range draws {
		sum += d.weight
	}
	ops := make([]Op, 0, n+len(last)+1)
	if r.IntN(6) == 0 {
		ops = append(ops, Op{Do: "zone", Name: pick(r, "forward", "back"), Nth: r.IntN(len(nights)), Door: r.IntN(4)})
	}
	for len(ops) < n {
		at := r.IntN(sum)
		for _, d := range draws {
			if at -= d.weight; at < 0 {
				o := Op{Do: d.do, Who: min(r.IntN(len(people)), r.IntN(len(people))), Door: r.IntN(4)}
				d.fill(r, &o)
				ops = append(ops, o)
				if rights[o.Do] && r.IntN(2) == 0 {
					ops = append(ops, tried(r, o))
				}
				break
			}
		}
	}
	return append(ops, last...)
}

// rights are the operations that affect somebody's entry: an attempt to enter often follows.
var rights = map[string]bool{"permit": true, "revoke": true, "membership": true, "reservation": true, "import": true, "closed": true, "window": true, "unwindow": true, "hours": true, "cut": true, "mend": true}

// tried has the person of an operation try its door.
func tried(r *rand.Rand, o Op) Op {
	t := Op{Do: pick(r, "present", "present", "link", "call"), Who: o.Who, Nth: o.Nth % 2, Door: o.Door, Flag: r.IntN(4) == 0}
	if doors := bits(o.Doors); len(doors) > 0 {
		t.Door = pick(r, doors...)
	}
	return t
}

// last is how every sequence ends: everything that is known is compared.
var last = []Op{
	{Do: "mend", Door: 0}, {Do: "mend", Door: 2}, {Do: "look", Door: 0}, {Do: "look", Door: 2},
	{Do: "records"}, {Do: "events"}, {Do: "permits"}, {Do: "journal", Door: 0}, {Do: "journal", Door: 2},
}
