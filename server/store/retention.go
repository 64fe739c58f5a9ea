package store

import (
	"time"

	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

var _ record.Archive = (*Store)(nil)

// forget deletes a batch behind every other write.
func (s *Store) forget(del func(q *db.Queries) (int64, error)) (n int, err error) {
	err = s.writeBehind(func(tx *Tx) error {
		gone, err := del(tx.q)
		n = int(gone)
		return err
	})
	return n, err
}

// ForgetRecords implements record.Archive.
func (s *Store) ForgetRecords(before time.Time, limit int) (int, error) {
	return s.forget(func(q *db.Queries) (int64, error) { return q.ForgetRecords(ctx, int64(limit), before.UnixMilli()) })
}

// ForgetEvents implements record.Archive.
func (s *Store) ForgetEvents(before time.Time, limit int) (int, error) {
	return s.forget(func(q *db.Queries) (int64, error) { return q.ForgetEvents(ctx, int64(limit), before.UnixMilli()) })
}

// ForgetAudits implements record.Archive.
func (s *Store) ForgetAudits(before time.Time, limit int) (int, error) {
	return s.forget(func(q *db.Queries) (int64, error) { return q.ForgetAudits(ctx, int64(limit), before.UnixMilli()) })
}

// ForgetGrants implements record.Archive: grants that have left the boards'
// content, which they do grant.Stay after they ended.
func (s *Store) ForgetGrants(before time.Time, limit int) (int, error) {
	return s.forget(func(q *db.Queries) (int64, error) {
		return q.ForgetGrants(ctx, toNull(before.Add(grant.Stay)), int64(limit))
	})
}

// ForgetRevisions implements record.Archive.
func (s *Store) ForgetRevisions(before time.Time, limit int) (n int, err error) {
	places, err := s.Places()
	if err != nil {
		return 0, err
	}
	for _, p := range places {
		gone, err := s.forget(func(q *db.Queries) (int64, error) {
			return q.ForgetRevisions(ctx, db.ForgetRevisionsParams{PlaceID: p.ID, Before: before.UnixMilli(), Oldest: int64(limit)})
		})
		if err != nil {
			return n, err
		}
		n = max(n, gone) // one place with a whole batch: there may be more
	}
	return n, nil
}
