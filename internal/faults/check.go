package faults

import (
	"errors"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/doorlab/doorlab/internal/wire"
)

// Commands are those that a fault can be limited to.
var Commands = []string{wire.CmdOpen, wire.CmdHold, wire.CmdClose}

// Later is a parameter whose value isn't known before the run.
type Later struct{}

// Asked is a request to arm a fault: of the control API, a scenario or a load plan. The zero value of a field means that
// it was left out.
type Asked struct {
	Fault    string
	Doors    bool // only the commands of some doors
	Commands []string
	Nth      *float64
	Share    *float64
	For      bool           // it ends by itself
	Params   map[string]any // Later for those that aren't known yet
}

// Problems lists everything that is wrong with a request, whatever boards there are.
func (a Asked) Problems() (out []*Bad) {
	f, known := Lookup(a.Fault)
	switch {
	case a.Fault == "":
		return []*Bad{{Field: "fault", Reason: "is missing", Missing: true}}
	case !known:
		if elsewhere[strings.ToLower(a.Fault)] != "" {
			return []*Bad{Sentence("fault", "%q is not a valid fault%s", a.Fault, Hint(a.Fault))}
		}
		return []*Bad{Unknown("fault", "fault", a.Fault, Names())}
	}
	for field, set := range map[string]bool{"doorIds": a.Doors, "commands": len(a.Commands) > 0, "nth": a.Nth != nil} {
		if set && f.Acts != OnCommand {
			out = append(out, Badly(field, "must be left out: %s does not depend on commands", f.Name))
		}
	}
	for _, c := range a.Commands {
		if !slices.Contains(Commands, strings.TrimPrefix(c, "door.")) {
			out = append(out, Unknown("commands", "command", c, Commands))
		}
	}
	if n := a.Nth; n != nil && (*n < 1 || *n != math.Trunc(*n)) {
		out = append(out, Badly("nth", "must be a whole number, 1 or more"))
	}
	if s := a.Share; s != nil && (math.IsNaN(*s) || *s <= 0 || *s > 1) {
		out = append(out, Badly("share", "must be above 0 and at most 1, which is 100%%"))
	}
	if a.For && f.Acts == AtOnce {
		out = append(out, Badly("for", "must be left out: %s acts only once", f.Name))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Field < out[j].Field })
	return append(out, f.params(a.Params)...)
}

// params lists what is wrong with a fault's parameters.
func (f Fault) params(given map[string]any) (out []*Bad) {
	fixed, later := map[string]any{}, false
	for name, v := range given {
		if v == (Later{}) {
			later = true
		} else {
			fixed[name] = v
		}
	}
	for name := range given {
		if bad := f.unknown(name); bad != nil {
			out = append(out, bad)
			delete(fixed, name)
		}
	}
	for _, p := range f.Params {
		x, ok := fixed[p.Name]
		v := Values{Num: map[string]float64{}, Text: map[string]string{}}
		if bad := (*Bad)(nil); ok && errors.As(v.set(p, x, true), &bad) {
			out = append(out, bad)
		}
	}
	if bad := (*Bad)(nil); len(out) == 0 && !later {
		if _, err := f.Values(fixed); errors.As(err, &bad) { // what they have to do with each other
			out = append(out, bad)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Field < out[j].Field })
	return out
}
