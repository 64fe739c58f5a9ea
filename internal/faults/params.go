package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
)

// Bad says what is wrong with a request to arm a fault.
type Bad struct {
	Field   string // as in the control API: "fault", "boards", "params.code"
	Reason  string // what follows the field in a sentence
	Nearest string // the nearest valid name, or ""
	Missing bool   // required and not there
	Whole   bool   // Reason is a sentence without the field
}

func (e *Bad) Error() string {
	text := e.Reason
	if !e.Whole {
		text = e.Field + " " + text
	}
	if e.Nearest != "" {
		text += fmt.Sprintf(", did you mean %q?", e.Nearest)
	}
	return text
}

// Badly makes a Bad with a formatted reason, which follows the field.
func Badly(field, format string, a ...any) *Bad {
	return &Bad{Field: field, Reason: fmt.Sprintf(format, a...)}
}

// Sentence makes a Bad whose reason is a sentence of its own.
func Sentence(field, format string, a ...any) *Bad {
	return &Bad{Field: field, Reason: fmt.Sprintf(format, a...), Whole: true}
}

// Unknown makes a Bad for an invalid name of something; if none is near, it lists the valid ones.
func Unknown(field, what, name string, valid []string) *Bad {
	bad := Sentence(field, "%q is not a valid %s", name, what)
	if bad.Nearest = near.Name(name, valid); bad.Nearest == "" && len(valid) > 0 {
		bad.Reason += ", valid: " + strings.Join(valid, " ")
	}
	return bad
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
	for _, p := range f.Params {
		x, ok := given[p.Name]
		if p.Alone && len(given) > 0 {
			p.Default = 0
		}
		if err := v.set(p, x, ok); err != nil {
			return Values{}, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if bad := f.unknown(name); bad != nil {
			return Values{}, bad
		}
	}
	if f.check != nil {
		if err := f.check(v, given); err != nil {
			return Values{}, err
		}
	}
	return v, nil
}

// unknown says that the fault has no such parameter; nil if it has.
func (f Fault) unknown(name string) *Bad {
	names := each.Of(f.Params, func(p Param) string { return p.Name })
	switch {
	case slices.Contains(names, name):
		return nil
	case len(names) == 0:
		return Badly("params."+name, "must be left out: %s has no parameters", f.Name)
	}
	return Unknown("params."+name, "parameter of "+f.Name, name, names)
}

func (v Values) set(p Param, x any, given bool) error {
	field := "params." + p.Name
	if len(p.Names) > 0 {
		s, ok := x.(string)
		switch {
		case !given:
			s = p.Names[0]
		case !ok:
			return Badly(field, "must be text")
		case !slices.Contains(p.Names, s):
			return Unknown(field, p.Name, s, p.Names)
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
		return Badly(field, "must be %s to %s", plain(p.Min), plain(p.Max))
	case p.Whole && f != math.Trunc(f):
		return Badly(field, "must be a whole number")
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
	alone := ""
	if p.Alone {
		alone = " if no parameter is given, otherwise 0"
	}
	return fmt.Sprintf("%s: %s to %s %s%s; default %s%s", p.Means, amount.Number(p.Min), amount.Number(p.Max), p.Unit, whole, amount.Number(p.Default), alone)
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
