package engine

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// Values that are written down, rather than computed in the run, are checked before it.

// literals reports the values of a step that can't be right.
func (c *checker) literals(s *Step) {
	switch v := &s.Verbs; {
	case v.Fault != nil:
		c.fault(v.Fault, s.pos)
	case v.Cohort != nil:
		c.cohort(v.Cohort)
	case v.Place != nil:
		c.fields(v.Place.Set, "field of a place", map[string]string{"entryPhone": "null or a phone", "phoneEnabled": "true or false", "closures": "null or a list",
			"holidays": "null or a list", "timezone": "a time zone like Asia/Seoul"})
	case v.Door != nil:
		c.fields(v.Door.Set, "field of a door", map[string]string{"entry": "true or false", "entryPermitMaxHours": "a whole number"})
	case v.Hours != nil && !v.Hours.fails():
		c.week(&v.Hours.Week)
	case v.Policy != nil && !v.Policy.fails():
		c.week(v.Policy.Week)
	case v.Netloss != nil && !v.Netloss.fails():
		c.channels(v.Netloss)
	case v.Mark != nil && v.Mark.Name.raw == "now":
		c.b.Problem(s.pos, `a mark can't be called "now", which is always the present moment`)
	case v.MQTT != nil:
		c.mqtt(v.MQTT, s.pos)
	case v.Tell != nil:
		c.tell(v.Tell, s.pos)
	case v.Bulk != nil:
		c.count("register", &v.Bulk.Register, 1)
		if f, ok := v.Bulk.Register.literal(); ok && f > mostPeople {
			c.b.Problem(v.Bulk.Register.pos, "register must be at most %s", amount.Number(int64(mostPeople)))
		}
		c.count("revoke", v.Bulk.Revoke, 0)
		c.count("workers", v.Bulk.Workers, 1)
	case v.PresentEach != nil:
		c.count("perDoor", v.PresentEach.PerDoor, 1)
	case v.Boards != nil:
		c.count("atLeast", v.Boards.AtLeast, 0)
	case v.Journal != nil:
		c.count("atLeast", v.Journal.AtLeast, 0)
	case v.Records != nil:
		c.count("atLeast", v.Records.AtLeast, 0)
	case v.Events != nil:
		c.count("atLeast", v.Events.AtLeast, 0)
	}
	if c.count("atLeast", s.AtLeast, 0); s.AtLeast != nil && s.Cases == nil {
		c.b.Problem(s.AtLeast.pos, "atLeast must be left out without cases: it is the fewest rows")
	}
}

// fails reports whether the request is expected to be refused, or may be.
func (e Answered) fails() bool {
	return e.Error.set() || e.Match != nil || slices.ContainsFunc(e.Status, func(n Num) bool { return !strings.HasPrefix(n.raw, "2") })
}

// literal is the number as written; ok is false if it is computed in the run, or none.
func (n *Num) literal() (f float64, ok bool) {
	if n == nil || !n.set() {
		return 0, false
	}
	text, ok := n.Literal()
	f, err := expression.Number(text)
	return f, ok && err == nil
}

// count checks a whole number of at least least.
func (c *checker) count(name string, n *Num, least int) {
	if f, ok := n.literal(); ok && (f < float64(least) || f != math.Trunc(f)) {
		c.b.Problem(n.pos, "%s must be a whole number of at least %d", name, least)
	}
}

func (c *checker) cohort(v *Cohort) {
	c.count("places", v.Places, 1)
	c.count("perPlace", v.PerPlace, 1)
	c.count("boards", v.Boards, 1)
	c.count("atLeast", v.Expect, 0)
	if f, ok := v.Share.literal(); ok && (f <= 0 || f > 1) {
		c.b.Problem(v.Share.pos, "share must be above 0 and at most 1, which is 100%%")
	}
	if text, ok := v.Part.Literal(); ok && v.Part.set() {
		if _, _, err := fraction(text); err != nil {
			c.b.Problem(v.Part.pos, "%s", err)
		}
	}
}

// fault checks the request with the list of faults; what a template gives is checked when the fault is armed.
func (c *checker) fault(v *Fault, pos Pos) {
	asked := faults.Asked{Fault: v.Fault.raw, Doors: v.Doors != nil, For: v.For.set(), Params: map[string]any{}}
	if _, known := faults.Lookup(asked.Fault); !known {
		return // reported already, or computed in the run
	}
	if d, ok := v.forTime(); ok && d <= 0 {
		c.b.Problem(v.For.pos, "for must be above 0")
	}
	at := map[string]Pos{"doorIds": pos, "commands": pos, "for": v.For.pos}
	if len(v.Commands) > 0 {
		asked.Commands = []string{faults.Commands[0]} // which they are was checked already
	}
	for name, n := range map[string]*Num{"nth": v.Nth, "share": v.Share} {
		f, ok := n.literal()
		switch {
		case n == nil:
			continue
		case !ok:
			f = 1
		}
		at[name] = n.pos
		if name == "nth" {
			asked.Nth = &f
		} else {
			asked.Share = &f
		}
	}
	for name, p := range v.Params {
		at["params."+name] = p.pos
		if asked.Params[name] = any(faults.Later{}); !p.templated() {
			asked.Params[name], _ = p.eval(nil)
		}
	}
	for _, bad := range asked.Problems() {
		c.b.Problem(at[bad.Field], "%s", bad)
	}
	c.count("hits", v.Hits, 0)
}

// fields checks the names of what an operator sets, and the kinds of values that are written down.
func (c *checker) fields(set map[string]Any, what string, known map[string]string) {
	for _, name := range keysOf(set) {
		v, want := set[name], known[name]
		if want == "" {
			c.b.Problem(v.pos, "%q is not a valid %s%s", name, what, near.Hint(name, slices.Sorted(maps.Keys(known))))
			continue
		}
		if v.templated() {
			continue
		}
		x, _ := v.eval(nil)
		if !fits(x, want) {
			c.b.Problem(v.pos, "%s must be %s", name, want)
		}
	}
}

// week checks the names and hours of days.
func (c *checker) week(a *Any) {
	if a == nil {
		return
	}
	days, _ := a.v.(map[string]Any)
	for _, day := range keysOf(days) {
		v := days[day]
		if !access.IsWeekday(day) {
			c.b.Problem(v.pos, "%q is not a day (mon..sun)%s", day, near.Hint(day, weekdays))
			continue
		}
		if v.templated() {
			continue
		}
		x, _ := v.eval(nil)
		pairs, ok := intervals(x)
		if !ok {
			c.b.Problem(v.pos, `%s must be a list of intervals, like [["09:00", "22:00"]]`, day)
		} else if err := access.CheckDay(pairs); err != nil {
			c.b.Problem(v.pos, "%s: %s", day, err)
		}
	}
}

func intervals(x any) (out [][2]string, ok bool) {
	list, ok := x.([]any)
	for _, e := range list {
		pair, _ := e.([]any)
		if len(pair) != 2 {
			return nil, false
		}
		from, ok1 := pair[0].(string)
		to, ok2 := pair[1].(string)
		if !ok1 || !ok2 {
			return nil, false
		}
		out = append(out, [2]string{from, to})
	}
	return out, ok
}

// channels checks the names and words of a policy for outages.
func (c *checker) channels(v *Netloss) {
	for _, channel := range keysOf(v.Channels) {
		t := v.Channels[channel]
		if n, err := strconv.Atoi(channel); channel != "all" && (err != nil || n < 1) {
			c.b.Problem(t.pos, "%q is not a valid channel: write a channel number, or \"all\"", channel)
		}
		if word, ok := t.Literal(); ok && !slices.Contains(resting, word) {
			c.b.Problem(t.pos, "%q is not a valid behaviour%s", word, near.Hint(word, resting))
		}
	}
}

var (
	weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	resting  = []string{"open", "close", "hold", "off"}
)

// templated reports whether a part of the value is computed in the run.
func (a Any) templated() bool {
	switch v := a.v.(type) {
	case Text:
		_, literal := v.Literal()
		return !literal
	case []Any:
		return slices.ContainsFunc(v, Any.templated)
	case map[string]Any:
		for _, e := range v {
			if e.templated() {
				return true
			}
		}
	}
	return false
}

// fits reports whether a value is what a field takes.
func fits(x any, want string) bool {
	text, isText := x.(string)
	_, isList := x.([]any)
	_, isBool := x.(bool)
	_, isInt := x.(int64)
	switch want {
	case "true or false":
		return isBool
	case "null or a list":
		return x == nil || isList
	case "null or a phone":
		return x == nil || isText && access.IsPhone(text)
	case "a whole number":
		return isInt
	case "a time zone like Asia/Seoul":
		return isText && access.IsTimezone(text)
	}
	return isText
}
