package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

// ctx is the context of every query: queries are never cancelled; what starts also finishes.
var ctx = context.Background()

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func fromNull(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return msTime(n.Int64)
}

func toNull(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// text is a string as it is stored: "" is NULL, so looking for "" finds nothing.
func text(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// jsonText encodes one of our own types.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return string(b)
}

// converted is the rows of a query as of has them.
func converted[R, T any](of func(R, error) (T, error)) func(rows []R, err error) ([]T, error) {
	return func(rows []R, err error) ([]T, error) {
		if err != nil || len(rows) == 0 {
			return nil, wrap(err)
		}
		out := make([]T, 0, len(rows))
		for _, r := range rows {
			v, err := of(r, nil)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
}

// none turns a missing row into the zero value.
func none[T any](v T, err error) (T, error) {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, fail.ErrNotFound) {
		return v, nil
	}
	return v, wrap(err)
}
