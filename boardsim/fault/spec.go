package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/wire"
)

// WholeBody is the Field of an error if the body is not a JSON object at all.
const WholeBody = "body"

// Spec arms a fault. Exactly one of Boards, PlaceID and Share selects its boards.
//
// A share takes boards in an order drawn from the seed, those held by the fewest armed shares first: 5 % + 5 % + 5 % +
// 5 % of one fleet are disjoint as long as there are enough boards.
type Spec struct {
	Fault    string         `json:"fault"`
	Boards   []string       `json:"boards,omitempty"`
	PlaceID  string         `json:"placeId,omitempty"`
	Share    *float64       `json:"share,omitempty"`    // 0 < share <= 1 of all boards of live places, at least one board
	DoorIDs  []string       `json:"doorIds,omitempty"`  // empty = all; command faults only
	Commands []string       `json:"commands,omitempty"` // empty = all; command faults only
	Nth      int            `json:"nth,omitempty"`      // 0 = every; else only the n-th command that matches, counted over the whole cohort
	For      time.Duration  `json:"-"`                  // domain time, 0 = until removed
	Params   map[string]any `json:"params,omitempty"`
}

// ParseSpec reads the control API's body ("for" as "10m"). Error: *faults.Bad.
func ParseSpec(body []byte) (Spec, error) {
	var in struct {
		Spec
		For string `json:"for"`
		Nth *int   `json:"nth"` // in Go 0 means every command; in JSON it is an error
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return Spec{}, broken(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Spec{}, faults.Badly(WholeBody, "more than one JSON value")
	}
	if in.Nth != nil {
		if *in.Nth < 1 {
			return Spec{}, faults.Badly("nth", "must be 1 or more")
		}
		in.Spec.Nth = *in.Nth
	}
	if in.For != "" {
		f, err := time.ParseDuration(in.For)
		if err != nil || f <= 0 {
			return Spec{}, faults.Badly("for", "%q is not a duration such as 10m", in.For)
		}
		in.Spec.For = f
	}
	return in.Spec, nil
}

var fields = []string{"fault", "boards", "placeId", "share", "doorIds", "commands", "nth", "for", "params"}

func broken(err error) *faults.Bad {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return faults.Badly(strings.TrimPrefix(t.Field, "Spec."), "takes no %s", t.Value)
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		name = strings.Trim(name, `"`)
		return faults.Unknown(name, name, fields)
	}
	return faults.Badly(WholeBody, "%s", strings.TrimPrefix(err.Error(), "json: "))
}

var commands = []string{wire.CmdOpen, wire.CmdHold, wire.CmdClose}

// check fills in defaults and validates what doesn't depend on the fleet.
func (spec *Spec) check() (*kind, faults.Values, error) {
	none := faults.Values{}
	f, known := faults.Lookup(spec.Fault)
	switch {
	case spec.Fault == "":
		return nil, none, &faults.Bad{Field: "fault", Reason: "is missing", Missing: true}
	case !known:
		return nil, none, faults.Unknown("fault", spec.Fault, faults.Names())
	}
	if f.Acts != faults.OnCommand {
		for _, c := range []struct {
			field string
			set   bool
		}{{"doorIds", len(spec.DoorIDs) > 0}, {"commands", len(spec.Commands) > 0}, {"nth", spec.Nth != 0}} {
			if c.set {
				return nil, none, faults.Badly(c.field, "%s does not depend on commands", f.Name)
			}
		}
	}
	for i, c := range spec.Commands {
		c = strings.TrimPrefix(c, "door.")
		if !slices.Contains(commands, c) {
			return nil, none, faults.Unknown("commands", spec.Commands[i], commands)
		}
	}
	switch {
	case spec.Nth < 0:
		return nil, none, faults.Badly("nth", "must be 1 or more")
	case spec.For < 0:
		return nil, none, faults.Badly("for", "must be positive")
	case spec.For > 0 && f.Acts == faults.AtOnce:
		return nil, none, faults.Badly("for", "%s acts once and is over, so it has no duration", f.Name)
	}
	v, err := f.Values(spec.Params)
	if err != nil {
		return nil, none, err
	}
	k, _ := lookup(f.Name)
	return k, v, nil
}
