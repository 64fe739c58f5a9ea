package api

import (
	"cmp"

	"github.com/doorlab/doorlab/internal/each"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/board"
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

// deletePolicies deletes by ref or by id, or all.
func deletePolicies(c *call) (any, error) {
	n, err := c.api.cfg.Places.DeletePolicies(c.caller(), c.door.ID,
		place.PolicyQuery{Ref: c.query.Str("ref"), PolicyID: c.query.Str("policyId")})
	return gen.Deleted{Deleted: n}, err
}

func policyView(p place.PolicyView) gen.Policy {
	from, to := p.Period()
	return gen.Policy{PolicyID: p.ID, Mode: p.Mode, CreatedAt: stamp.Time(p.Created()), Active: p.Active,
		Window: gen.PolicyWindow{Ref: p.Ref, Week: p.Week, StartsAt: stamp.Time(from), EndsAt: stamp.Time(to)}}
}
