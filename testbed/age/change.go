package age

import (
	"net/http"
	"time"
)

const hour = time.Hour

// settle gives the people of a new world their initial grants.
func (d *drawing) settle() {
	if d.n > 0 {
		return
	}
	for _, p := range d.r.places {
		for i, who := range p.people {
			switch i % 4 {
			case 0, 1:
				d.then(d.from.Add(time.Minute), p, d.permit(p, who))
			case 2:
				if i%8 == 2 {
					d.then(d.from.Add(2*time.Minute), p, d.membership(p, who))
				}
			}
		}
	}
}

func (d *drawing) anybody(p *place) *person { return p.people[d.rng.IntN(len(p.people))] }

// permit registers a permit, or registers it again: from up to a day ago or from soon
// on, for an hour to 30 days.
func (d *drawing) permit(p *place, who *person) func() {
	from := time.Duration(d.rng.Int64N(int64(36*hour))) - 24*hour
	long := hour + time.Duration(d.rng.Int64N(int64(20*24*hour)))
	var doors []string
	if d.rng.IntN(3) == 0 {
		for _, at := range p.doors {
			if d.rng.IntN(2) == 0 {
				doors = append(doors, at.id)
			}
		}
	}
	return func() {
		r := d.r
		r.signIn(p)
		now := r.clk.Now()
		starts := now.Add(from).Truncate(time.Second)
		ends := starts.Add(long)
		body := map[string]any{"externalRef": who.ref, "phone": who.phone, "name": who.name, "startsAt": stamp(starts), "endsAt": stamp(ends)}
		if doors != nil {
			body["doorIds"] = doors
		}
		a := r.ask(call{method: http.MethodPost, path: "/space/v1/partner/entry-permits", place: p, body: body})
		if a.Status != http.StatusOK {
			r.failed("registering a permit: %s", a)
			return
		}
		given := data[struct{ PermitID, EntryToken string }](a)
		what := "permit registered"
		if who.permit.at(now) {
			what = "permit registered again"
		}
		who.permit, who.link = held{given.PermitID, ends.Add(r.grantsKept())}, given.EntryToken
		r.did(changes, what)
	}
}

// revoke revokes a permit; its link stays with the person.
func (d *drawing) revoke(p *place, who *person) func() {
	return func() {
		r := d.r
		now := r.clk.Now()
		if !who.permit.at(now) {
			return
		}
		r.signIn(p)
		r.want(r.ask(call{method: http.MethodPost, path: "/space/v1/partner/entry-permits/revoke", place: p, body: map[string]any{"permitId": who.permit.id}}), "revoking a permit")
		if gone := now.Add(r.grantsKept()); gone.Before(who.permit.until) {
			who.permit.until = gone
		}
		r.did(changes, "permit revoked")
	}
}

// membership gives a membership for 40 to 400 days.
func (d *drawing) membership(p *place, who *person) func() {
	long := time.Duration(40+d.rng.IntN(360)) * 24 * hour
	return func() {
		r := d.r
		now := r.clk.Now().Truncate(time.Second)
		if who.membership.at(now) {
			return
		}
		ends := now.Add(long)
		a := r.operate(http.MethodPost, "/memberships", p.id, map[string]any{"placeId": p.id, "phone": who.phone, "name": who.name, "startsAt": stamp(now), "endsAt": stamp(ends)}, true)
		who.membership = held{data[struct{ MembershipID string }](a).MembershipID, ends}
		r.did(changes, "membership given")
	}
}

func (d *drawing) endMembership(p *place, who *person) func() {
	return func() {
		r := d.r
		if !who.membership.at(r.clk.Now()) {
			return
		}
		r.operate(http.MethodDelete, "/memberships/"+who.membership.id+"?placeId="+p.id, p.id, nil, false)
		who.membership = held{}
		r.did(changes, "membership ended")
	}
}

// reservation makes one for some hours that begin soon, or ends the one that somebody still has.
func (d *drawing) reservation(p *place, who *person) func() {
	soon, long := time.Duration(d.rng.Int64N(int64(36*hour))), hour+time.Duration(d.rng.Int64N(int64(30*hour)))
	doors := []string{d.door(p).id}
	return func() {
		r := d.r
		now := r.clk.Now()
		if who.reservation.at(now) {
			r.operate(http.MethodDelete, "/reservations/"+who.reservation.id+"?placeId="+p.id, p.id, nil, false)
			who.reservation = held{}
			r.did(changes, "reservation ended")
			return
		}
		from := now.Add(soon).Truncate(time.Second)
		ends := from.Add(long)
		a := r.operate(http.MethodPost, "/reservations", p.id, map[string]any{"placeId": p.id, "phone": who.phone, "name": who.name, "doorIds": doors, "startsAt": stamp(from), "endsAt": stamp(ends)}, true)
		who.reservation = held{data[struct{ ReservationID string }](a).ReservationID, ends}
		r.did(changes, "reservation made")
	}
}

// read reads what a partner reads.
func (d *drawing) read(p *place) func() {
	path := []string{"/space/v1/partner/entry-permits?limit=100", "/space/v1/partner/entry-logs?sinceDays=2&limit=50", "/space/v1/partner/gate-config",
		"/device/v1/devices", "/core/v1/places/" + p.id + "/events?limit=50", "/core/v1/public/places/" + p.id + "/schedule?days=7"}[d.rng.IntN(6)]
	return func() {
		r := d.r
		r.signIn(p)
		r.want(r.ask(call{method: http.MethodGet, path: path, place: p}), "GET "+path)
		r.did(changes, "read")
	}
}

// want checks that a call that has to succeed did.
func (r *run) want(a *answer, what string) {
	if a.Status != http.StatusOK {
		r.failed("%s: %s", what, a)
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
