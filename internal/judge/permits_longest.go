package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// longest is how long permits may be for the doors whose entryPermitMaxHours the run itself has set. Other doors may
// have any maximum up to 720 h, and so may a door of a shared target on which others work, too.
type longest struct {
	v     *View
	set   map[string][]*call    // by door
	asked map[[2]string][]*call // the creates by place and reference, nil until needed
}

func (v *View) longest() *longest {
	l := &longest{v: v, set: map[string][]*call{}}
	if v.begun != nil && v.begun.Op != history.Quiet {
		return l
	}
	l.set = each.By(each.If(v.calls(), func(c *call) bool { return c.setsMaximum() && c.ok() }), func(c *call) string { return c.Path })
	return l
}

// setsMaximum reports whether a call changes a door's entryPermitMaxHours.
func (c *call) setsMaximum() bool {
	return c.Method == "PATCH" && c.SentNs != 0 && c.In["entryPermitMaxHours"] != nil
}

// breached says what is wrong with how a create was answered, "" if nothing.
func (l *longest) breached(c *call, period int64) string {
	const hour = 3600 * 1000
	most := l.most(c)
	said, known := c.Out["maxHours"].(float64)
	switch {
	case most == 0:
	case c.ok() && period > int64(most*hour):
		return fmt.Sprintf("a permit of %s was registered, but one of its doors has a maximum of %g h", secs(period), most)
	case !c.ok() && known && said > most:
		return fmt.Sprintf("a permit was refused with a maximum of %g h, but one of its doors has %g h", said, most)
	}
	return ""
}

// most is the shortest known maximum of the doors that a create is for, in hours; 0 if there is none.
func (l *longest) most(c *call) (most float64) {
	doors := texts(c.In["doorIds"])
	if c.In["doorIds"] == nil {
		doors = l.entries(c)
	}
	for _, door := range doors {
		if h := l.of(door, c); h > 0 && (most == 0 || h < most) {
			most = h
		}
	}
	if most > 0 && c.In["doorIds"] == nil && !l.first(c) {
		return 0
	}
	return most
}

// of is a door's maximum when a create was decided; 0 if it isn't known.
func (l *longest) of(door string, c *call) float64 {
	var last *call
	for _, s := range l.set[door] {
		switch {
		case !sooner(s.Event, c.started()):
			if sooner(s.started(), c.Event) { // in progress
				return 0
			}
		case last != nil && last.overlaps(s):
			return 0
		default:
			last = s
		}
	}
	if last == nil || l.v.unsureBetween(last, c, func(u *call) bool { return u.setsMaximum() && u.Path == door }) {
		return 0
	}
	hours, _ := last.In["entryPermitMaxHours"].(float64)
	return hours
}

// entries are the doors that were surely entry doors while a create was decided.
func (l *longest) entries(c *call) (doors []string) {
	p := l.v.places[l.v.placeOf(c)]
	if p == nil || l.v.begun != nil || c.SentNs == 0 {
		return nil
	}
	for i, x := range during(l.v, c, p.entries) {
		if i == 0 {
			doors = slices.Clone(x.is)
		}
		doors = slices.DeleteFunc(doors, func(d string) bool { return !slices.Contains(x.is, d) })
	}
	return doors
}

// key is a create's place and reference.
func (l *longest) key(c *call) [2]string { return [2]string{l.v.placeOf(c), c.in("externalRef")} }

// first reports whether nothing can have stored doors under a create's reference before it.
func (l *longest) first(c *call) bool {
	if l.asked == nil {
		l.asked = map[[2]string][]*call{}
		for _, x := range slices.Concat(l.v.known(), l.v.unsure()) {
			if x.Route == createRoute && x.Method == "POST" && (x.Status < 400 || x.Status >= 500) {
				l.asked[l.key(x)] = append(l.asked[l.key(x)], x)
			}
		}
	}
	return !slices.ContainsFunc(l.asked[l.key(c)], func(x *call) bool {
		return x.Event != c.Event && sooner(x.started(), c.Event)
	})
}
