package judge

import (
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/vocab"
)

// phoneDecided parses a call to a place's number; nil if nothing was decided or the caller is unknown.
func (v *View) phoneDecided(c *call, skew int64) *deciding {
	answered, _ := c.Out["answered"].(bool)
	d := &deciding{call: c, place: c.PlaceID, fresh: v.freshCaller(c), ambig: c.long()}
	p := v.places[d.place]
	if !c.ok() || !answered || !v.knows(p, c) {
		return nil
	}
	phone, known := v.second().caller(p, c)
	if !known {
		return nil
	}
	d.door, d.outcome = c.out("doorId"), results[vocab.Result(c.out("result"))]
	if c.Route == SIPRoute && !v.overSIP(d) {
		return nil
	}
	switch {
	case d.opened() && d.door == "" && c.Route != SIPRoute:
		return nil
	case d.opened():
	case c.out("result") == string(vocab.Denied):
		d.reason = vocab.Reason(c.out("reason"))
	default:
		return nil
	}
	entries := during(v, c, p.entries)
	for _, rev := range v.revisions(p, c) {
		for _, at := range []int64{c.SentAt - skew, c.At + skew} {
			for _, x := range entries {
				d.rulings = append(d.rulings, p.content.ruleCall(phone, rev, at, x.is))
			}
		}
	}
	return d
}

// caller is the hash of a caller's phone in a place's content, "" for one without any grant; known is false if the
// clients can't attribute every grant.
func (s *second) caller(p *place, c *call) (phone string, known bool) {
	if c.in("from") == "" { // withheld, or in a form that the clients don't use
		return "", false
	}
	if hash := s.phones[p.id+" "+c.in("from")]; hash != "" {
		return strings.TrimPrefix(hash, p.id+" "), true
	}
	for hash := range p.content.phones {
		if s.people[p.id+" "+hash] == "" {
			return "", false
		}
	}
	return "", true
}

// ruleCall decides about a caller: for the grants that are valid now, the credited one first, the first entry door in
// scope; else the first entry door whose window is free; else nothing opens.
func (c *content) ruleCall(phone string, rev, now int64, entries []string) ruling {
	var grants []refGrant
	if phone != "" {
		grants = c.of(phone, rev)
	}
	if doors := callDoors(grants, now, entries); len(doors) > 0 {
		return c.ruleDoors(phone, rev, now, doors)
	}
	var closed []string
	for _, door := range entries {
		switch mode, ok := modeAt(until(c.windows, rev), until(c.hours, rev), door, now); {
		case !ok:
			return ruling{unknown: true}
		case mode == "free":
			return ruling{allow: true, reasons: []vocab.Reason{vocab.FreeWindow}, doors: []string{door}}
		case mode == "closed":
			closed = append(closed, door)
		}
	}
	return refuseCall(grants, now, entries, closed)
}

// refuseCall is the ruling for a caller who gets no door: it names a near miss, at an entry door of the grants that miss
// so. Grants revoked or ended long ago may have left the content, so nobody knows their doors.
func refuseCall(grants []refGrant, now int64, entries, closed []string) ruling {
	why := weigh(grants, "", now).reasons
	if len(grants) == 0 {
		why = []vocab.Reason{vocab.NoValidGrant}
	}
	r := deny(append(slices.Clone(why), vocab.Revoked, vocab.Expired)...)
	r.at = map[vocab.Reason][]string{vocab.NoValidGrant: {""}, vocab.DoorOutOfScope: {""}}
	if slices.Contains(why, vocab.DoorOutOfScope) { // a grant is valid, but none for an entry door: no door is tried
		return r
	}
	later := slices.Contains(why, vocab.NotStarted)
	if later {
		r.at[vocab.NotStarted] = []string{""}
	}
	for _, door := range entries {
		opens := slices.ContainsFunc(grants, func(g refGrant) bool { return !g.Revoked && now < g.StartsAt && slices.Contains(g.Doors, door) })
		if opens {
			r.at[vocab.NotStarted] = append(r.at[vocab.NotStarted], door)
		}
		if slices.Contains(closed, door) && (opens || !later) {
			r.at[vocab.ClosedWindow] = append(r.at[vocab.ClosedWindow], door)
		}
	}
	if len(r.at[vocab.ClosedWindow]) > 0 {
		r.reasons = append(r.reasons, vocab.ClosedWindow)
	}
	return r
}

// ruleDoors is the ruling for the doors of which the caller gets one, if it is the same for all of them.
func (c *content) ruleDoors(phone string, rev, now int64, doors []string) ruling {
	r := c.ruleFor(phone, doors[0], rev, now)
	for _, door := range doors[1:] {
		if o := c.ruleFor(phone, door, rev, now); o.unknown || o.allow != r.allow || !slices.Equal(o.reasons, r.reasons) {
			return ruling{unknown: true}
		} else {
			r.credits = append(r.credits, o.credits...)
		}
	}
	if r.doors = doors; !r.allow {
		r.at = map[vocab.Reason][]string{vocab.ClosedWindow: doors}
	}
	return r
}

// elsewhere reports whether a refusal names a door, or none, although its reason belongs to another.
func (d *deciding) elsewhere() bool {
	return !slices.ContainsFunc(d.rulings, func(r ruling) bool {
		doors, known := r.at[d.reason]
		return slices.Contains(r.reasons, d.reason) && (!known || slices.Contains(doors, d.door))
	})
}

// callDoors are the doors of which a caller with grants gets one: several if several grants may be the credited one.
func callDoors(grants []refGrant, now int64, entries []string) (doors []string) {
	valid := slices.DeleteFunc(slices.Clone(grants), func(g refGrant) bool {
		return g.Revoked || now < g.StartsAt || g.EndsAt != 0 && now >= g.EndsAt
	})
	for len(valid) > 0 && len(doors) == 0 {
		credits := credited(valid)
		valid = slices.DeleteFunc(valid, func(g refGrant) bool {
			if !slices.Contains(credits, g.ID) {
				return false
			}
			if i := slices.IndexFunc(entries, func(door string) bool { return slices.Contains(g.Doors, door) }); i >= 0 {
				doors = append(doors, entries[i])
			}
			return true
		})
	}
	return doors
}
