package store

import (
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/store/db"
)

func customerOf(r db.Customer, err error) (grant.Customer, error) {
	return grant.Customer{ID: r.ID, PlaceID: r.PlaceID, Source: r.Source, ExternalRef: r.ExternalRef.String, Phone: r.Phone, Name: r.Name,
		CreatedAt: msTime(r.CreatedAt), UpdatedAt: msTime(r.UpdatedAt)}, wrap(err)
}

// ListCustomers lists customers, newest first, and how many match.
func (s *Store) ListCustomers(placeID string, q grant.ListQuery) (list []grant.Customer, total int, err error) {
	from, args := customersOf(placeID, q)
	return page(s, newestFirst(from), from, args, q.Limit, q.Offset, (*db.Queries).CustomersByID, customerOf)
}

// customersOf are a place's customers, all or those with a reference. The index is named as in referredOf.
func customersOf(placeID string, q grant.ListQuery) (from string, args []any) {
	if q.ExternalRef != "" {
		return " FROM customers INDEXED BY customers_ref WHERE place_id = ? AND external_ref = ?", []any{placeID, q.ExternalRef}
	}
	return " FROM customers INDEXED BY customers_list WHERE place_id = ?", []any{placeID}
}

func (t grantTx) CustomerByRef(placeID, source, ref string) (grant.Customer, error) {
	return customerOf(t.q.CustomerByRef(ctx, db.CustomerByRefParams{PlaceID: placeID, Source: source, ExternalRef: text(ref)}))
}

func (t grantTx) CustomerByPhone(placeID, source, phone string) (grant.Customer, error) {
	return customerOf(t.q.CustomerByPhone(ctx, db.CustomerByPhoneParams{PlaceID: placeID, Phone: phone, Source: source}))
}

func (t grantTx) HasCustomer(placeID, phone string) (bool, error) {
	has, err := t.q.HasCustomer(ctx, placeID, phone)
	return has, wrap(err)
}

func (t grantTx) PutCustomer(c grant.Customer) error {
	return wrap(t.q.PutCustomer(ctx, db.PutCustomerParams{ID: c.ID, PlaceID: c.PlaceID, Source: c.Source, ExternalRef: text(c.ExternalRef),
		Phone: c.Phone, Name: c.Name, CreatedAt: c.CreatedAt.UnixMilli(), UpdatedAt: c.UpdatedAt.UnixMilli()}))
}
