package store

import (
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

// AddAudit writes one line of the audit log.
func (s *Store) AddAudit(a record.Audit) error {
	return s.writeIn(s.jobs, together(func(tx *Tx) error { return tx.InsertAudit(a) }))
}

// InsertAudit implements record.Tx.
func (t *Tx) InsertAudit(a record.Audit) error {
	if a.At.IsZero() {
		a.At = t.Now
	}
	return wrap(t.q.InsertAudit(ctx, db.InsertAuditParams{At: a.At.UnixMilli(), PlaceID: a.PlaceID, KeyID: a.KeyID,
		RequestID: a.RequestID, Action: a.Action, Detail: a.Detail, Count: int64(a.Count), AgedOn: t.day()}))
}

func auditOf(r db.Audit, err error) (record.Audit, error) {
	return record.Audit{At: msTime(r.At), PlaceID: r.PlaceID, KeyID: r.KeyID, RequestID: r.RequestID,
		Action: r.Action, Detail: r.Detail, Count: int(r.Count)}, wrap(err)
}

// Audits lists the audit log of a place ("" = all places), newest first, and how
// many lines it has.
func (s *Store) Audits(placeID string, limit, offset int) (list []record.Audit, total int, err error) {
	if placeID == "" {
		return paged(s, limit, offset, func(tx *Tx) ([]record.Audit, error) {
			return converted(auditOf)(tx.q.Audits(ctx, int64(limit), int64(offset)))
		}, func(tx *Tx) (int64, error) { return tx.q.CountAudits(ctx) })
	}
	return paged(s, limit, offset, func(tx *Tx) ([]record.Audit, error) {
		return converted(auditOf)(tx.q.AuditsOfPlace(ctx, db.AuditsOfPlaceParams{PlaceID: placeID, Limit: int64(limit), Offset: int64(offset)}))
	}, func(tx *Tx) (int64, error) { return tx.q.CountAuditsOfPlace(ctx, placeID) })
}
