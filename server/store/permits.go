package store

import (
	"context"
	"slices"
	"time"

	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/store/db"
)

// Change implements grant.Store. The rules decide before they write, so it needs no savepoint.
func (s *Store) Change(fn func(tx grant.Tx) error) error {
	return s.writeIn(s.jobs, together(func(tx *Tx) error { return fn(grantTx{tx}) }))
}

// ChangeBehind implements grant.Store.
func (s *Store) ChangeBehind(fn func(tx grant.Tx) error) error {
	return s.writeBehind(func(tx *Tx) error { return fn(grantTx{tx}) })
}

// grantTx is a transaction as server/grant sees it.
type grantTx struct{ *Tx }

// Now implements grant.Tx.
func (t grantTx) Now() time.Time { return t.Tx.Now }

// Grant implements grant.Tx.
func (t grantTx) Grant(id string) (grant.Grant, error) { return grantOf(t.q.Grant(ctx, id)) }

// GrantByRef implements grant.Tx.
func (t grantTx) GrantByRef(placeID, kind, source, ref string) (grant.Grant, error) {
	return grantOf(t.q.GrantByRef(ctx, db.GrantByRefParams{PlaceID: placeID, Kind: kind, Source: source, ExternalRef: text(ref)}))
}

// GrantByPhone implements grant.Tx.
func (t grantTx) GrantByPhone(placeID, kind, source, phone string) (grant.Grant, error) {
	return grantOf(t.q.GrantByPhone(ctx, db.GrantByPhoneParams{PlaceID: placeID, Phone: phone, Kind: kind, Source: source}))
}

// PutGrant implements grant.Tx.
func (t grantTx) PutGrant(op string, g, old *grant.Grant) error {
	t.note(g.PlaceID, op, g.ID)
	return t.putGrant(g, old)
}

// Links lists the ids of permits that aren't revoked, in order, after one.
func (s *Store) Links(after string, most int) ([]string, error) {
	ids, err := s.q.Links(ctx, after, int64(most))
	return ids, wrap(err)
}

// ListGrants lists grants of a kind, newest first, and how many match. A list of all has only what lists show.
func (s *Store) ListGrants(placeID, kind string, q grant.ListQuery) (list []grant.Grant, total int, err error) {
	if q.ExternalRef == "" {
		return s.allGrants(placeID, kind, q.Limit, q.Offset)
	}
	from, args := referredOf(placeID, kind, q.ExternalRef)
	return page(s, newestFirst(from), from, args, q.Limit, q.Offset, (*db.Queries).GrantsByID, grantOf)
}

// allGrants reads one page of a place's grants of a kind, and their number.
func (s *Store) allGrants(placeID, kind string, limit, offset int) (list []grant.Grant, total int, err error) {
	return paged(s, limit, offset, func(tx *Tx) ([]grant.Grant, error) {
		return converted(func(r db.GrantsPageRow, err error) (grant.Grant, error) {
			return grantOf(db.Grant{ID: r.ID, PlaceID: placeID, Kind: kind, Source: r.Source, ExternalRef: r.ExternalRef, Phone: r.Phone, Name: r.Name,
				StartsAt: r.StartsAt, EndsAt: r.EndsAt, Doors: r.Doors, Generation: r.Generation, LinkHash: r.LinkHash, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
				RevokedAt: r.RevokedAt, UseCount: r.UseCount, FirstUsedAt: r.FirstUsedAt}, err)
		})(tx.q.GrantsPage(ctx, db.GrantsPageParams{PlaceID: placeID, Kind: kind, Limit: int64(limit), Offset: int64(offset)}))
	}, func(tx *Tx) (int64, error) { return s.totals.grants(tx, placeID, kind) })
}

// referredOf are a place's grants of a kind with one reference, from any source. The index is named because SQLite, left
// to itself, goes through all of the place's: they are in order already.
func referredOf(placeID, kind, ref string) (from string, args []any) {
	return " FROM grants INDEXED BY grants_ref WHERE place_id = ? AND kind = ? AND external_ref = ?", []any{placeID, kind, ref}
}

// newestFirst finds the ids of a list.
func newestFirst(from string) (find string) {
	return "SELECT id" + from + " ORDER BY created_at DESC, id DESC"
}

// paged reads one page and the total number of matches, both at one moment. They are counted only where the page doesn't
// reveal the total.
func paged[T any](s *Store, limit, offset int, read func(tx *Tx) ([]T, error), count func(tx *Tx) (int64, error)) (list []T, total int, err error) {
	err = s.moment(func(tx *Tx) error {
		if list, err = read(tx); err != nil {
			return err
		}
		if total = offset + len(list); len(list) == limit || len(list) == 0 && offset > 0 {
			n, err := count(tx)
			total = int(n)
			return err
		}
		return nil
	})
	return list, total, err
}

// page is paged for conditions that vary from call to call, so the SQL is composed here: find, without its limit, finds the
// ids, and load reads the rows in that order. from is counted.
func page[R, T any](s *Store, find, from string, args []any, limit, offset int,
	load func(*db.Queries, context.Context, []string) ([]R, error), of func(R, error) (T, error)) (list []T, total int, err error) {
	return paged(s, limit, offset, func(tx *Tx) ([]T, error) {
		ids, err := pageIDs(tx, find+" LIMIT ? OFFSET ?", append(slices.Clip(args), limit, offset)...)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		return converted(of)(load(tx.q, ctx, ids))
	}, func(tx *Tx) (n int64, err error) {
		err = tx.QueryRow("SELECT COUNT(*)"+from, args...).Scan(&n)
		return n, err
	})
}

// pageIDs reads the first column; columns to order by may follow it.
func pageIDs(tx *Tx, query string, args ...any) (ids []string, err error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var id string
	into := []any{&id, new(any)}[:len(columns)]
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// moment runs fn on a consistent snapshot of the database; fn only reads.
func (s *Store) moment(fn func(tx *Tx) error) error {
	tx, err := begin(&s.reading, "BEGIN")
	if err != nil {
		return wrap(err)
	}
	defer tx.Rollback()
	err = wrap(fn(s.tx(&statements{transaction: tx}, db.New(tx), time.Time{}, nil)))
	s.found(err)
	return err
}
