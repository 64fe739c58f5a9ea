package store

import (
	"database/sql"
	"time"

	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
)

// Change implements grant.Store. Openings that may have read the grants of the
// place as they were are on their way when it returns [PERM-4].
func (s *Store) Change(fn func(tx grant.Tx) error) error {
	var placeID string
	err := s.Write(func(tx *sql.Tx) error { return fn(grantTx{tx, &placeID}) })
	if err == nil {
		s.visits.wait(placeID)
	}
	return err
}

// grantTx is a transaction as server/grant sees it. It notes the place of a
// grant that is found: only what is there can lose rights, and a repeat, which
// changes nothing, waits as the first call does.
type grantTx struct {
	tx      *sql.Tx
	placeID *string
}

func (t grantTx) Now() time.Time                             { return Now(t.tx) }
func (t grantTx) Place(id string) (place.Place, error)       { return readPlace(t.tx, id) }
func (t grantTx) Doors(placeID string) ([]place.Door, error) { return readDoors(t.tx, placeID) }

func (t grantTx) Grant(id string) (grant.Grant, error) { return t.grant("id = ?", id) }

func (t grantTx) GrantByRef(placeID, kind, source, ref string) (grant.Grant, error) {
	return t.grant("place_id = ? AND kind = ? AND source = ? AND external_ref = ?", placeID, kind, source, ref)
}

func (t grantTx) GrantByPhone(placeID, kind, source, phone string) (grant.Grant, error) {
	return t.grant("place_id = ? AND phone = ? AND kind = ? AND source = ? AND external_ref IS NULL ORDER BY id LIMIT 1", placeID, phone, kind, source)
}

func (t grantTx) grant(where string, args ...any) (grant.Grant, error) {
	g, err := scanGrant(t.tx.QueryRow("SELECT "+grantColumns+" FROM grants WHERE "+where, args...))
	if err == nil {
		*t.placeID = g.PlaceID
	}
	return g, err
}

func (t grantTx) PutGrant(op string, g, old *grant.Grant) error {
	note(t.tx, g.PlaceID, op, g.ID)
	return putGrant(t.tx, g, old)
}

// ListGrants lists grants of a kind, newest first, and how many match.
func (s *Store) ListGrants(placeID, kind string, q grant.ListQuery) (list []grant.Grant, total int, err error) {
	where := " FROM grants WHERE place_id = ? AND kind = ?"
	args := []any{placeID, kind}
	where, args = filter(where, args, q)
	return page(s, scanGrant, grantColumns, where, "created_at DESC, id DESC", args, q.Limit, q.Offset)
}

// filter adds the conditions of a list query.
func filter(where string, args []any, q grant.ListQuery) (string, []any) {
	if q.ExternalRef != "" {
		where, args = where+" AND external_ref = ?", append(args, q.ExternalRef)
	}
	if q.Phone != "" {
		where, args = where+" AND phone = ?", append(args, q.Phone)
	}
	return where, args
}

// page reads one page and the number of all matches, at one moment.
func page[T any](s *Store, scan func(interface{ Scan(...any) error }) (T, error), columns, from, order string, args []any, limit, offset int) (list []T, total int, err error) {
	tx, err := s.read.Begin()
	if err != nil {
		return nil, 0, wrap(err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := tx.QueryRow("SELECT COUNT(*)"+from, args...).Scan(&total); err != nil {
		return nil, 0, wrap(err)
	}
	args = append(args[:len(args):len(args)], limit, offset)
	list, err = collect(tx, scan, "SELECT "+columns+from+" ORDER BY "+order+" LIMIT ? OFFSET ?", args...)
	return list, total, err
}
