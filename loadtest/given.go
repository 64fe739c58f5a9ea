package loadtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
)

// has stands in for a file's keys in a plan that isn't from one.
func (p Plan) has(key string) bool {
	return map[string]bool{
		"rate": p.Rate > 0, "to": p.To > 0 || p.Pacer == "ramp", "duration": p.Duration > 0, "stages": len(p.Stages) > 0,
		"amplitude": p.Amplitude > 0, "period": p.Period > 0, "precision": p.Precision > 0,
		"commands": p.Commands != (Mix{}), "holdMinutes": p.HoldMinutes != 0, "reason": p.Reason != "", "legacy": p.Legacy > 0,
		"skew":         p.Skew != 0,
		"repeatedKeys": p.RepeatedKeys > 0, "repeatedAtOnce": p.RepeatedAtOnce != nil, "repeatAfter": p.RepeatAfter > 0,
	}[key] || strings.HasPrefix(key, "stages[") // a stage's rate of 0 is a pause
}

// pacerKeys are the keys of the plan that each pacer uses.
var pacerKeys = map[string][]string{
	"constant": {"rate", "duration"}, "ramp": {"rate", "to", "duration"}, "stages": {"stages"},
	"sine": {"rate", "amplitude", "period", "duration"}, "search": {"rate", "to", "duration"},
}

// pacersWith are the pacers that use a key.
func pacersWith(key string) (out []string) {
	return each.If(slices.Sorted(maps.Keys(pacerKeys)), func(pacer string) bool { return slices.Contains(pacerKeys[pacer], key) })
}

// pace checks that the pacer has everything it needs and nothing that it would ignore.
func (c *check) pace(p Plan) {
	uses, known := pacerKeys[p.Pacer]
	if !known {
		return
	}
	above := map[string]bool{"rate": p.Rate > 0, "to": p.To > 0, "duration": p.Duration > 0, "stages": len(p.Stages) > 0,
		"amplitude": p.Amplitude > 0, "period": p.Period > 0}
	for _, name := range slices.Sorted(maps.Keys(above)) {
		switch at := "$." + name; {
		case !slices.Contains(uses, name):
			c.want(!c.given(name), at, "%s must be left out with pacer: %s; it belongs to pacer: %s", name, p.Pacer, strings.Join(pacersWith(name), " or "))
		case p.Pacer == "constant" && above["stages"] && !c.given(name): // the pacer is missing, not this
		case name == "rate" && p.Pacer == "ramp": // without it, the ramp begins at 0
		case !c.given(name) || name == "stages" && !above[name]:
			c.want(false, at, "%s is needed with pacer: %s", name, p.Pacer)
		case p.Pacer != "ramp" || name == "duration": // a ramp may end at 0
			c.want(above[name], at, "%s must be above 0 with pacer: %s", name, p.Pacer)
		}
	}
	c.want(p.Pacer != "ramp" || p.Rate+p.To > 0, "$.to", "rate or to must be above 0 with pacer: ramp")
	c.want(p.Pacer != "sine" || p.Amplitude <= p.Rate, "$.amplitude", "must not be above the rate")
	c.want(p.Pacer != "search" || p.To >= p.Rate, "$.to", "must not be below the rate")
	c.want(p.Pacer != "search" || p.Limits(), "$.thresholds", "a search needs at least one threshold")
	for i, s := range p.Stages {
		at := fmt.Sprintf("stages[%d]", i)
		c.want(s.Duration > 0, "$."+at+".duration", "each stage needs a duration")
		if c.given(at + ".rate") {
			c.want(s.Rate > 0 || s.To != nil && *s.To > 0 || len(p.Stages) > 1, "$."+at+".rate", "a stage on its own needs a rate")
		} else {
			c.want(false, "$."+at+".rate", "each stage needs a rate; rate: 0 is a pause")
		}
	}
}

// idle finds keys that change nothing beside the others, although who wrote them believes so.
func (c *check) idle(p Plan) {
	unless := func(used bool, why string, names ...string) {
		for _, name := range names {
			c.want(used || !c.given(name), "$."+name, "%s must be left out %s", name, why)
		}
	}
	commands := p.Requests == (Requests{}) || p.Requests.Command > 0
	unless(commands, "with requests without door commands", "commands", "repeatedKeys", "repeatedAtOnce", "repeatAfter", "holdMinutes", "legacy")
	unless(commands || p.Requests.Revoke > 0, "with requests without door commands and revocations", "reason")
	if commands {
		unless(p.Commands.Hold > 0, "without hold among the commands", "holdMinutes")
		unless(p.RepeatedKeys > 0, "without repeatedKeys", "repeatedAtOnce", "repeatAfter")
		unless(p.RepeatedKeys == 0 || *p.RepeatedAtOnce < 1, "with repeatedAtOnce: 100%", "repeatAfter")
	}
	unless(p.Pacer == "search", "with pacer: "+p.Pacer, "precision")
	unless(p.Doors == "zipf", "with doors: "+p.Doors, "skew")
	c.want(!p.Abort || p.above(), "$.abort", "abort needs an upper limit among the thresholds: the load stops when one is broken")
}

// above reports whether any threshold is an upper limit.
func (p Plan) above() bool {
	for _, limits := range p.limits {
		for name, text := range limits {
			if l, err := parseThreshold(name, text); err != nil || !l.atLeast { // a mistake in it is reported by itself
				return true
			}
		}
	}
	return false
}

// zeros finds an explicit 0 that would become the default. Those of skew, holdMinutes and commands are out of range, too,
// but not after the default has been filled in.
func (c *check) zeros(p Plan) {
	for _, k := range []struct {
		name string
		zero bool
		want string
	}{
		{"timeout", p.Timeout == 0, "must be longer than 0"}, {"maxLag", p.MaxLag == 0, "must be longer than 0"},
		{"repeatAfter", p.RepeatAfter == 0, "must be longer than 0; repeatedAtOnce says how many follow at once"},
		{"precision", p.Precision == 0, "must be above 0"}, {"skew", p.Skew == 0, "must be above 1"}, {"holdMinutes", p.HoldMinutes == 0, "must be 1 to 1440"},
		{"seed", p.Seed == 0, "must not be 0; without it the seed is 1"},
		{"commands", p.Commands == (Mix{}), "the shares add up to 0%, but must add up to 100%"},
		{"requests", p.Requests == (Requests{}), "the shares add up to 0%, but must add up to 100%"},
	} {
		c.want(!k.zero || !c.given(k.name), "$."+k.name, "%s", k.want)
	}
}
