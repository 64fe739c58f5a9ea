package grant

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/plain"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

func (r RegisterRequest) check() error {
	if err := cmp.Or(required("externalRef", r.ExternalRef, maxRef), phone(r.Phone), optional("name", r.Name, 0, maxName)); err != nil {
		return err
	}
	if r.StartsAt == nil {
		return fail.Missing("startsAt")
	}
	if r.EndsAt == nil {
		return fail.Missing("endsAt")
	}
	return period(fail.Milli(*r.StartsAt), fail.Milli(*r.EndsAt))
}

// Register creates a permit or, under a known externalRef, replaces its period, phone and name and clears its
// revocation. Errors (*fail.Error): missing_field, invalid_field, invalid_phone, invalid_period, invalid_door_ids,
// empty_door_ids, permit_period_too_long, rule_violated (no entry door); the store's.
func (s *Service) Register(by record.By, r RegisterRequest) (Permit, error) {
	if err := r.check(); err != nil {
		return Permit{}, err
	}
	var g Grant
	var now time.Time
	err := s.change(func(tx Tx) (err error) { // read and write in one: concurrent creates end in one permit [PERM-2]
		now = tx.Now()
		g, err = s.put(tx, by, r)
		return err
	})
	if err != nil {
		return Permit{}, err
	}
	return s.view(g, now), nil // here, so that other writes don't wait while the link is derived
}

func (s *Service) put(tx Tx, by record.By, r RegisterRequest) (Grant, error) {
	p, err := tx.Place(by.PlaceID)
	if err != nil {
		return Grant{}, err
	}
	doors, err := tx.Doors(by.PlaceID)
	if err != nil {
		return Grant{}, err
	}
	old, err := find(tx.GrantByRef(by.PlaceID, access.KindPermit, "", *r.ExternalRef))
	if err != nil {
		return Grant{}, err
	}
	now := tx.Now()
	g := Grant{ID: id.New(id.Permit, now), PlaceID: by.PlaceID, Kind: access.KindPermit, ExternalRef: *r.ExternalRef, CreatedBy: by.KeyID, CreatedAt: now}
	if old != nil {
		g = *old
	}
	g.Phone, g.Name = *r.Phone, value(r.Name)
	g.StartsAt, g.EndsAt = fail.Milli(*r.StartsAt), fail.Milli(*r.EndsAt)
	g.RevokedAt, g.RevokeReason, g.UpdatedAt = time.Time{}, "", now // [PERM-3]
	if g.Doors, err = scope(r.DoorIDs, g.Doors, doors); err != nil {
		return Grant{}, err
	}
	if err := notTooLong(p, doors, g.Doors, g.StartsAt, g.EndsAt); err != nil {
		return Grant{}, err
	}
	s.link(&g)
	if old != nil && same(g, *old) {
		return *old, nil // a repeat changes nothing, not even the revision
	}
	if old != nil && !now.After(g.CreatedAt) { // on a frozen clock; equal times mean that the terms have never changed
		g.UpdatedAt = g.CreatedAt.Add(time.Millisecond)
	}
	return g, tx.PutGrant("register", &g, old)
}

// same reports whether two versions of a grant mean the same.
func same(g, old Grant) bool {
	return g.Phone == old.Phone && g.Name == old.Name && g.StartsAt.Equal(old.StartsAt) && g.EndsAt.Equal(old.EndsAt) &&
		slices.Equal(g.Doors, old.Doors) && g.RevokedAt.Equal(old.RevokedAt) && g.LinkHash == old.LinkHash && g.ExternalRef == old.ExternalRef
}

// find turns "not found" into nil.
func find[T any](v T, err error) (*T, error) {
	if errors.Is(err, fail.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &v, nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (r RevokeRequest) check() error {
	if r.ExternalRef == nil && r.PermitID == nil {
		return fail.New(fail.MissingField, "externalRef or permitId is required", "field", "externalRef")
	}
	if err := optional("externalRef", r.ExternalRef, 1, maxRef); err != nil {
		return err
	}
	if r.PermitID != nil && *r.PermitID == "" { // a long one is just unknown
		return fail.Invalid("permitId", "must not be empty")
	}
	if r.Reason == nil {
		return nil
	}
	if plain.DeceptiveText(*r.Reason) {
		return fail.Invalid("reason", plain.ReasonOfText)
	}
	if utf8.RuneCountInString(*r.Reason) > maxReason {
		return fail.Invalid("reason", fmt.Sprintf("must have at most %d characters", maxReason))
	}
	return nil
}

// Revoke revokes a permit; its link is dead at once. Repeating it keeps the first time and reason. Errors
// (*fail.Error): missing_field, invalid_field, permit_not_found; the store's.
func (s *Service) Revoke(by record.By, r RevokeRequest) (Permit, error) {
	if err := r.check(); err != nil {
		return Permit{}, err
	}
	var out Permit
	err := s.change(func(tx Tx) error {
		old, err := r.permit(tx, by.PlaceID)
		if err != nil {
			return err
		}
		if g := *old; g.RevokedAt.IsZero() {
			g.RevokedAt, g.UpdatedAt, g.RevokeReason = tx.Now(), tx.Now(), value(r.Reason)
			g.Generation++   // the old link stays dead for good [PERM-4]
			g.TokenHash = "" // dead on site, too; LinkHash stays, to tell whose dead link is tried
			if err := tx.PutGrant("revoke", &g, old); err != nil {
				return err
			}
			old = &g
		}
		out = s.view(*old, tx.Now())
		return nil
	})
	return out, err
}

// permit finds the permit that the request names. Errors: permit_not_found, invalid_field.
func (r RevokeRequest) permit(tx Tx, placeID string) (*Grant, error) {
	var byRef, byID *Grant
	var err error
	if r.ExternalRef != nil {
		if byRef, err = find(tx.GrantByRef(placeID, access.KindPermit, "", *r.ExternalRef)); err != nil {
			return nil, err
		}
	}
	if r.PermitID != nil {
		if byID, err = find(tx.Grant(*r.PermitID)); err != nil {
			return nil, err
		}
		if byID != nil && !isPermit(*byID, placeID) {
			byID = nil
		}
	}
	switch {
	case byRef == nil && byID == nil:
		return nil, fail.New(fail.PermitNotFound, "permit not found")
	case r.ExternalRef == nil:
		return byID, nil
	case r.PermitID == nil:
		return byRef, nil
	case byRef == nil || byID == nil || byRef.ID != byID.ID:
		return nil, fail.Invalid("permitId", "and externalRef must name the same permit")
	}
	return byRef, nil
}

func isPermit(g Grant, placeID string) bool {
	return g.PlaceID == placeID && g.Kind == access.KindPermit
}

const pageSize = 100

// paged fills in the default page size.
func paged(q ListQuery) ListQuery {
	q.Limit = cmp.Or(q.Limit, pageSize)
	return q
}

// List lists the permits of a place, newest first; total counts the matches.
func (s *Service) List(placeID string, q ListQuery) (list []Permit, total int, err error) {
	gs, total, err := s.cfg.Store.ListGrants(placeID, access.KindPermit, paged(q))
	if err != nil {
		return nil, 0, err
	}
	now := s.cfg.Clock.Now()
	return each.Of(gs, func(g Grant) Permit { return s.view(g, now) }), total, nil
}

// Get reads one permit, including Sync. Errors (*fail.Error): permit_not_found; the store's.
func (s *Service) Get(placeID, permitID string) (Permit, error) {
	g, err := s.cfg.Store.Grant(permitID)
	if errors.Is(err, fail.ErrNotFound) || err == nil && !isPermit(g, placeID) {
		return Permit{}, fail.New(fail.PermitNotFound, "permit not found")
	}
	if err != nil {
		return Permit{}, err
	}
	boards, err := s.cfg.Store.Boards(placeID)
	if err != nil {
		return Permit{}, err
	}
	p := s.view(g, s.cfg.Clock.Now())
	p.Sync = s.sync(g, boards)
	return p, nil
}

// Holder is whom a grant of a place, of any kind, lets in: the phone and, of a permit, the entry token; for the console's
// buttons, never for a page. Error (*fail.Error): not_found; the store's.
func (s *Service) Holder(placeID, grantID string) (phone, token string, err error) {
	g, err := s.cfg.Store.Grant(grantID)
	if errors.Is(err, fail.ErrNotFound) || err == nil && g.PlaceID != placeID {
		return "", "", fail.New(fail.NotFound, "grant not found")
	}
	if err != nil {
		return "", "", err
	}
	if isPermit(g, placeID) {
		token = s.view(g, s.cfg.Clock.Now()).Token
	}
	return g.Phone, token, nil
}

// sync compares the revision of the permit's last change with what each board of the place has applied.
func (s *Service) sync(g Grant, boards []place.Board) Sync {
	y := Sync{State: none, Boards: len(boards)}
	for _, b := range boards {
		rev, at := s.cfg.Applied(b.ID)
		if rev < g.Rev {
			continue
		}
		y.SyncedBoards++
		if at.After(y.LastSyncedAt) {
			y.LastSyncedAt = at
		}
	}
	if y.Boards > 0 {
		y.State = Waiting
		if y.SyncedBoards == y.Boards {
			y.State = Synced
		}
	}
	return y
}
