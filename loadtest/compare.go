package loadtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/plot"
)

// unlikeRuns is the verdict on a change between runs that didn't do the same.
const unlikeRuns = "not comparable"

// compare puts a result beside a stored one. A difference counts only if it exceeds the noise, estimated from how much
// the seconds of both runs differ among themselves, and what matters (5 % and half a millisecond or request per second).
func compare(path string, before, now Result) *Comparison {
	c := &Comparison{Baseline: path, Unlike: differences(before, now)}
	if len(before.Search) > 0 && len(now.Search) > 0 { // their steps are at different rates
		c.add(Change{Name: "highest rate within the thresholds", Unit: "/s", Before: before.Highest, Now: now.Highest,
			Noise: round(float64(cmp.Or(now.Plan.Precision, 0.05))*before.Highest, 1)}, true)
	}
	if before.Highest == now.Highest {
		if before.AnsweredBy > 0 && now.AnsweredBy > 0 { // an older version doesn't tell
			was := before.answerRate()
			c.add(Change{Name: "answers per second", Unit: "/s", Before: was, Now: now.answerRate(), Noise: round(0.05*was, 1)}, true)
		}
		errs := func(p Point) float64 { return float64(p.Outcomes[rejected] + p.Outcomes[noAnswer]) }
		for _, m := range []struct {
			name string
			of   func(Point) float64
		}{
			{"p50", func(p Point) float64 { return p.P50 }},
			{"p99", func(p Point) float64 { return p.P99 }},
			{"slowest", func(p Point) float64 { return p.Max }},
		} {
			c.add(change(m.name, values(before, m.of), values(now, m.of)), false)
		}
		was, is := sum(values(before, errs)), sum(values(now, errs))
		c.add(Change{Name: "errors of the whole run", Before: was, Now: is, Noise: round(3*math.Sqrt(was), 1)}, false)
	}
	return c
}

// differences are what keeps two runs from being comparable: what was sent, and on what. What is only judged may differ.
func differences(before, now Result) (out []string) {
	was, is := asked(before.Plan), asked(now.Plan)
	if before.Environment != nil && now.Environment != nil {
		here := keysOf(ofMachine(*now.Environment))
		for key, value := range keysOf(ofMachine(*before.Environment)) {
			if here[key] != "" { // otherwise one of the runs doesn't know
				was[key], is[key] = value, here[key]
			}
		}
	}
	for key, of := range map[string]func(Result) string{"shard": part, "requests sent": complete} {
		was[key], is[key] = of(before), of(now)
	}
	if a, b := sound(before), sound(now); a != allSound || b != allSound { // also if both are unsound alike
		out = append(out, fmt.Sprintf("figures %s, now %s", a, b))
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is)))))) {
		if a, b := was[key], is[key]; a != b {
			out = append(out, fmt.Sprintf("%s %s, now %s", key, cmp.Or(a, "left out"), cmp.Or(b, "left out")))
		}
	}
	return out
}

// part is which part of a load a run was.
func part(r Result) string {
	if r.Shard == nil {
		return "all"
	}
	return r.Shard.String()
}

// complete says how much of its plan a run sent, which may have ended early.
func complete(r Result) string {
	if r.Sent >= r.Planned || len(r.Search) > 0 {
		return "all"
	}
	return fmt.Sprintf("%s of %s", amount.Number(r.Sent), amount.Number(r.Planned))
}

// sound says why a run's figures don't describe the system, if they don't.
func sound(r Result) string {
	return cmp.Or(strings.Join(r.unsound(), "; "), allSound)
}

const allSound = "sound"

// clauseFirst is how a doubt about a guarantee begins.
var clauseFirst = regexp.MustCompile(`^[A-Z]+-\d+: `)

// asked is what a plan sends, by its keys; a different seed sends the same mix. What a search sends depends on how it judges.
func asked(p Plan) map[string]string {
	p.Name, p.Description, p.Reason, p.Seed, p.Abort = "", "", "", 0, false
	if p.Pacer != "search" {
		p.MaxLag, p.Thresholds = 0, nil
	}
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		p.Stages[i].Name, p.Stages[i].Thresholds = "", nil
	}
	out := keysOf(p)
	delete(out, "name")
	return out
}

// ofMachine leaves out what doesn't tell one machine from another.
func ofMachine(e Environment) Environment {
	e.Go = ""
	return e
}

// keysOf are the keys of a value's JSON with their values, as text.
func keysOf(v any) map[string]string {
	var keys map[string]json.RawMessage
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &keys)
	}
	out := map[string]string{}
	if err != nil { // plans and environments are JSON objects
		return out
	}
	for key, value := range keys {
		out[key] = strings.Trim(string(value), `"`)
	}
	return out
}

func values(r Result, of func(Point) float64) []float64 {
	var list []float64
	for _, p := range r.Series {
		if p.Planned > 0 {
			list = append(list, of(p))
		}
	}
	return list
}

func change(name string, before, now []float64) Change {
	c := Change{Name: name + ", median of all seconds", Unit: "ms", Before: round(plot.Median(before), 3), Now: round(plot.Median(now), 3)}
	// Standard error of a median: 1.2533 sigma / sqrt(n), three of them.
	chance := 3 * 1.2533 * math.Hypot(spreadOf(before)/math.Sqrt(count(before)), spreadOf(now)/math.Sqrt(count(now)))
	c.Noise = round(max(chance, c.Before*0.05, 0.5), 3)
	return c
}

// add decides on a change. more: the more, the better.
func (c *Comparison) add(x Change, more bool) {
	d := x.Now - x.Before
	if more {
		d = -d
	}
	switch {
	case len(c.Unlike) > 0:
		x.Verdict = unlikeRuns
	case d > x.Noise:
		x.Verdict = "worse"
	case d < -x.Noise:
		x.Verdict = "better"
	default:
		x.Verdict = "same"
	}
	c.Changes = append(c.Changes, x)
}

// Told are the runs' differences in a sentence; "" if they are comparable.
func (c *Comparison) Told() string {
	if len(c.Unlike) == 0 {
		return ""
	}
	return "not comparable with the baseline: " + strings.Join(c.Unlike, "; ")
}

// Was, Is and Within are the change's figures with their unit.
func (c Change) Was() string { return c.said(c.Before) }

func (c Change) Is() string { return c.said(c.Now) }

func (c Change) Within() string { return "±" + c.said(c.Noise) }

func (c Change) said(v float64) string {
	switch c.Unit {
	case "ms":
		return ms(v)
	case "/s":
		return perSecond(v)
	}
	return amount.Number(v)
}

func count(v []float64) float64 { return float64(max(len(v), 1)) }

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// spreadOf is a standard deviation that is robust against outliers (1.4826 MAD).
func spreadOf(v []float64) float64 {
	m := plot.Median(v)
	return 1.4826 * plot.Median(each.Of(v, func(x float64) float64 { return math.Abs(x - m) }))
}
