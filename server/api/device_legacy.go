package api

import (
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/place"
)

// listDoors lists the doors, older form [LEG-1].
func listDoors(c *call) (any, error) {
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	return list{each(doors, func(d place.Door) gen.LegacyDoor {
		s := c.api.cfg.Boards.Status(d.BoardID)
		state := s.Standings[d.Channel].State
		if state == "" {
			state = "locked" // how a door rests that nobody has heard of yet
		}
		return gen.LegacyDoor{ID: d.ID, Name: d.Name, BoardID: d.BoardID, DoorState: state, Online: s.State == device.StateOnline}
	}), len(doors)}, nil
}

// legacyCommand is a command by path [LEG-1].
func legacyCommand(command string) handler {
	return func(c *call) (any, error) { return c.command(command, c.body.num("minutes"), "") }
}

// listPolicies lists a door's time-window policies.
func listPolicies(c *call) (any, error) {
	policies, err := c.api.cfg.Places.Policies(c.who.PlaceID, c.door.ID)
	if err != nil {
		return nil, err
	}
	return list{each(policies, policyView), len(policies)}, nil
}

// setPolicy stores one; a repeat of a ref replaces.
func setPolicy(c *call) (any, error) {
	w := c.body.obj("window")
	p, err := c.api.cfg.Places.SetPolicy(c.who.PlaceID, c.door.ID, place.PolicyRequest{
		Ref: w.text("ref"), Mode: c.body.text("mode"), Week: week(w.obj("week")), StartsAt: w.at("startsAt"), EndsAt: w.at("endsAt"),
	})
	if err != nil {
		return nil, err
	}
	return policyView(p), nil
}

// deletePolicies removes by ref, by id, or all.
func deletePolicies(c *call) (any, error) {
	n, err := c.api.cfg.Places.DeletePolicies(c.who.PlaceID, c.door.ID,
		place.PolicyQuery{Ref: c.query.str("ref"), PolicyID: c.query.str("policyId")})
	return gen.Deleted{Deleted: n}, err
}

func policyView(p place.PolicyView) gen.Policy {
	return gen.Policy{PolicyID: p.ID, Mode: p.Mode, CreatedAt: stamp.Time(p.Created()), Active: p.Active,
		Window: gen.PolicyWindow{Ref: p.Ref, Week: p.Week, StartsAt: fromMs(p.StartsAt), EndsAt: fromMs(p.EndsAt)}}
}
