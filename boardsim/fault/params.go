package fault

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
)

// param is a parameter of a fault: a number between min and max, or one of names.
type param struct {
	name     string
	def      float64
	min, max float64
	whole    bool
	names    []string // non-empty = a text; the first is the default
}

// values are a fault's parameters, defaults filled in.
type values struct {
	num  map[string]float64
	text map[string]string
}

func (v values) all() map[string]any {
	if len(v.num)+len(v.text) == 0 {
		return nil
	}
	out := map[string]any{}
	for k, x := range v.num {
		out[k] = x
	}
	for k, x := range v.text {
		out[k] = x
	}
	return out
}

// values validates what was given. Error: *BadSpec.
func (k *kind) values(given map[string]any) (values, error) {
	v := values{num: map[string]float64{}, text: map[string]string{}}
	var names []string
	for _, p := range k.params {
		names = append(names, p.name)
		x, ok := given[p.name]
		if err := v.set(p, x, ok); err != nil {
			return values{}, err
		}
	}
	var extra []string
	for name := range given {
		if !slices.Contains(names, name) {
			extra = append(extra, name)
		}
	}
	if sort.Strings(extra); len(extra) > 0 {
		return values{}, unknown("params."+extra[0], extra[0], names)
	}
	if k.check != nil {
		if err := k.check(v, given); err != nil {
			return values{}, err
		}
	}
	return v, nil
}

func (v values) set(p param, x any, given bool) error {
	field := "params." + p.name
	if len(p.names) > 0 {
		s, ok := x.(string)
		switch {
		case !given:
			s = p.names[0]
		case !ok:
			return bad(field, "must be a text")
		case !slices.Contains(p.names, s):
			return unknown(field, s, p.names)
		}
		v.text[p.name] = s
		return nil
	}
	f, ok := number(x)
	switch {
	case !given:
		f = p.def
	case !ok:
		return bad(field, "must be a number")
	case math.IsNaN(f) || f < p.min || f > p.max:
		return bad(field, "must be %v..%v", p.min, p.max)
	case p.whole && f != math.Trunc(f):
		return bad(field, "must be an integer")
	}
	v.num[p.name] = f
	return nil
}

// number takes what JSON, YAML and Go callers hand in.
func number(x any) (float64, bool) {
	switch x := x.(type) {
	case float64:
		return x, true
	case float32:
		return float64(x), true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	case json.Number:
		f, err := x.Float64()
		return f, err == nil
	}
	return 0, false
}

const day = 24 * 3600

// spread is the pair p50Ms, p99Ms of a response time.
func spread(p50, p99 float64) []param {
	return []param{
		{name: "p50Ms", def: p50, max: day * 1000, whole: true},
		{name: "p99Ms", def: p99, max: day * 1000, whole: true},
	}
}

// spreadOK checks the pair; when only one is given the other follows.
func spreadOK(v values, given map[string]any) *BadSpec {
	p50, p99 := v.num["p50Ms"], v.num["p99Ms"]
	if given["p99Ms"] == nil && p99 < p50 {
		v.num["p99Ms"], p99 = p50, p50
	}
	if given["p50Ms"] == nil && p99 < p50 {
		v.num["p50Ms"], p50 = p99, p99
	}
	if p99 < p50 {
		return bad("params.p99Ms", "must not be below p50Ms (%v)", p50)
	}
	return nil
}

// onlyAlone makes a default count only when no parameter is given.
func onlyAlone(name string) func(values, map[string]any) *BadSpec {
	return func(v values, given map[string]any) *BadSpec {
		if _, ok := given[name]; !ok && len(given) > 0 {
			v.num[name] = 0
		}
		return nil
	}
}

// ms draws a time: log-normal through both quantiles, at most twice p99.
func (v values) ms(draw func() float64) int64 {
	p50, p99 := v.num["p50Ms"], v.num["p99Ms"]
	if p50 <= 0 || p99 == p50 {
		return int64(p50)
	}
	const z99 = 2.3263478740408408
	sigma := math.Log(p99/p50) / z99
	z := math.Sqrt2 * math.Erfinv(2*draw()-1)
	return int64(math.Round(min(p50*math.Exp(sigma*z), 2*p99)))
}
