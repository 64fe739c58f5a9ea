package engine

import (
	"cmp"
	"maps"

	"github.com/doorlab/doorlab/scenarios/expression"
)

func (k *Key) title() string { return k.Name.raw + k.Revoke.raw }

func (k *Key) run(x *frame) (fields, error) {
	lab := x.lab()
	if k.Revoke.set() {
		id := need(one(need(k.Revoke.eval(x.scope)), "keyId"))
		return nil, lab.ask(x.ctx, lab.main, "DELETE", "/keys/"+esc(id), nil, nil)
	}
	place := x.place(k.Place)
	name := need(k.Name.str(x.scope))
	scopes := k.Scopes
	if len(scopes) == 0 {
		scopes = []string{"space:partner", "device:door"}
	}
	var out fields
	sure(lab.ask(x.ctx, lab.main, "POST", "/keys", map[string]any{"placeId": place, "scopes": scopes, "name": name, "sim": k.Sim}, &out))
	x.run.mask.add(expression.Show(out["apiKey"]))
	out["place"] = place
	if name != "" {
		x.scope.root().set(name, out)
	}
	return out, nil
}

func (m *Membership) run(x *frame) (fields, error) { return m.give(x, "/memberships", "") }

func (m *Reservation) run(x *frame) (fields, error) { return m.give(x, "/reservations", "+72h") }

func (g *Grant) give(x *frame, path, until string) (fields, error) {
	x.lab() // without one, nobody can be given anything
	name := need(g.Person.str(x.scope))
	who := x.newPerson(name, g.Place, g.Phone)
	from, to := x.span(g.From, g.To, cmp.Or(until, "now"))
	body := map[string]any{"placeId": who["place"], "phone": who["phone"], "name": name, "startsAt": rfc3339(from)}
	if g.To.set() || until != "" {
		body["endsAt"] = rfc3339(to)
	}
	x.doorList(g.Doors, body)
	var out fields
	sure(x.operated("POST", path, expression.Show(who["place"]), body, &out))
	maps.Copy(who, out)
	x.scope.root().set(name, who)
	return out, nil
}

func (p *PlaceSet) run(x *frame) (fields, error) {
	id := x.place(p.Place)
	return x.patch("/places/"+esc(id), "", p.Set)
}

func (d *DoorSet) run(x *frame) (out fields, err error) {
	for _, id := range x.doors(d.Doors) {
		if out, err = x.patch("/doors/"+esc(id), x.run.dir.placeOf(id), d.Set); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (x *frame) patch(path, placeID string, set map[string]Any) (out fields, err error) {
	lab, body := x.lab(), x.values(set)
	if placeID == "" {
		err = lab.ask(x.ctx, lab.main, "PATCH", path, body, &out)
	} else { // which doors a caller gets in by depends on it
		err = x.operated("PATCH", path, placeID, body, &out)
	}
	return out, err
}
