package planted

import (
	"errors"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Bugs that make people pay for others' repeats, or that concern finding things by name or number.

// together has limits for everyone at a place in common instead of one per person.
type together struct{ presses, calls *limit.Window }

func newTogether() together {
	return together{limit.New(60, time.Minute), limit.New(6, time.Minute)}
}

// countedTx keeps people's records only while there is room.
type countedTx struct {
	recordTx
	together
	now time.Time
}

func (t countedTx) InsertRecord(r record.Record) (bool, error) {
	if r.Result == vocab.Denied {
		switch {
		case t.name == "refused-presses-count-together" && r.Method == vocab.Link:
			if ok, retry := t.presses.Allow(r.PlaceID, t.now); !ok {
				return false, &fail.Error{Code: fail.RateLimited, Message: "too many refused attempts", RetryAfter: retry}
			}
		case t.name == "refused-calls-recorded-by-place" && r.Method == vocab.Phone:
			if ok, _ := t.calls.Allow(r.PlaceID, t.now); !ok {
				return false, nil
			}
		}
	}
	return t.recordTx.InsertRecord(r)
}

// numbered is the place at which a number was first seen.
func (s entryStore) numbered(number string, p place.Place, err error) (place.Place, error) {
	if id, known := s.doors.Load("number " + number); known {
		return s.Store.Place(id.(string))
	}
	if err == nil {
		s.doors.Store("number "+number, p.ID)
		s.doors.Store("number of "+p.ID, number)
	}
	return p, err
}

// longInBytes refuses a name only if its bytes, not its characters, exceed the limit.
func longInBytes(name *string) error {
	if name != nil && len(*name) > 100 && utf8.RuneCountInString(*name) <= 100 {
		return fail.Invalid("name", "must have 0 to 100 characters")
	}
	return nil
}

// ChangeBehind is how imports write.
func (s grantStore) ChangeBehind(fn func(tx grant.Tx) error) error {
	return s.Store.ChangeBehind(func(tx grant.Tx) error { return fn(grantTx{tx, s.name}) })
}

// HasCustomer forgets whom it has seen.
func (t grantTx) HasCustomer(placeID, phone string) (bool, error) {
	known, err := t.Tx.HasCustomer(placeID, phone)
	if _, passed := links.LoadAndDelete("passed to " + placeID + phone); passed {
		return true, err
	}
	return known && t.name != "membership-makes-another-customer", err
}

// ListGrants puts a page in the order of the last changes.
func (s grantStore) ListGrants(placeID, kind string, q grant.ListQuery) ([]grant.Grant, int, error) {
	list, total, err := s.Store.ListGrants(placeID, kind, q)
	if s.name == "permits-by-last-change" {
		slices.SortStableFunc(list, func(a, b grant.Grant) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	}
	return list, total, err
}

// CreditedLink doesn't look for whom a link was sent to.
func (t recordTx) CreditedLink(tokenHash, placeID string) (record.Credited, error) {
	if t.name == "presented-link-of-nobody" {
		return record.Credited{}, nil
	}
	return t.Tx.CreditedLink(tokenHash, placeID)
}

// narrowed leaves out hours' windows of a door that has a newer one for always.
func narrowed(ps []access.Window) []access.Window {
	return slices.DeleteFunc(slices.Clone(ps), func(p access.Window) bool {
		return (p.Ref == access.RefBusiness || p.Ref == access.RefAfter) && slices.ContainsFunc(ps, func(o access.Window) bool {
			return o.DoorID == p.DoorID && o.Ref == access.RefAlways && o.CreatedAt > p.CreatedAt
		})
	})
}

func (t grantTx) CustomerByPhone(placeID, source, phone string) (grant.Customer, error) {
	c, err := t.Tx.CustomerByPhone(placeID, source, phone)
	if err == nil && t.name == "nameless-customer-not-taken-over" && c.Name == "" {
		return grant.Customer{}, fail.ErrNotFound
	}
	if from, known := sources.Load(placeID + " " + phone); known && errors.Is(err, fail.ErrNotFound) && t.name == "customer-of-any-source" {
		return t.Tx.CustomerByPhone(placeID, from.(string), phone)
	}
	return c, err
}

// sources are those that first named a phone, by place and phone.
var sources sync.Map

func (t grantTx) PutCustomer(c grant.Customer) error {
	sources.LoadOrStore(c.PlaceID+" "+c.Phone, c.Source)
	return t.Tx.PutCustomer(c)
}

func (t grantTx) GrantByPhone(placeID, kind, source, phone string) (grant.Grant, error) {
	g, err := t.Tx.GrantByPhone(placeID, kind, source, phone)
	if t.name == "ended-membership-imported-again" && err == nil && g.State(t.Now()) == grant.Expired {
		return grant.Grant{}, fail.ErrNotFound
	}
	if from, known := sources.Load(placeID + " " + phone); known && errors.Is(err, fail.ErrNotFound) && t.name == "membership-of-any-source" {
		return t.Tx.GrantByPhone(placeID, kind, from.(string), phone)
	}
	return g, err
}
