package explore

import (
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
)

// zone is where the places are: 0 is Seoul, with a fixed offset; in Berlin, clocks go forward (1) or back (-1) in the
// night to the first Sunday. The sequence starts there on a Monday at midnight, so days and minutes are those of a
// local clock.
type zone int

const (
	changeDay = 6
	forwardAt = changeDay*day + 2*hour // it is three then
	backAt    = changeDay*day + 3*hour // it is two again
)

// day is the number of the day that a calendar on the wall shows.
func (z zone) day(now int64) int {
	switch {
	case z > 0 && now >= forwardAt:
		now += hour
	case z < 0 && now >= backAt:
		now -= hour
	}
	return int(now / day)
}

// at is when a local clock shows a minute of a day. A skipped one is read with the offset before the change; of a
// repeated one, the first counts.
func (z zone) at(d, min int) int64 {
	t := int64(d)*day + int64(min)*minute
	switch {
	case z > 0 && t >= forwardAt+hour:
		return t - hour
	case z < 0 && t >= backAt:
		return t + hour
	}
	return t
}

// nights are the hours of Saturday and Sunday around a change, none of which overlap.
var nights = [][2]int{{3, 0}, {3, 4}, {0, 5}, {1, 2}, {1, 3}}

// move moves the place to Berlin and the clock to the Saturday before a change; only at the start of a sequence.
func (m *model) move(o Op) {
	if len(m.steps) > 0 || m.now > 0 {
		return
	}
	m.zone = 1
	offset := "+01:00"
	if o.Name == "back" {
		m.zone, offset = -1, "+02:00"
	}
	night := nights[o.Nth%len(nights)]
	m.hours[5], m.hours[6] = weeks[night[0]], weeks[night[1]]
	m.changed()
	m.add("place", fields{"place", "lab", "set", fields{"timezone", "Europe/Berlin"}})
	m.add("hours", fields{"place", "lab", "week", fields{"sat", pairsOf(m.hours[5]), "sun", pairsOf(m.hours[6])}})
	m.add("set", fields{"change", fmt.Sprintf(`${clock_change("Europe/Berlin", %q)}`, o.Name)})
	m.add("clock", fields{"to", fmt.Sprintf("${change}T00:00:00%s-%dh", offset, 24*changeDay)})
	m.add("mark", "start")
	m.clockTo(5*day + 20*hour)
	var want []string
	for d := 5; d < 8; d++ {
		want = append(want, texts(each.Of(m.content().shown(d, 5), func(x interval) string { return at(x.from) + ` + " " + ` + at(x.to) })))
	}
	m.add("call", fields{"path", "/core/v1/public/places/${lab.place}/schedule?days=3"},
		`map(data.days, map(.intervals, .startsAt + " " + .endsAt)) == `+texts(want)).clauses = []string{"HRS-2"}
	m.window(Op{Name: "free", Nth: 1, Door: o.Door})
}

// interval is one of a day, in moments and in minutes of the wall's clock.
type interval struct {
	day        int
	from, to   int64
	start, end int
}

func (i interval) String() string {
	if i.end == 1440 {
		return hhmm(i.start) + "-24:00"
	}
	return hhmm(i.start) + "-" + hhmm(i.end)
}

// own are the intervals that begin on a day; what extends into a closure ends at midnight.
func (c content) own(d int) (out []interval) {
	for _, p := range c.pairs(d) {
		i := interval{d, c.zone.at(d, p[0]), c.zone.at(d, p[1]), p[0], p[1]}
		switch {
		case p[1] > p[0]:
		case c.special[d+1].closed:
			i.to, i.end = c.zone.at(d, 1440), 1440
		default:
			i.to = c.zone.at(d+1, p[1])
		}
		out = append(out, i)
	}
	return out
}

// shown are a day's intervals in a schedule that begins on the day first: one that overlaps an interval of an earlier day
// of the schedule belongs to that one.
func (c content) shown(d, first int) (out []interval) {
	var all []interval
	for e := first; e <= d+8; e++ {
		for _, i := range c.own(e) {
			if k := len(all) - 1; k < 0 || i.from >= all[k].to {
				all = append(all, i)
			} else if i.to > all[k].to {
				all[k].to, all[k].end = i.to, i.end
			}
		}
	}
	for _, i := range all {
		if i.day == d {
			out = append(out, i)
		}
	}
	return out
}

// some drops what an expression made empty.
func some(of []string) string {
	if strings.Contains(strings.Join(of, ""), " ? ") {
		return "filter(" + texts(of) + `, # != "")`
	}
	return texts(of)
}
