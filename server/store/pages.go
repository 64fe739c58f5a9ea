package store

import (
	"context"
	"slices"

	"github.com/doorlab/doorlab/server/store/db"
)

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

// scanned reads a page of at most most rows, one after the other into the same row, whose fields into names. What sqlc
// generates keeps all rows beside what is made of them, which was a quarter of what a list of permits allocated.
func scanned[R, T any](tx *Tx, most int, into func(*R) []any, of func(R, error) (T, error), query string, args ...any) ([]T, error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var row R
	fields, out := into(&row), make([]T, 0, most)
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return nil, err
		}
		v, err := of(row, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
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
