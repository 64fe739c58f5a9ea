package grant

import (
	"cmp"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// apiSource is the source of memberships and reservations that were created individually, not by an import.
const apiSource = "api"

func (r TermRequest) check() error {
	if err := cmp.Or(optional("externalRef", r.ExternalRef, 1, maxRef), phone(r.Phone), optional("name", r.Name, 0, maxName)); err != nil {
		return err
	}
	if r.StartsAt == nil {
		return fail.Missing("startsAt")
	}
	if r.EndsAt == nil {
		return nil
	}
	return period(fail.Milli(*r.StartsAt), fail.Milli(*r.EndsAt))
}

func term(g Grant, now time.Time) Term {
	t := Term{Grant: g, State: g.State(now)}
	if t.State == Revoked {
		t.State = Cancelled
	}
	return t
}

// CreateTerm creates a membership or a reservation, without a maximum length; under a known externalRef it replaces the
// existing one. Errors: as Register, without permit_period_too_long.
func (s *Service) CreateTerm(by record.By, kind string, r TermRequest) (Term, error) {
	if err := r.check(); err != nil {
		return Term{}, err
	}
	var out Term
	err := s.change(func(tx Tx) error {
		doors, err := tx.Doors(by.PlaceID)
		if err != nil {
			return err
		}
		var old *Grant
		if r.ExternalRef != nil {
			if old, err = find(tx.GrantByRef(by.PlaceID, kind, apiSource, *r.ExternalRef)); err != nil {
				return err
			}
		}
		g, _, err := putTerm(tx, by, kind, apiSource, r, old, doors)
		out = term(g, tx.Now())
		return err
	})
	return out, err
}

// putTerm writes a checked membership or reservation over old (nil = new) and says whether it was created, updated or
// unchanged. Errors: as scope, the store's.
func putTerm(tx Tx, by record.By, kind, source string, r TermRequest, old *Grant, doors []place.Door) (Grant, string, error) {
	now := tx.Now()
	prefix := id.Membership
	if kind == access.KindReservation {
		prefix = id.Reservation
	}
	g := Grant{ID: id.New(prefix, now), PlaceID: by.PlaceID, Kind: kind, Source: source, ExternalRef: value(r.ExternalRef), CreatedBy: by.KeyID, CreatedAt: now}
	if old != nil {
		g = *old
	}
	g.Phone, g.Name, g.StartsAt, g.EndsAt = *r.Phone, value(r.Name), fail.Milli(*r.StartsAt), time.Time{}
	if r.EndsAt != nil {
		g.EndsAt = fail.Milli(*r.EndsAt)
	}
	g.RevokedAt, g.RevokeReason, g.UpdatedAt = time.Time{}, "", now
	var err error
	if g.Doors, err = scope(r.DoorIDs, g.Doors, doors); err != nil {
		return Grant{}, "", err
	}
	switch {
	case old == nil:
		return g, created, tx.PutGrant(kind, &g, nil)
	case same(g, *old):
		return *old, unchanged, nil
	}
	return g, updated, tx.PutGrant(kind, &g, old)
}

// CancelTerm ends a membership or a reservation; repeating it changes nothing. Errors (*fail.Error): not_found; the
// store's.
func (s *Service) CancelTerm(by record.By, kind, grantID string) (Term, error) {
	var out Term
	err := s.change(func(tx Tx) error {
		old, err := tx.Grant(grantID)
		if errors.Is(err, fail.ErrNotFound) || err == nil && (old.PlaceID != by.PlaceID || old.Kind != kind) {
			return fail.New(fail.NotFound, kind+" not found")
		}
		if err != nil {
			return err
		}
		g := old
		if g.RevokedAt.IsZero() {
			g.RevokedAt, g.UpdatedAt = tx.Now(), tx.Now()
			if err := tx.PutGrant("cancel", &g, &old); err != nil {
				return err
			}
		}
		out = term(g, tx.Now())
		return nil
	})
	return out, err
}

// ListTerms lists memberships or reservations, newest first; total counts the matches.
func (s *Service) ListTerms(placeID, kind string, q ListQuery) (list []Term, total int, err error) {
	gs, total, err := s.cfg.Store.ListGrants(placeID, kind, paged(q))
	if err != nil {
		return nil, 0, err
	}
	now := s.cfg.Clock.Now()
	return each.Of(gs, func(g Grant) Term { return term(g, now) }), total, nil
}

// ListCustomers lists customers, newest first; total counts the matches.
func (s *Service) ListCustomers(placeID string, q ListQuery) (list []Customer, total int, err error) {
	return s.cfg.Store.ListCustomers(placeID, paged(q))
}
