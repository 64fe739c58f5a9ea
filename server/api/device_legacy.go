package api

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// listDoors lists the doors in the legacy form, see LEG-1.
func listDoors(c *call) (any, error) {
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	return list{each.Of(doors, func(d place.Door) gen.LegacyDoor {
		s := c.api.cfg.Boards.Status(d.BoardID)
		state := cmp.Or(s.Standings[d.Channel].State, "locked") // the resting state, until the board has reported another
		return gen.LegacyDoor{ID: d.ID, Name: d.Name, BoardID: d.BoardID, DoorState: state, Online: s.State == board.Online}
	}), len(doors)}, err
}

// legacyCommand handles a command by path, see LEG-1.
func legacyCommand(name string) handler {
	return taking(func(c *call, b gen.HoldDoorBody) (any, error) { return c.command(name, b.Minutes, "") }) // [LEG-1]
}

// listPolicies lists a door's time-window policies.
func listPolicies(c *call) (any, error) {
	policies, err := c.api.cfg.Places.Policies(c.who.PlaceID, c.door.ID)
	return list{each.Of(policies, policyView), len(policies)}, err
}

// setPolicy stores a policy; one with the same ref is replaced.
func setPolicy(c *call, b gen.SetPolicyBody) (any, error) {
	w := b.Window
	p, err := c.api.cfg.Places.SetPolicy(c.caller(), c.door.ID, place.PolicyRequest{
		Ref: &w.Ref, Mode: &b.Mode, Week: week(w.Week), StartsAt: w.StartsAt.Ptr(), EndsAt: w.EndsAt.Ptr(),
	})
	return policyView(p), err
}

// deletePolicies deletes by ref or by id, or all. All windows of a door are too much to lose by a misspelt parameter.
func deletePolicies(c *call) (any, error) {
	given := slices.Sorted(maps.Keys(c.r.URL.Query()))
	if len(c.query) == 0 && len(given) > 0 {
		return nil, fail.New(fail.InvalidQuery, fmt.Sprintf("%q is not a known query parameter%s; only without a query are all policies removed",
			given[0], near.Hint(given[0], []string{"ref", "policyId"})), "field", given[0])
	}
	n, err := c.api.cfg.Places.DeletePolicies(c.caller(), c.door.ID,
		place.PolicyQuery{Ref: c.query.Str("ref"), PolicyID: c.query.Str("policyId")})
	return gen.Deleted{Deleted: n}, err
}

func policyView(p place.PolicyView) gen.Policy {
	from, to := p.Period()
	return gen.Policy{PolicyID: p.ID, Mode: p.Mode, CreatedAt: stamp.Time(p.Created()), Active: p.Active,
		Window: gen.PolicyWindow{Ref: p.Ref, Week: p.Week, StartsAt: stamp.Time(from), EndsAt: stamp.Time(to)}}
}
