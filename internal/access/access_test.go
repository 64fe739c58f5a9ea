package access

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	ms := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	grant := func(id, kind string, from, to time.Duration, doors ...string) Grant {
		return Grant{ID: id, Kind: kind, Doors: doors, StartsAt: ms(from), EndsAt: ms(to)}
	}
	permit := grant("p", KindPermit, -time.Hour, time.Hour, "d")
	revoked := permit
	revoked.Revoked = true
	member := Grant{ID: "m", Kind: KindMembership, Doors: []string{"d"}, StartsAt: ms(-time.Hour)}
	for name, tt := range map[string]struct {
		q    Question
		want Answer
	}{
		"operator, even in a closed window": {Question{Method: vocab.API, Mode: ModeClosed}, Answer{Allow: true, Reason: vocab.Reason(vocab.API)}},
		"dead link, though a member [PERM-4]": {Question{Method: vocab.Link, Link: true, Mode: ModeAuth, Grants: []Grant{member}},
			Answer{Reason: vocab.LinkInvalid}},
		"closed denies [ENT-2]":       {Question{Method: vocab.Phone, Mode: ModeClosed, Grants: []Grant{permit}}, Answer{Reason: vocab.ClosedWindow}},
		"free opens [ENT-2]":          {Question{Method: vocab.Phone, Mode: ModeFree}, Answer{Allow: true, Reason: vocab.FreeWindow}},
		"member after revoke [ENT-1]": {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{revoked, member}}, Answer{true, vocab.Reason(vocab.Phone), "m", KindMembership}},
		"permit credited first":       {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{member, permit}}, Answer{true, vocab.Reason(vocab.Phone), "p", KindPermit}},
		"permit that ends first": {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{permit, grant("q", KindPermit, -time.Hour, time.Minute, "d")}},
			Answer{true, vocab.Reason(vocab.Phone), "q", KindPermit}},
		"end is exclusive":    {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{grant("p", KindPermit, -time.Hour, 0, "d")}}, Answer{Reason: vocab.Expired}},
		"start is inclusive":  {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{grant("p", KindPermit, 0, time.Hour, "d")}}, Answer{true, vocab.Reason(vocab.Phone), "p", KindPermit}},
		"not started":         {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{grant("p", KindPermit, time.Millisecond, time.Hour, "d")}}, Answer{Reason: vocab.NotStarted}},
		"other door":          {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{grant("p", KindPermit, -1, time.Hour, "e")}}, Answer{Reason: vocab.DoorOutOfScope}},
		"revoked":             {Question{Method: vocab.Phone, Mode: ModeAuth, Grants: []Grant{revoked}}, Answer{Reason: vocab.Revoked}},
		"stranger":            {Question{Method: vocab.Phone, Mode: ModeAuth}, Answer{Reason: vocab.NoValidGrant}},
		"36 h exactly works":  {Question{Method: vocab.Onsite, Mode: ModeAuth, Grants: []Grant{permit}, OutageMs: OutageLimitMs}, Answer{true, vocab.Reason(vocab.Onsite), "p", KindPermit}},
		"36 h + 1 ms is over": {Question{Method: vocab.Onsite, Mode: ModeFree, OutageMs: OutageLimitMs + 1}, Answer{Reason: vocab.OutageLimit}},
		"lost clock is over":  {Question{Method: vocab.Onsite, Mode: ModeFree, OutageMs: -1}, Answer{Reason: vocab.OutageLimit}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.q.Now, tt.q.DoorID = now, "d"
			if got := Decide(tt.q); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestSumIsOrderFree(t *testing.T) {
	t.Parallel()
	a, b := Grant{ID: "a"}, Grant{ID: "b"}
	var s, u Sum
	s.Toggle("grant", a)
	s.Toggle("grant", b)
	u.Toggle("grant", b)
	u.Toggle("grant", a)
	if s != u || s == (Sum{}) {
		t.Errorf("digest %s in one order, %s in another, want the same, not empty", s, u)
	}
	s.Toggle("grant", a)
	s.Toggle("grant", b)
	if s != (Sum{}) {
		t.Errorf("emptied set has digest %s, want %s", s, (Sum{}))
	}
}
