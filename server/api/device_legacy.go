package api

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/place"
)

type legacyDoor struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	BoardID   string `json:"boardId"`
	DoorState string `json:"doorState"`
	Online    bool   `json:"online"`
}

// listDoors lists the doors, older form [LEG-1].
func listDoors(c *call) (any, error) {
	doors, err := c.api.cfg.Directory.Doors(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	return list{each(doors, func(d place.Door) legacyDoor {
		s := c.api.cfg.Boards.Status(d.BoardID)
		state := s.Standings[d.Channel].State
		if state == "" {
			state = "locked" // how a door rests that nobody has heard of yet
		}
		return legacyDoor{ID: d.ID, Name: d.Name, BoardID: d.BoardID, DoorState: state, Online: s.State == device.StateOnline}
	}), len(doors)}, nil
}

// legacyCommand is a command by path [LEG-1].
func legacyCommand(command string) handler {
	return func(c *call) (any, error) { return c.command(command, c.body.num("minutes"), "") }
}

type policy struct {
	PolicyID  string       `json:"policyId"`
	Window    policyWindow `json:"window"`
	Mode      string       `json:"mode"`
	CreatedAt stamp        `json:"createdAt"`
	Active    bool         `json:"active"`
}

type policyWindow struct {
	Ref      string      `json:"ref"`
	Week     access.Week `json:"week,omitempty"`
	StartsAt *stamp      `json:"startsAt,omitempty"`
	EndsAt   *stamp      `json:"endsAt,omitempty"`
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

type deleted struct {
	Deleted int `json:"deleted"`
}

// deletePolicies removes by ref, by id, or all.
func deletePolicies(c *call) (any, error) {
	n, err := c.api.cfg.Places.DeletePolicies(c.who.PlaceID, c.door.ID,
		place.PolicyQuery{Ref: c.query.str("ref"), PolicyID: c.query.str("policyId")})
	return deleted{n}, err
}

func policyView(p place.PolicyView) policy {
	out := policy{PolicyID: p.ID, Mode: p.Mode, CreatedAt: stamp(p.Created()), Active: p.Active,
		Window: policyWindow{Ref: p.Ref, Week: p.Week}}
	out.Window.StartsAt, out.Window.EndsAt = fromMs(p.StartsAt), fromMs(p.EndsAt)
	return out
}
