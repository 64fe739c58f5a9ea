package age

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/each"
)

// moment is a time at which things happen: first mishaps, one after the other, then changes, at all places at once,
// then all entries at once, each of a different person at a different door.
type moment struct {
	at       time.Time
	mishaps  []func()
	changes  map[*place][]func()
	entries  []entry
	uncalled map[*place]bool // places whose number nobody calls at this time: a call could open any door
}

// entry is a person at a door, or a command for it.
type entry struct {
	how   string
	place *place
	door  door
	who   *person
	cmd   *keyed
}

// keyed is a command under its key.
type keyed struct {
	key, command string
	door         string
	minutes      int
	legacy, kept bool // by the legacy path; its key may be used again
	at           time.Time
	tries        atomic.Int64
}

// The times at which people enter are at most this far apart on average: a door has at most one entry at each, and each
// costs something however few people come.
const stride = time.Hour

// A segment ends with the last entry, and with the time when the last mishap is over.
const (
	calmEntries = 40 * time.Minute
	calmLines   = 90 * time.Minute
)

// How people enter, and what commands there are: weights.
var (
	ways     = []weighted{{"onsite", 46}, {"onsite link", 6}, {"link", 18}, {"phone", 8}, {"command", 22}}
	commands = []weighted{{"open", 84}, {"hold", 9}, {"close", 7}}
)

type weighted struct {
	what   string
	weight int
}

func pick(rng *rand.Rand, from []weighted) string {
	all := 0
	for _, w := range from {
		all += w.weight
	}
	n := rng.IntN(all)
	for _, w := range from {
		if n -= w.weight; n < 0 {
			return w.what
		}
	}
	return ""
}

// busy is how many times the average an hour of the day sees; the mean is 1.
func busy(at time.Time) float64 {
	h := float64(at.Hour()) + float64(at.Minute())/60
	return 1 + 0.8*math.Sin((h-8)/24*2*math.Pi)
}

// draw is what happens between two times, in order.
func (r *run) draw(n int, from, to time.Time) []moment {
	rng := rand.New(rand.NewPCG(uint64(r.c.Seed), uint64(n)+2)) //nolint:gosec // a draw, no secret
	d := &drawing{r: r, rng: rng, n: n, from: from, to: to, at: map[int64]*moment{}}
	step := d.strides()
	d.settle()
	d.mishaps()
	for _, p := range r.places {
		p.pressed = slices.DeleteFunc(p.pressed, func(k *keyed) bool { return from.Sub(k.at) > keysKept })
		d.rules(p)
	}
	for _, at := range d.visits {
		d.entries(d.moment(at), r.c.Entries*float64(step)/float64(24*time.Hour))
	}
	out := make([]moment, 0, len(d.at))
	for _, m := range d.at {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b moment) int { return a.at.Compare(b.at) })
	return out
}

// drawing is a segment being drawn.
type drawing struct {
	r        *run
	rng      *rand.Rand
	n        int
	from, to time.Time
	visits   []time.Time // the moments at which people enter, in order
	at       map[int64]*moment
	keys     int
}

// strides draws the times at which people enter, and returns how far apart they are on average.
func (d *drawing) strides() time.Duration {
	step := time.Duration(min(float64(stride), float64(12*time.Hour)/d.r.c.Entries))
	for at := d.from.Add(step); at.Before(d.to.Add(-calmEntries)); at = at.Add(step/2 + time.Duration(d.rng.Int64N(int64(step)))) {
		d.visits = append(d.visits, at.Truncate(time.Millisecond))
	}
	return step
}

func (d *drawing) moment(at time.Time) *moment {
	ms := at.UnixMilli()
	return each.Made(d.at, ms, func() *moment { return &moment{at: at, changes: map[*place][]func(){}, uncalled: map[*place]bool{}} })
}

// then adds a change at a place to the moment.
func (d *drawing) then(at time.Time, p *place, f func()) {
	m := d.moment(at.Truncate(time.Millisecond))
	m.changes[p] = append(m.changes[p], f)
}

// befall adds a mishap.
func (d *drawing) befall(at time.Time, f func()) {
	m := d.moment(at.Truncate(time.Millisecond))
	m.mishaps = append(m.mishaps, f)
}

// some is a random time in the segment, at least before before its end.
func (d *drawing) some(before time.Duration) time.Time {
	return d.from.Add(time.Duration(d.rng.Int64N(max(1, int64(d.to.Sub(d.from)-before)))))
}

// when is the next time after a random one at which people enter: they are the first to meet the change, and each jump
// of the clock costs all boards something.
func (d *drawing) when(before time.Duration) time.Time {
	at := d.some(before)
	if i, _ := slices.BinarySearchFunc(d.visits, at, time.Time.Compare); i < len(d.visits) && !d.visits[i].After(d.to.Add(-before)) {
		return d.visits[i]
	}
	return at
}

// often draws how many times something happens in the segment that happens perDay times per day.
func (d *drawing) often(perDay float64) int {
	mean := perDay * d.to.Sub(d.from).Hours() / 24
	n := int(mean)
	if d.rng.Float64() < mean-float64(n) {
		n++
	}
	return n
}

// entries draws who comes at a time.
func (d *drawing) entries(m *moment, share float64) {
	for _, p := range d.r.places {
		rate := share * busy(m.at.In(p.zone))
		for _, at := range p.doors {
			if d.rng.Float64() < rate && !m.taken(at) {
				e := d.entry(m, p, at)
				if e.how == "phone" && m.uncalled[p] {
					e.how = "onsite"
				}
				m.entries = append(m.entries, e)
			}
		}
	}
}

// taken reports whether somebody is at a door.
func (m *moment) taken(at door) bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool { return e.door == at })
}

// entry draws one person at a door, one who isn't at another door of the place.
func (d *drawing) entry(m *moment, p *place, at door) entry {
	i := d.rng.IntN(len(p.people))
	for slices.ContainsFunc(m.entries, func(e entry) bool { return e.who == p.people[i] }) {
		i = (i + 1) % len(p.people)
	}
	e := entry{how: pick(d.rng, ways), place: p, door: at, who: p.people[i]}
	if e.how == "command" {
		e.cmd = d.command(at)
		e.how = e.cmd.command
		if e.cmd.kept {
			p.pressed = append(p.pressed, e.cmd)
		}
	}
	return e
}

func (d *drawing) command(at door) *keyed {
	d.keys++
	k := &keyed{key: fmt.Sprintf("age-%d-%d", d.n, d.keys), command: pick(d.rng, commands), door: at.id, legacy: d.rng.IntN(8) == 0, kept: d.rng.IntN(40) == 0}
	if k.command == "hold" {
		k.minutes = 1 + d.rng.IntN(30)
	}
	return k
}

// onsiteAt has a person come to a door's reader, if nobody else is there at that time.
func (d *drawing) onsiteAt(at time.Time, p *place, of door) {
	if e := d.entryAt(at, p, of); e != nil {
		e.how, e.cmd = "onsite", nil
	}
}

// commandAt has a command given for a door, if nobody is there at that time.
func (d *drawing) commandAt(at time.Time, p *place, of door) bool {
	e := d.entryAt(at, p, of)
	if e != nil {
		e.cmd = d.command(of)
		e.how = e.cmd.command
	}
	return e != nil
}

// entryAt draws an entry at a door; nil if somebody is there at that time.
func (d *drawing) entryAt(at time.Time, p *place, of door) *entry {
	m := d.moment(at.Truncate(time.Millisecond))
	if m.taken(of) {
		return nil
	}
	m.entries = append(m.entries, d.entry(m, p, of))
	return &m.entries[len(m.entries)-1]
}
