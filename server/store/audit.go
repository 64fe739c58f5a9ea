package store

import (
	"database/sql"

	"github.com/doorlab/doorlab/server/record"
)

// AddAudit writes one line of the audit log.
func (s *Store) AddAudit(a record.Audit) error {
	return s.Write(func(tx *sql.Tx) error {
		if a.At.IsZero() {
			a.At = Now(tx)
		}
		_, err := tx.Exec("INSERT INTO audit (at, place_id, key_id, request_id, action, detail, count) VALUES (?, ?, ?, ?, ?, ?, ?)",
			a.At.UnixMilli(), a.PlaceID, a.KeyID, a.RequestID, a.Action, a.Detail, a.Count)
		return wrap(err)
	})
}

func scanAudit(row interface{ Scan(...any) error }) (record.Audit, error) {
	var a record.Audit
	var at int64
	err := row.Scan(&at, &a.PlaceID, &a.KeyID, &a.RequestID, &a.Action, &a.Detail, &a.Count)
	a.At = msTime(at)
	return a, wrap(err)
}

// Audits lists a place's audit log, newest first, and how many lines it has.
func (s *Store) Audits(placeID string, limit, offset int) (list []record.Audit, total int, err error) {
	return page(s, scanAudit, "at, place_id, key_id, request_id, action, detail, count", " FROM audit WHERE place_id = ?", "id DESC",
		[]any{placeID}, limit, offset)
}
