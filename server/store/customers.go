package store

import (
	"database/sql"
	"errors"

	"github.com/doorlab/doorlab/server/grant"
)

const customerColumns = `id, place_id, source, COALESCE(external_ref, ''), phone, name, created_at, updated_at`

func scanCustomer(row interface{ Scan(...any) error }) (grant.Customer, error) {
	var c grant.Customer
	var created, updated int64
	err := row.Scan(&c.ID, &c.PlaceID, &c.Source, &c.ExternalRef, &c.Phone, &c.Name, &created, &updated)
	c.CreatedAt, c.UpdatedAt = msTime(created), msTime(updated)
	return c, wrap(err)
}

// ListCustomers lists customers, newest first, and how many match.
func (s *Store) ListCustomers(placeID string, q grant.ListQuery) (list []grant.Customer, total int, err error) {
	where, args := filter(" FROM customers WHERE place_id = ?", []any{placeID}, q)
	return page(s, scanCustomer, customerColumns, where, "created_at DESC, id DESC", args, q.Limit, q.Offset)
}

func (t grantTx) customer(where string, args ...any) (grant.Customer, error) {
	return scanCustomer(t.tx.QueryRow("SELECT "+customerColumns+" FROM customers WHERE "+where, args...))
}

func (t grantTx) CustomerByRef(placeID, source, ref string) (grant.Customer, error) {
	return t.customer("place_id = ? AND source = ? AND external_ref = ?", placeID, source, ref)
}

func (t grantTx) CustomerByPhone(placeID, source, phone string) (grant.Customer, error) {
	return t.customer("place_id = ? AND phone = ? AND source = ? AND external_ref IS NULL ORDER BY id LIMIT 1", placeID, phone, source)
}

func (t grantTx) HasCustomer(placeID, phone string) (bool, error) {
	var one int
	err := t.tx.QueryRow("SELECT 1 FROM customers WHERE place_id = ? AND phone = ? LIMIT 1", placeID, phone).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, wrap(err)
}

func (t grantTx) PutCustomer(c grant.Customer) error {
	_, err := t.tx.Exec(`INSERT INTO customers (id, place_id, source, external_ref, phone, name, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET phone = excluded.phone, name = excluded.name, updated_at = excluded.updated_at`,
		c.ID, c.PlaceID, c.Source, textOrNull(c.ExternalRef), c.Phone, c.Name, c.CreatedAt.UnixMilli(), c.UpdatedAt.UnixMilli())
	return wrap(err)
}
