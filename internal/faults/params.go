package faults

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
)

// Bad says what is wrong with a request to arm a fault.
type Bad struct {
	Field   string // as in the control API: "fault", "boards", "params.code"
	Reason  string
	Nearest string // the nearest valid name, or ""
	Missing bool   // required and not there
}

func (e *Bad) Error() string {
	if e.Nearest != "" {
		return fmt.Sprintf("%s: %s, did you mean %q?", e.Field, e.Reason, e.Nearest)
	}
	return e.Field + ": " + e.Reason
}

// Badly makes a Bad with a formatted reason.
func Badly(field, format string, a ...any) *Bad {
	return &Bad{Field: field, Reason: fmt.Sprintf(format, a...)}
}

// Unknown makes a Bad for an invalid name.
func Unknown(field, name string, valid []string) *Bad {
	return &Bad{Field: field, Reason: fmt.Sprintf("unknown %q", name), Nearest: near.Name(name, valid)}
}

// Values are a fault's parameters, with defaults filled in.
type Values struct {
	Num  map[string]float64
	Text map[string]string
}

// All lists them by name, nil when there are none.
func (v Values) All() map[string]any {
	if len(v.Num)+len(v.Text) == 0 {
		return nil
	}
	out := map[string]any{}
	for k, x := range v.Num {
		out[k] = x
	}
	for k, x := range v.Text {
		out[k] = x
	}
	return out
}

// Values validates what was given. Error: *Bad.
func (f Fault) Values(given map[string]any) (Values, error) {
	v := Values{Num: map[string]float64{}, Text: map[string]string{}}
	var names []string
	for _, p := range f.Params {
		names = append(names, p.Name)
		x, ok := given[p.Name]
		if err := v.set(p, x, ok); err != nil {
			return Values{}, err
		}
	}
	var extra []string
	for name := range given {
		if !slices.Contains(names, name) {
			extra = append(extra, name)
		}
	}
	if sort.Strings(extra); len(extra) > 0 {
		return Values{}, Unknown("params."+extra[0], extra[0], names)
	}
	if f.check != nil {
		if err := f.check(v, given); err != nil {
			return Values{}, err
		}
	}
	return v, nil
}

func (v Values) set(p Param, x any, given bool) error {
	field := "params." + p.Name
	if len(p.Names) > 0 {
		s, ok := x.(string)
		switch {
		case !given:
			s = p.Names[0]
		case !ok:
			return Badly(field, "must be a text")
		case !slices.Contains(p.Names, s):
			return Unknown(field, s, p.Names)
		}
		v.Text[p.Name] = s
		return nil
	}
	f, ok := number(x)
	switch {
	case !given:
		f = p.Default
	case !ok:
		return Badly(field, "must be a number")
	case math.IsNaN(f) || f < p.Min || f > p.Max:
		return Badly(field, "must be %s..%s", plain(p.Min), plain(p.Max))
	case p.Whole && f != math.Trunc(f):
		return Badly(field, "must be an integer")
	}
	v.Num[p.Name] = f
	return nil
}

// Text describes the parameter with its unit, range and default.
func (p Param) Text() string {
	if len(p.Names) > 0 {
		return fmt.Sprintf("%s: one of %s; default %s", p.Means, strings.Join(p.Names, ", "), p.Names[0])
	}
	whole := ""
	if p.Whole {
		whole = ", a whole number"
	}
	return fmt.Sprintf("%s: %s to %s %s%s; default %s", p.Means, plain(p.Min), plain(p.Max), p.Unit, whole, plain(p.Default))
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// number accepts the number types of JSON, YAML and Go callers.
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

// spreadOK checks the pair; if only one is given, the other is derived.
func spreadOK(v Values, given map[string]any) *Bad {
	p50, p99 := v.Num["p50Ms"], v.Num["p99Ms"]
	if given["p99Ms"] == nil && p99 < p50 {
		v.Num["p99Ms"], p99 = p50, p50
	}
	if given["p50Ms"] == nil && p99 < p50 {
		v.Num["p50Ms"], p50 = p99, p99
	}
	if p99 < p50 {
		return Badly("params.p99Ms", "must not be below p50Ms (%v)", p50)
	}
	return nil
}

// onlyAlone makes a default apply only if no parameter is given.
func onlyAlone(name string) func(Values, map[string]any) *Bad {
	return func(v Values, given map[string]any) *Bad {
		if _, ok := given[name]; !ok && len(given) > 0 {
			v.Num[name] = 0
		}
		return nil
	}
}
