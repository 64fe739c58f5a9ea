package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/store/db"
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

func (t grantTx) Now() time.Time { return Now(t.tx) }

func (t grantTx) Place(id string) (place.Place, error) { return placeOf(db.New(t.tx).Place(ctx, id)) }

func (t grantTx) Doors(placeID string) ([]place.Door, error) { return readDoors(db.New(t.tx), placeID) }

func (t grantTx) Grant(id string) (grant.Grant, error) { return t.found(db.New(t.tx).Grant(ctx, id)) }

func (t grantTx) GrantByRef(placeID, kind, source, ref string) (grant.Grant, error) {
	return t.found(db.New(t.tx).GrantByRef(ctx, db.GrantByRefParams{PlaceID: placeID, Kind: kind, Source: source, ExternalRef: text(ref)}))
}

func (t grantTx) GrantByPhone(placeID, kind, source, phone string) (grant.Grant, error) {
	return t.found(db.New(t.tx).GrantByPhone(ctx, db.GrantByPhoneParams{PlaceID: placeID, Phone: phone, Kind: kind, Source: source}))
}

func (t grantTx) found(r db.Grant, err error) (grant.Grant, error) {
	g, err := grantOf(r, err)
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
	return page(s, where, "created_at DESC, id DESC", args, q.Limit, q.Offset, (*db.Queries).GrantsByID, grantOf)
}

// filter adds the conditions of a list query. They are put together here, not
// in queries/*.sql: optional conditions in one statement would use no index.
func filter(where string, args []any, q grant.ListQuery) (string, []any) {
	if q.ExternalRef != "" {
		where, args = where+" AND external_ref = ?", append(args, q.ExternalRef)
	}
	if q.Phone != "" {
		where, args = where+" AND phone = ?", append(args, q.Phone)
	}
	return where, args
}

// page reads one page and the number of all matches, at one moment. What it
// looks for differs from call to call, so this SQL is made here: it finds the
// ids, load reads them, in the same order.
func page[R, T any](s *Store, from, order string, args []any, limit, offset int,
	load func(*db.Queries, context.Context, []string) ([]R, error), of func(R, error) (T, error)) (list []T, total int, err error) {
	err = s.moment(func(tx *sql.Tx) error {
		if err := tx.QueryRow("SELECT COUNT(*)"+from, args...).Scan(&total); err != nil {
			return err
		}
		ids, err := pageIDs(tx, "SELECT id"+from+" ORDER BY "+order+" LIMIT ? OFFSET ?", append(args[:len(args):len(args)], limit, offset)...)
		if err != nil || len(ids) == 0 {
			return err
		}
		rows, err := load(db.New(tx), ctx, ids)
		list, err = each(of, rows, err)
		return err
	})
	return list, total, err
}

func pageIDs(tx *sql.Tx, query string, args ...any) (ids []string, err error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// moment runs fn on the database as it is at one moment.
func (s *Store) moment(fn func(tx *sql.Tx) error) error {
	tx, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return wrap(err)
	}
	defer func() { _ = tx.Rollback() }()
	return wrap(fn(tx))
}
