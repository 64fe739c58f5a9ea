package explore

import "fmt"

// source is the external system that every import of a sequence comes from.
const source = `${uid("desk")}`

// imported imports a membership from an external system, beside an invalid row that fails alone.
func (m *model) imported(o Op) {
	from, to := m.now+o.From, m.now+o.To+int64(o.Who)*second
	if to <= from {
		return
	}
	ref := fmt.Sprintf("m-%s-%d", people[o.Who], o.Nth)
	g := &grant{kind: "membership", ref: ref, phone: o.Who, from: from, to: to, doors: bits(o.Doors), made: m.now, revoked: -1}
	if len(g.doors) == 0 {
		g.doors = []int{0, 1, 2, 3}
	}
	row := fields{"externalRef", ref, "phone", "${" + phoneOf(o.Who) + "}", "startsAt", stamp(from), "doorIds", "${" + doorExpr(g.doors) + "}"}
	if o.Flag {
		g.to = far
	} else {
		row = append(row, "endsAt", stamp(to))
	}
	wrong := fields{"externalRef", ref, "phone", "${" + phoneOf(o.Who) + "}", "startsAt", stamp(to), "endsAt", stamp(to)}
	status := m.row(g)
	m.add("call", fields{"place", "lab", "path", "/space/v1/memberships/import", "body", fields{"source", source, "items", list{wrong, row}}},
		`map(data.results, .status) == ["failed", "`+status+`"] and data.results[0].error == "invalid_period" and data.received == 2 and data.failed == 1`,
		"data."+status+" == 1 and data.created + data.updated + data.unchanged == 1").clauses = []string{"IMP-1"}
}

// row replaces the imported membership with the same reference, and returns what the import must say about it.
func (m *model) row(g *grant) string {
	for i, was := range m.grants {
		if was.ref != g.ref {
			continue
		}
		if was.from == g.from && was.to == g.to && doorExpr(was.doors) == doorExpr(g.doors) {
			return "unchanged"
		}
		g.made = was.made
		m.grants[i] = g
		m.changed()
		return "updated"
	}
	m.grants = append(m.grants, g)
	m.changed()
	return "created"
}

// pass is an access token, and when it was made.
type pass struct {
	name string
	made int64
}

// exchanges is how many a sequence makes at most: the limit is 30 per minute, and on a frozen clock they all fall into
// one.
const exchanges = 3

// exchange gets an access token for the spare key.
func (m *model) exchange(Op) {
	if len(m.tokens) == exchanges || m.spare {
		return
	}
	if len(m.tokens) == 0 {
		m.add("key", fields{"name", "spare", "place", "lab"})
	}
	t := pass{name: fmt.Sprintf("token%d", len(m.tokens)+1), made: m.now}
	m.tokens = append(m.tokens, t)
	s := m.add("call", fields{"path", "/core/v1/auth/apikey/token", "body", fields{"key", "${spare.apiKey}"}}, "data.expiresIn == 900 and data.placeId == lab.place")
	s.capture, s.clauses = fields{t.name, "data.accessToken"}, []string{"AUTH-1"}
}

// useToken reads with a token: it is valid for 900 s, and not a millisecond longer.
func (m *model) useToken(o Op) {
	if len(m.tokens) == 0 {
		return
	}
	t := m.tokens[o.Nth%len(m.tokens)]
	if o.Flag && m.now < t.made+900*second { // to its end, or a millisecond before
		m.clockTo(t.made + 900*second - int64(o.Door%2))
	}
	args := fields{"path", "/device/v1/devices", "token", "${" + t.name + "}"}
	switch {
	case m.now >= t.made+900*second:
		args = append(args, "status", 401, "error", "token_expired")
	case m.spare:
		args = append(args, "status", 401, "error", "token_invalid")
	}
	m.add("call", args).clauses = []string{"AUTH-1", "AUTH-2"}
}

// withdraw revokes the spare key, perhaps before a restart: it can't be exchanged any more, and its tokens end.
func (m *model) withdraw(o Op) {
	if m.spare {
		return
	}
	if len(m.tokens) < exchanges {
		m.exchange(o)
	}
	m.spare = true
	m.add("key", fields{"revoke", "spare"})
	if o.Flag {
		m.restart(Op{Flag: o.Door%2 == 0})
	}
	m.add("call", fields{"path", "/core/v1/auth/apikey/token", "body", fields{"key", "${spare.apiKey}"}, "status", 401, "error", "invalid_api_key"})
	m.useToken(Op{Nth: len(m.tokens) - 1})
}
