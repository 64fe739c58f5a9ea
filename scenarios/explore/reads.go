package explore

import (
	"fmt"
	"strings"
)

// look compares a board and its doors with the model: the board itself, and what the API shows of it while it is
// connected.
func (m *model) look(o Op) {
	b, _ := m.where(o.Door)
	want := []string{fmt.Sprintf("online == %v", b.online)}
	for i, d := range b.doors {
		leaf := "closed"
		if d.leaf {
			leaf = "open"
		}
		name := doorName(b.index*2 + i)
		want = append(want, fmt.Sprintf(`any(doors, .doorId == %s and .standing.state == %q and .standing.leaf == %q)`, name, d.state(), leaf))
	}
	s := m.add("boards", fields{"of", boardName(b.index), "all", strings.Join(want, " and ")})
	s.within, s.clauses = "3s", []string{"CMD-7", "OFF-3"}
	if !b.online {
		return
	}
	for i, d := range b.doors {
		if d.unheard {
			continue
		}
		name := doorName(b.index*2 + i)
		until := "nil"
		if d.held && d.holdEnd > 0 {
			until = at(d.holdEnd)
		}
		s := m.add("call", fields{"place", "lab", "path", "/device/v1/devices/${" + name + "}"},
			fmt.Sprintf(`data.id == %s and data.kind == "door" and data.health.state == "online" and data.standing.fresh`, name),
			fmt.Sprintf(`data.standing.state == %q and data.standing.holdUntil == %s`, d.state(), until))
		s.within, s.clauses = "3s", []string{"CMD-7", "LEG-1"}
	}
	if b.doors[o.Door%2].unheard {
		return
	}
	s = m.add("call", fields{"place", "lab", "path", "/device/v1/doors"}, fmt.Sprintf(`any(data, .id == %s and .doorState == %q and .online and .boardId == %s)`,
		doorName(o.Door), b.doors[o.Door%2].state(), boardName(b.index)))
	s.within, s.clauses = "3s", []string{"LEG-1"}
}

// allRecords compares the entry records as a whole: each attempt once, every
// field, in the order of recording. Policies and outage policies have records of
// their own, which are left out here.
func (m *model) allRecords(Op) {
	m.quietAll()
	var want []string
	for _, r := range m.records {
		if r.board && !r.up {
			continue
		}
		want = append(want, m.recordText(r))
	}
	door := `(.doorId == nil ? "-" : .doorId)`
	reason := fmt.Sprintf(`(.method == "onsite" and .reason in %s ? "forgotten" : .reason)`, quotedList(forgets))
	actor := `(.actor startsWith "api:" ? "api" : .actor == "guest:*----" and .method == "onsite" ? "?" : .actor)`
	key := strings.Join([]string{door, ".result", reason, ".method", actor, ".requestedAt", ".occurredAt", ".recordedAt", ".source", "string(.replays)", `(.settledAs == nil ? "-" : .settledAs + " " + .settledAt)`}, ` + " " + `)
	s := m.whole("records", fields{"place", "lab", "since", moment(slowest)}, fmt.Sprintf(`map(filter(records, .result != "changed"), %s)`, key), want, "ENT-4")
	if len(want) > 1 { // with fewer, every order is right, and an expectation that can't fail proves nothing
		s.expect = []string{"map(records, .recordedAt) == reverse(sort(map(records, .recordedAt)))"}
	}
}

// recordText is a record as allRecords writes it, as an expression.
func (m *model) recordText(r *record) string {
	reason := r.reason
	if r.vague {
		reason = "forgotten"
	}
	source := "server"
	if r.board {
		source = "board"
	}
	result := fmt.Sprintf("%q", r.result)
	if r.sure != "" {
		result = fmt.Sprintf(`(%s ? "opened" : "noResponse")`, r.sure)
	}
	return fmt.Sprintf(`%s + " " + %s + " %s %s " + %s + " " + %s + " " + %s + " " + %s + " %s %d " + %s`, r.place(), result, reason, r.method, m.actor(r), at(r.at), at(r.at), at(r.recorded), source, r.replays, r.outcome(fmt.Sprintf(`"%s " + %s`, r.settled, at(r.at)), `"-"`))
}

// place is the record's door as an expression.
func (r *record) place() string {
	if r.door < 0 {
		return `"-"`
	}
	return doorName(r.door)
}

func (m *model) actor(r *record) string {
	switch {
	case r.unnamed:
		return `"?"`
	case r.who == -1:
		return `"api"`
	case r.who == -2:
		return `"guest:*----"`
	}
	return `"guest:*" + ` + phoneOf(r.who) + "[7:]"
}

// allEvents compares the place's events: kind, door, reason, permit, times, late.
func (m *model) allEvents(Op) {
	m.quietAll()
	var want []string
	for _, r := range m.records {
		if r.board && !r.up {
			continue
		}
		late := r.settled == "opened"
		if r.result != "denied" && r.result != "opened" && !late {
			continue
		}
		kinds := []string{"entry.opened"}
		if r.result == "denied" {
			kinds = []string{"entry.denied"}
		} else if r.credit != nil {
			kinds = append(kinds, "entry.permit.used")
		}
		for _, k := range kinds {
			ref := `"-"`
			if r.credit != nil && !m.vague && r.result != "denied" {
				ref = fmt.Sprintf("uid(%q)", r.credit.name)
			}
			said := func(late bool) string {
				return fmt.Sprintf(`%q + %s + " %s " + %s + " " + %s + " " + %s + " %t"`, k+" ", r.place(), r.method, ref, at(r.at), at(r.recorded), late)
			}
			line := said(late)
			if late {
				line = r.outcome(line, `""`)
			}
			if r.sure != "" {
				line = fmt.Sprintf("(%s ? %s : %s)", r.sure, said(false), line)
			}
			want = append(want, line)
		}
	}
	ref := `(.externalRef == nil ? "-" : .externalRef)`
	if m.vague {
		ref = `"-"`
	}
	key := strings.Join([]string{".kind", `(.doorId == nil ? "-" : .doorId)`, ".method", ref, ".occurredAt", ".recordedAt", "string(.late)"}, ` + " " + `)
	m.whole("events", fields{"place", "lab", "query", fields{"from", stamp(slowest), "to", stamp(m.now + mostSkew + 1)}}, fmt.Sprintf("map(events, %s)", key), want, "ENT-4", "OFF-4")
}

// journal compares a board's relays: what moved, why, and when.
func (m *model) journal(o Op) {
	b, _ := m.where(o.Door)
	var want []string
	for _, l := range m.lines {
		if l.door/2 == b.index {
			text := fmt.Sprintf(`%s + " %s %s " + %s`, doorName(l.door), l.action, l.cause, at(l.at))
			if l.cond != "" {
				text = fmt.Sprintf(`(%s ? %s : "")`, l.cond, text)
			}
			want = append(want, text)
		}
	}
	m.whole("journal", fields{"of", boardName(b.index), "since", "start"}, `map(lines, .doorId + " " + .action + " " + .cause + " " + .at)`, want, "CMD-1", "CMD-4", "OFF-3")
}

// whole reads a list and compares it, in any order, with everything it must contain; missing and surplus elements are
// shown separately.
func (m *model) whole(verb string, args any, got string, want []string, clauses ...string) *step {
	s := m.add(verb, args)
	s.capture = fields{"got", got}
	if len(want) == 0 { // nothing can be missing
		compare := m.add("", nil, "got == []")
		compare.name, compare.clauses = verb+" as expected", clauses
		return s
	}
	m.add("set", fields{"want", "${" + some(want) + "}"})
	m.add("set", fields{"missing", "${filter(want, # not in got)}", "extra", "${filter(got, # not in want)}"})
	compare := m.add("", nil, "missing == []", "extra == []", "len(got) == len(want)")
	compare.name, compare.clauses = verb+" as expected", clauses
	return s
}

// lists reads one page of a list, or a filtered list, and compares it with the complete one.
func (m *model) lists(o Op) {
	events := "/core/v1/places/${lab.place}/events?from=" + stamp(slowest) + "&to=" + stamp(m.now+mostSkew+1) + "&"
	path := []string{"/space/v1/partner/entry-permits?", "/space/v1/partner/entry-logs?sinceDays=30&", events}[min(o.Nth, 2)]
	m.quietAll()
	m.add("call", fields{"place", "lab", "path", path + "limit=500"}, "len(data) == total").capture = fields{"whole", "data"}
	if o.Nth < 3 {
		m.add("call", fields{"place", "lab", "path", fmt.Sprintf("%slimit=2&offset=%d", path, o.N)},
			fmt.Sprintf("total == len(whole) and data == whole[min(%d, len(whole)):min(%d, len(whole))]", o.N, o.N+2)).clauses = []string{"PERM-1", "ENT-4"}
		return
	}
	f := []struct{ query, keeps string }{
		{"result=opened", `.result == "opened"`},
		{"result=denied&doorId=${" + doorName(o.Door) + "}", `.result == "denied" and .doorId == ` + doorName(o.Door)},
		{"kind=entry.permit.used,entry.denied", `.kind in ["entry.permit.used", "entry.denied"]`},
		{"doorId=${" + doorName(o.Door) + "}", ".doorId == " + doorName(o.Door)},
		{"kind=entry.opened&doorId=${door[0]},${door[3]}", `.kind == "entry.opened" and .doorId in [door[0], door[3]]`},
		{"result=opened,denied&kind=entry.permit.used", `.kind == "entry.permit.used"`},
	}[o.Nth-3]
	m.add("call", fields{"place", "lab", "path", events + f.query + "&limit=500"}, fmt.Sprintf("data == filter(whole, %s)", f.keeps), "total == len(data)").clauses = []string{"ENT-4"}
}
