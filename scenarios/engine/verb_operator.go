package engine

import (
	"maps"

	"github.com/doorlab/doorlab/scenarios/expression"
)

func (k *Key) title() string { return k.Name.raw + k.Revoke.raw }

// run issues or revokes an API key.
func (k *Key) run(x *frame) (fields, error) {
	if x.run.lab == nil {
		return nil, errNoControl
	}
	if k.Revoke.set() {
		v, err := k.Revoke.eval(x.scope)
		if err != nil {
			return nil, err
		}
		id, err := one(v, "keyId")
		if err != nil {
			return nil, err
		}
		return nil, x.run.lab.ask(x.ctx, x.run.lab.main, "DELETE", "/keys/"+esc(id), nil, nil)
	}
	place, err := x.place(k.Place)
	if err != nil {
		return nil, err
	}
	name, err := k.Name.str(x.scope)
	if err != nil {
		return nil, err
	}
	scopes := k.Scopes
	if len(scopes) == 0 {
		scopes = []string{"space:partner", "device:door"}
	}
	var out fields
	err = x.run.lab.ask(x.ctx, x.run.lab.main, "POST", "/keys", map[string]any{"placeId": place, "scopes": scopes, "name": name, "sim": k.Sim}, &out)
	if err != nil {
		return nil, err
	}
	x.run.mask.add(expression.Show(out["apiKey"]))
	out["place"] = place
	if name != "" {
		x.scope.root().set(name, out)
	}
	return out, nil
}

// run gives a membership.
func (m *Membership) run(x *frame) (fields, error) { return m.give(x, "/memberships", "") }

// run gives a reservation.
func (m *Reservation) run(x *frame) (fields, error) { return m.give(x, "/reservations", "+72h") }

func (g *Grant) title() string { return g.Person.raw }

func (g *Grant) give(x *frame, path, until string) (fields, error) {
	if x.run.lab == nil {
		return nil, errNoControl
	}
	name, err := g.Person.str(x.scope)
	if err != nil {
		return nil, err
	}
	who, err := x.newPerson(name, g.Place, g.Phone)
	if err != nil {
		return nil, err
	}
	from, err := x.at(g.From, "now-1h")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"placeId": who["place"], "phone": who["phone"], "name": name, "startsAt": rfc3339(from)}
	if g.To.set() || until != "" {
		to, err := x.at(g.To, until)
		if err != nil {
			return nil, err
		}
		body["endsAt"] = rfc3339(to)
	}
	doors, err := x.doorList(g.Doors)
	if err != nil {
		return nil, err
	}
	if doors != nil {
		body["doorIds"] = doors
	}
	var out fields
	if err := x.operated("POST", path, expression.Show(who["place"]), body, &out); err != nil {
		return nil, err
	}
	maps.Copy(who, out)
	x.scope.root().set(name, who)
	return out, nil
}

func (p *PlaceSet) title() string { return p.Place.raw }

// run changes a place as the operator.
func (p *PlaceSet) run(x *frame) (fields, error) {
	id, err := x.place(p.Place)
	if err != nil {
		return nil, err
	}
	return x.patch("/places/"+esc(id), "", p.Set)
}

func (d *DoorSet) title() string { return d.Doors.raw }

// run changes doors as the operator.
func (d *DoorSet) run(x *frame) (out fields, err error) {
	doors, err := x.doors(d.Doors)
	if err != nil {
		return nil, err
	}
	for _, id := range doors {
		if out, err = x.patch("/doors/"+esc(id), x.run.dir.placeOf(id), d.Set); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (x *frame) patch(path, placeID string, set map[string]Any) (out fields, err error) {
	if x.run.lab == nil {
		return nil, errNoControl
	}
	body := map[string]any{}
	for k := range set {
		if body[k], err = set[k].eval(x.scope); err != nil {
			return nil, err
		}
	}
	if placeID == "" {
		err = x.run.lab.ask(x.ctx, x.run.lab.main, "PATCH", path, body, &out)
	} else { // which doors a caller gets in by depends on it
		err = x.operated("PATCH", path, placeID, body, &out)
	}
	return out, err
}
