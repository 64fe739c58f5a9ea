package explore

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/doorlab/doorlab/internal/each"
)

// name of the n-th permit of a person, by which a scenario knows it.
func permitName(o Op) string { return people[o.Who] + strconv.Itoa(o.Nth+1) }

func (m *model) named(name string) *grant {
	i := slices.IndexFunc(m.grants, func(g *grant) bool { return g.kind == "permit" && g.name == name })
	if i < 0 {
		return nil
	}
	return m.grants[i]
}

// known is the permit that an operation names, or another one if that was never registered; nil if there is none.
func (m *model) known(o Op) *grant {
	if g := m.named(permitName(o)); g != nil {
		return g
	}
	permits := m.permits()
	if len(permits) == 0 {
		return nil
	}
	return permits[(2*o.Who+o.Nth)%len(permits)]
}

// owner are the person and the number in a permit's name.
func (g *grant) owner() (who, nth int) {
	return slices.Index(people, g.name[:len(g.name)-1]), int(g.name[len(g.name)-1] - '1')
}

func (m *model) permits() []*grant {
	return each.If(m.grants, func(g *grant) bool { return g.kind == "permit" })
}

func phoneOf(who int) string { return fmt.Sprintf("phone(%q)", people[who]) }

// permit registers one, or registers it again.
func (m *model) permit(o Op) {
	if g := m.known(o); g != nil && o.Flag {
		o.Who, o.Nth = g.owner()
	}
	name := permitName(o)
	old := m.named(name)
	who, doors := o.Who, bits(o.Doors)
	from, to := m.now+o.From, m.now+o.To+int64(o.Who*2+o.Nth)*second
	switch {
	case o.Name == "same" && old != nil:
		from, to, who, doors = old.from, old.to, old.phone, nil
	case o.Name == "phone":
		who = (o.Who + 1) % len(people)
	case o.Name == "long":
		from, to = m.now, m.now+30*day+1
	case o.Name == "backwards":
		to = from
	}
	args := fields{"person", name, "place", "lab", "phone", "${" + phoneOf(who) + "}", "from", moment(from), "to", moment(to)}
	if to <= from && (o.Name == "empty" || o.Name == "foreign") {
		return
	}
	scope := doors
	switch {
	case o.Name == "empty":
		args = append(args, "doors", list{})
	case o.Name == "foreign":
		args = append(args, "doors", list{"door[0]", "elsewhere.door"})
	case len(doors) > 0:
		args = append(args, "doors", doorNames(doors))
	case old != nil:
		scope = old.doors
	default:
		scope = m.entries()
	}
	if code, status := m.refuses(o.Name, from, to, scope); code != "" {
		m.add("permit", append(args, "status", status, "error", code)).clauses = []string{"PERM-5", "PERM-6"}
		return
	}
	m.registered(name, who, from, to, scope, args)
}

// refuses is why a period and a scope are refused, "" = they are accepted.
func (m *model) refuses(how string, from, to int64, scope []int) (code string, status int) {
	switch {
	case to <= from:
		return "invalid_period", 400 // permit leaves out what is wrong twice
	case how == "empty":
		return "empty_door_ids", 400
	case how == "foreign":
		return "invalid_door_ids", 400
	case len(scope) == 0:
		return "rule_violated", 409
	}
	most := 720
	for _, d := range scope {
		most = min(most, m.longest[d])
	}
	if to-from > int64(most)*hour {
		return "permit_period_too_long", 409
	}
	return "", 0
}

// registered is an accepted create: the token stays the same as long as nothing is revoked.
func (m *model) registered(name string, phone int, from, to int64, scope []int, args fields) {
	g := m.named(name)
	again := g != nil
	if !again {
		g = &grant{kind: "permit", name: name, made: m.now, revoked: -1}
		m.grants = append(m.grants, g)
	}
	expect := []string{`data.url endsWith "/entry?t=" + data.entryToken`}
	capture := fields{}
	switch {
	case !again:
		capture = fields{name + "_id", "data.permitId", token(g), "data.entryToken"}
	case g.revoked >= 0:
		expect = append(expect, "data.permitId == "+name+"_id", "data.entryToken != "+token(g))
		g.links++
		capture = fields{token(g), "data.entryToken"}
	default:
		expect = append(expect, "data.permitId == "+name+"_id", "data.entryToken == "+token(g))
	}
	same := again && g.revoked < 0 && g.phone == phone && g.from == from && g.to == to && slices.Equal(g.doors, scope)
	g.phone, g.from, g.to, g.doors, g.revoked, g.reason = phone, from, to, scope, -1, ""
	if !same {
		g.changed = m.now
		m.changed()
	}
	s := m.add("permit", args, expect...)
	s.capture, s.clauses = capture, []string{"PERM-2", "PERM-3"}
}

// token is the name of a permit's newest entry token.
func token(g *grant) string { return fmt.Sprintf("%s_t%d", g.name, g.links) }

// revoke revokes by reference or id; a repeat changes nothing.
func (m *model) revoke(o Op) {
	g := m.known(o)
	if g == nil {
		return
	}
	by, reason := "ref", "reason "+strconv.Itoa(len(m.steps))
	if o.Flag {
		by = "id"
	}
	if g.revoked < 0 {
		g.revoked, g.changed, g.reason = m.now, m.now, reason
		m.changed()
	}
	m.add("revoke", fields{"person", g.name, "by", by, "reason", reason},
		fmt.Sprintf(`data.permitId == %s_id and data.state == "revoked" and data.revokedAt == %s and data.reason == %q`, g.name, at(g.revoked), g.reason)).clauses = []string{"PERM-4"}
}

// term gives a membership or a reservation.
func (m *model) term(o Op) {
	from, to := m.now+o.From, m.now+o.To+int64(o.Who)*second
	if to <= from {
		return
	}
	g := &grant{kind: o.Do, phone: o.Who, from: from, to: to, doors: bits(o.Doors), made: m.now, revoked: -1}
	args := fields{"person", people[o.Who], "place", "lab", "phone", "${" + phoneOf(o.Who) + "}", "from", moment(from)}
	if o.Do == "reservation" || o.Nth == 0 && o.Door%2 == 0 {
		args = append(args, "to", moment(to))
	} else {
		g.to = far
	}
	if len(g.doors) > 0 {
		args = append(args, "doors", doorNames(g.doors))
	} else if g.doors = m.entries(); len(g.doors) == 0 {
		return
	}
	m.grants = append(m.grants, g)
	m.changed()
	m.add(o.Do, args)
}

// read is one permit with all its fields.
func (m *model) read(o Op) {
	g := m.known(o)
	if g == nil {
		return
	}
	m.permitIs(g)
}

func (m *model) allPermits(Op) {
	permits := m.permits()
	for _, g := range permits {
		m.permitIs(g)
	}
	list := "total == len(data)"
	if len(permits) > 0 {
		ids := texts(each.Of(permits, func(g *grant) string { return g.name + "_id" }))
		list = fmt.Sprintf("len(filter(data, .permitId in %s)) == %d", ids, len(permits))
	}
	m.add("call", fields{"place", "lab", "path", "/space/v1/partner/entry-permits?limit=500"}, list)
}

// permitIs compares a permit by every field.
func (m *model) permitIs(g *grant) {
	var revokedAt, first, reason any
	if g.revoked >= 0 {
		revokedAt, reason = stamp(g.revoked), g.reason
	}
	if g.uses > 0 {
		first = stamp(g.first)
	}
	want := fields{"permitId", "${" + g.name + "_id}", "externalRef", "${uid(\"" + g.name + "\")}", "name", g.name, "phoneTail", "${" + phoneOf(g.phone) + "[7:]}",
		"state", g.state(m.now), "startsAt", stamp(g.from), "endsAt", stamp(g.to), "createdAt", stamp(g.made), "updatedAt", stamp(g.changed),
		"revokedAt", revokedAt, "revokeReason", reason}
	if !g.vague {
		want = append(want, "useCount", g.uses, "firstUsedAt", first)
	}
	s := m.add("call", fields{"place", "lab", "path", "/space/v1/partner/entry-permits/${" + g.name + "_id}", "match", fields{"data", want}},
		"sort(data.doorIds) == sort("+doorExpr(g.doors)+")")
	s.within, s.clauses = "3s", []string{"PERM-3", "PERM-7"}
}
