package fault

import (
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/faults"
)

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

// Request is a Spec as the control API takes it.
type Request struct {
	Fault    string         `json:"fault"`
	Boards   []string       `json:"boards"`
	PlaceID  string         `json:"placeId"`
	Share    *float64       `json:"share"`
	DoorIDs  []string       `json:"doorIds"`
	Commands []string       `json:"commands"`
	Nth      *int           `json:"nth"` // in Go 0 means every command; here it is an error
	For      *string        `json:"for"` // as "10m"
	Params   map[string]any `json:"params"`
}

// Spec reads the duration and the number. Error: *faults.Bad.
func (r Request) Spec() (Spec, error) {
	out := Spec{Fault: r.Fault, Boards: r.Boards, PlaceID: r.PlaceID, Share: r.Share, DoorIDs: r.DoorIDs, Commands: r.Commands, Params: r.Params}
	const empty = "must not be empty; leave it out for all"
	switch {
	case r.DoorIDs != nil && len(r.DoorIDs) == 0:
		return Spec{}, faults.Badly("doorIds", empty)
	case r.Commands != nil && len(r.Commands) == 0:
		return Spec{}, faults.Badly("commands", empty)
	}
	if r.Nth != nil {
		if *r.Nth < 1 {
			return Spec{}, faults.Badly("nth", "must be 1 or more")
		}
		out.Nth = *r.Nth
	}
	if r.For != nil {
		f, err := amount.ParseDuration(*r.For)
		if amount.TooLong(*r.For) {
			return Spec{}, faults.Badly("for", "is too long: at most %.0fh", amount.Longest.Hours())
		}
		if err != nil {
			return Spec{}, faults.Badly("for", "must be a duration such as 10m or 2d")
		}
		if f <= 0 {
			return Spec{}, faults.Badly("for", "must be above 0")
		}
		out.For = f
	}
	return out, nil
}

// check fills in defaults and validates what doesn't depend on the fleet.
func (spec *Spec) check() (*kind, faults.Values, error) {
	none := faults.Values{}
	asked := faults.Asked{Fault: spec.Fault, Doors: len(spec.DoorIDs) > 0, Commands: spec.Commands, Share: spec.Share, For: spec.For > 0, Params: spec.Params}
	if spec.Nth != 0 {
		asked.Nth = new(float64(spec.Nth))
	}
	if bad := asked.Problems(); len(bad) > 0 {
		return nil, none, bad[0]
	}
	if spec.For < 0 {
		return nil, none, faults.Badly("for", "must be positive")
	}
	f, _ := faults.Lookup(spec.Fault)
	v, err := f.Values(spec.Params)
	if err != nil {
		return nil, none, err
	}
	k, _ := lookup(f.Name)
	return k, v, nil
}
