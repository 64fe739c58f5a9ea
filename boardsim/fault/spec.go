package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

// BadSpec says what is wrong with a Spec.
type BadSpec struct {
	Field   string // as in the control API: "fault", "boards", "params.code"
	Reason  string
	Nearest string // the nearest valid name, or ""
	Missing bool   // required and not there
}

// WholeBody is the Field when the body is no JSON object at all.
const WholeBody = "body"

func (e *BadSpec) Error() string {
	if e.Nearest != "" {
		return fmt.Sprintf("%s: %s, did you mean %q?", e.Field, e.Reason, e.Nearest)
	}
	return e.Field + ": " + e.Reason
}

func bad(field, format string, a ...any) *BadSpec {
	return &BadSpec{Field: field, Reason: fmt.Sprintf(format, a...)}
}

// unknown is a name that is none of the valid ones.
func unknown(field, name string, valid []string) *BadSpec {
	return &BadSpec{Field: field, Reason: fmt.Sprintf("unknown %q", name), Nearest: nearest(name, valid)}
}

// Spec arms a fault. Exactly one of Boards, PlaceID and Share picks its boards.
//
// A share takes boards in an order drawn from the seed, those held by the fewest
// armed shares first: 5 % + 5 % + 5 % + 5 % of one fleet are disjoint while they fit.
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

// ParseSpec reads the control API's body ("for" as "10m"). Error: *BadSpec.
func ParseSpec(body []byte) (Spec, error) {
	var in struct {
		Spec
		For string `json:"for"`
		Nth *int   `json:"nth"` // 0 means every in Go, and nothing in JSON
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return Spec{}, broken(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Spec{}, bad(WholeBody, "more than one JSON value")
	}
	if in.Nth != nil {
		if *in.Nth < 1 {
			return Spec{}, bad("nth", "must be 1 or more")
		}
		in.Spec.Nth = *in.Nth
	}
	if in.For != "" {
		f, err := time.ParseDuration(in.For)
		if err != nil || f <= 0 {
			return Spec{}, bad("for", "%q is no duration like 10m", in.For)
		}
		in.Spec.For = f
	}
	return in.Spec, nil
}

var fields = []string{"fault", "boards", "placeId", "share", "doorIds", "commands", "nth", "for", "params"}

func broken(err error) *BadSpec {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return bad(strings.TrimPrefix(t.Field, "Spec."), "takes no %s", t.Value)
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		name = strings.Trim(name, `"`)
		return unknown(name, name, fields)
	}
	return bad(WholeBody, "%s", strings.TrimPrefix(err.Error(), "json: "))
}

var commands = []string{wire.CmdOpen, wire.CmdHold, wire.CmdClose}

// check fills in and validates what needs no fleet.
func (spec *Spec) check() (*kind, values, error) {
	k := lookup(spec.Fault)
	if k == nil {
		if spec.Fault == "" {
			return nil, values{}, &BadSpec{Field: "fault", Reason: "is missing", Missing: true}
		}
		return nil, values{}, unknown("fault", spec.Fault, Names())
	}
	if k.command == nil {
		for _, c := range []struct {
			field string
			set   bool
		}{{"doorIds", len(spec.DoorIDs) > 0}, {"commands", len(spec.Commands) > 0}, {"nth", spec.Nth != 0}} {
			if c.set {
				return nil, values{}, bad(c.field, "%s does not depend on commands", k.name)
			}
		}
	}
	for i, c := range spec.Commands {
		c = strings.TrimPrefix(c, "door.")
		if !slices.Contains(commands, c) {
			return nil, values{}, unknown("commands", spec.Commands[i], commands)
		}
	}
	switch {
	case spec.Nth < 0:
		return nil, values{}, bad("nth", "must be 1 or more")
	case spec.For < 0:
		return nil, values{}, bad("for", "must be positive")
	case spec.For > 0 && k.instant != nil:
		return nil, values{}, bad("for", "%s acts at once and is gone", k.name)
	}
	v, err := k.values(spec.Params)
	if err != nil {
		return nil, values{}, err
	}
	return k, v, nil
}
