package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
)

// book has one tally per clause.
type book map[string]*tally

func (b book) of(clause string) *tally {
	return each.Made(b, clause, func() *tally { return &tally{} })
}

// breach records a breach by a call under some clauses.
func (b book) breach(c *call, clauses []string, format string, args ...any) {
	for _, clause := range clauses {
		b.of(clause).bad(c.Event, format, args...)
	}
}

// second is the result of comparing the server's content with the clients' claims.
type second struct {
	book
	view   *View
	phones map[string]string // place and phone's mark -> the server's hash of it
	people map[string]string // the reverse
	links  map[string]string // token's mark -> hash, and the other way round

	rescheduled []*call // changes of hours that changed them
}

// secondContent compares every claim with the server's content at its time.
func (v *View) secondContent() *second {
	s := &second{book: book{}, view: v, phones: map[string]string{}, people: map[string]string{}, links: map[string]string{}}
	for _, k := range v.claims() {
		switch p := v.places[k.place]; {
		case k.found && p != nil:
			s.recall(p, k)
		case s.view.knows(p, k.call) && !k.crowded:
			s.grant(p, k)
		}
	}
	s.policies()
	s.hours()
	return s
}

// clausesOf are the guarantees that a claim exercises: first its own family's, then those on the content that boards
// get.
func (k *claim) clausesOf() []string {
	switch {
	case k.revoked && k.kind == "permit":
		return []string{"PERM-4", "SYNC-2"}
	case k.revoked:
		return []string{"ENT-1", "SYNC-2"}
	case k.kind != "permit":
		return []string{"ENT-1", "SYNC-1"}
	case k.again:
		return []string{"PERM-3", "SYNC-1"}
	}
	return []string{"PERM-1", "SYNC-1"}
}

// recall learns the person and link of a claim made before the run.
func (s *second) recall(p *place, k *claim) {
	if vs := p.content.grants[k.id]; len(vs) > 0 && !k.revoked && vs[0].is.there && s.view.before(vs[0].e, s.view.begun) {
		s.credentials(k, &vs[0], nil)
	}
}

// grant compares one claim with the versions of its grant.
func (s *second) grant(p *place, k *claim) {
	clauses := k.clausesOf()
	for _, clause := range clauses {
		s.of(clause).checked++
	}
	versions := during(s.view, k.call, p.content.grants[k.id])
	if k.ends != 0 && k.ends < k.At && (len(versions) == 0 || !versions[len(versions)-1].is.there) {
		return // what ended long ago leaves the content
	}
	if len(versions) == 0 {
		if !k.revoked { // a revoked grant may leave the content
			s.breach(k.call, clauses, "%s was answered with 200, but the server's content has no %s", k.id, k.kind) // [PERM-1] [SYNC-1]
		}
		return
	}
	why, field := "", ""
	var good *version
	for i := len(versions) - 1; i >= 0; i-- { // normally it's the last one
		if why, field = k.differs(versions[i]); why == "" {
			good = &versions[i]
			break
		}
	}
	if good == nil {
		if field == "period" && k.again && k.kind == "permit" {
			clauses = []string{"PERM-3", "SYNC-1"}
		}
		s.breach(k.call, clauses, "%s: %s", k.id, why) // [PERM-1] [PERM-3] [PERM-4] [SYNC-1] [SYNC-2] [ENT-1]
		return
	}
	if k.revoked {
		return
	}
	s.doors(p, k, good)
	s.credentials(k, good, clauses)
}

// differs compares a version with what was asked for; "" if they match, else how it differs and in what.
func (k *claim) differs(x version) (why, field string) {
	g := x.is
	switch gone := !g.there || g.Revoked; {
	case k.revoked && !gone:
		return "it was revoked, but the server's content still has it", "revoked"
	case k.revoked:
		return "", ""
	case gone:
		return "it was granted again, but the server's content has it as revoked", "revoked"
	case g.Kind != "" && g.Kind != k.kind:
		return fmt.Sprintf("it is a %s, but in the server's content a %s", k.kind, g.Kind), "kind"
	case k.starts != 0 && !near(g.StartsAt, k.starts, 1) || k.starts == 0 && (g.StartsAt < k.SentAt-clockMs || g.StartsAt > k.At+clockMs):
		return fmt.Sprintf("it starts at %s, but in the server's content at %s", moment(k.starts), moment(g.StartsAt)), "period"
	case !near(g.EndsAt, k.ends, 1):
		return fmt.Sprintf("it ends at %s, but in the server's content at %s", moment(k.ends), moment(g.EndsAt)), "period"
	}
	return "", ""
}

// doors checks the doors: the named ones, else those kept, else doors of the place.
func (s *second) doors(p *place, k *claim, x *version) {
	t := s.of("PERM-6")
	if k.kind != "permit" {
		t = s.of("ENT-1")
	}
	t.checked++
	switch kept := s.view.keptBy(p, k); { // [PERM-6]
	case k.doors != nil && !sameSet(k.doors, x.is.Doors):
		t.bad(k.Event, "%s names %s, but has %s in the server's content", k.id, amount.Many(len(k.doors), "door"), amount.Many(len(x.is.Doors), "door"))
	case k.doors == nil && k.kind == "permit" && kept != nil && !sameSet(kept.is.Doors, x.is.Doors):
		t.bad(k.Event, "%s names no doors, but its scope changed", k.id)
	case !s.entryDoors(p, k, x.is.Doors):
		t.bad(k.Event, "%s is new and names no doors, but doesn't have the place's entry doors in the server's content", k.id)
	case len(x.is.Doors) == 0:
		t.bad(k.Event, "%s has no doors in the server's content", k.id)
	case !s.own(p, x.is.Doors):
		t.bad(k.Event, "%s has doors of another place in the server's content", k.id)
	}
}

// entryDoors reports whether a new permit without named doors has the entry doors that the place had during the call. Only a
// history of the target's whole life shows that a permit is new.
func (s *second) entryDoors(p *place, k *claim, doors []string) bool {
	if k.kind != "permit" || k.doors != nil || k.again || s.view.begun != nil || s.view.before(p.content.grants[k.id][0].e, k.started()) {
		return true
	}
	entries := during(s.view, k.call, p.entries)
	return len(entries) == 0 || slices.ContainsFunc(entries, func(x stated[[]string]) bool { return sameSet(x.is, doors) })
}

// keptBy is the version of a grant when the claim's call was sent; nil if there is none or the clocks can't tell.
func (v *View) keptBy(p *place, k *claim) *version {
	var out *version
	sent := k.started()
	for i, x := range p.content.grants[k.id] {
		switch {
		case v.before(x.e, sent) && x.is.there:
			out = &p.content.grants[k.id][i]
		case !v.before(x.e, sent) && !v.before(sent, x.e):
			return nil
		}
	}
	return out
}

// own reports whether no door is known to belong to another place.
func (s *second) own(p *place, doors []string) bool {
	return !slices.ContainsFunc(doors, func(id string) bool { b := s.view.doors[id]; return b != nil && b.place != p.id })
}

// credentials checks that a phone has one hash per place and a hash one phone, and that the same holds for the links of
// a permit.
func (s *second) credentials(k *claim, x *version, clauses []string) {
	if k.phone != "" && x.is.PhoneHash != "" {
		mark, hash := k.place+" "+k.phone, k.place+" "+x.is.PhoneHash
		switch {
		case s.phones[mark] == "" && s.people[hash] == "":
			s.phones[mark], s.people[hash] = hash, mark
		case s.phones[mark] != hash || s.people[hash] != mark:
			s.breach(k.call, clauses, "%s: its phone is another person's in the server's content", k.id) // [PERM-1] [ENT-1]
		}
	}
	if k.token == "" {
		return
	}
	mark, hash := "token "+k.token, "hash "+x.is.TokenHash
	switch {
	case x.is.TokenHash == "":
		s.breach(k.call, clauses, "%s has no link in the server's content", k.id) // [PERM-1]
	case s.links[mark] == "" && s.links[hash] == "":
		s.links[mark], s.links[hash] = hash, mark
	case s.links[mark] != hash || s.links[hash] != mark:
		s.breach(k.call, clauses, "%s: its link is different in the server's content", k.id) // [PERM-1]
	}
}
