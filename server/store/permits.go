package store

import (
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

// grantsPage is what lists show: columns are most of what a page costs.
const grantsPage = `SELECT id, source, external_ref, phone, name, starts_at, ends_at, doors, generation, link_hash, created_at, updated_at,
	revoked_at, use_count, first_used_at FROM grants WHERE place_id = ? AND kind = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`

// allGrants reads one page of a place's grants of a kind, and their number.
func (s *Store) allGrants(placeID, kind string, limit, offset int) (list []grant.Grant, total int, err error) {
	return paged(s, limit, offset, func(tx *Tx) ([]grant.Grant, error) {
		return scanned(tx, limit, func(r *db.Grant) []any {
			r.PlaceID, r.Kind = placeID, kind
			return []any{&r.ID, &r.Source, &r.ExternalRef, &r.Phone, &r.Name, &r.StartsAt, &r.EndsAt, &r.Doors, &r.Generation, &r.LinkHash, &r.CreatedAt,
				&r.UpdatedAt, &r.RevokedAt, &r.UseCount, &r.FirstUsedAt}
		}, grantOf, grantsPage, placeID, kind, limit, offset)
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
