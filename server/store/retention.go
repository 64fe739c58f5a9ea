package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/doorlab/doorlab/server/age"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

var _ record.Archive = (*Store)(nil)

// Ages says how old things are; it continues where the last run left off.
func (s *Store) Ages() *age.Clock { return s.ages }

// readAges only reads.
func (s *Store) readAges(patience time.Duration) error {
	text, err := s.meta("ages")
	if err != nil {
		return err
	}
	var saved age.State
	if text != "" {
		if err := json.Unmarshal([]byte(text), &saved); err != nil {
			return fmt.Errorf("store: the state of ages: %w", err)
		}
	}
	newest, err := s.q.NewestAge(ctx)
	if err != nil {
		return wrap(err)
	}
	var least time.Time
	if newest > 0 {
		least = msTime(newest)
	}
	s.ages = age.New(s.clk, saved, least, patience)
	return nil
}

// Age implements record.Archive.
func (s *Store) Age() error {
	return s.writeBehind(func(tx *Tx) error { return tx.setMeta("ages", jsonText(s.ages.Tick())) })
}

// forget deletes a batch, after every other write.
func (s *Store) forget(del func(tx *Tx) (int64, error)) (n int, err error) {
	err = s.writeBehind(func(tx *Tx) error {
		gone, err := del(tx)
		n = int(gone)
		return err
	})
	return n, err
}

// placesAtOnce is how many places share a batch while they have nothing to delete, which is nearly always the case.
const placesAtOnce = 50

// ofPlaces deletes place by place; n is the number for the place that lost most.
func (s *Store) ofPlaces(del func(tx *Tx, placeID string) (int64, error)) (n int, err error) {
	places, err := s.Places()
	if err != nil {
		return 0, err
	}
	for len(places) > 0 {
		gone, err := s.forget(func(tx *Tx) (gone int64, err error) {
			for range placesAtOnce {
				if len(places) == 0 || gone > 0 || err != nil {
					break
				}
				gone, err = del(tx, places[0].ID)
				places = places[1:]
			}
			return gone, err
		})
		if err != nil {
			return n, err
		}
		n = max(n, gone)
	}
	return n, nil
}

// past returns the times before which things have been kept long enough: a date, and the day of running time on which
// they were written.
func (t *Tx) past(keep time.Duration) (date, day int64) {
	return t.come.Add(-keep).UnixMilli(), age.Day(t.ran.Add(-keep))
}

// ForgetRecords implements record.Archive.
func (s *Store) ForgetRecords(keep time.Duration, limit int) (int, error) {
	return s.ofPlaces(func(tx *Tx, placeID string) (int64, error) {
		date, day := tx.past(keep)
		return tx.q.ForgetRecords(ctx, db.ForgetRecordsParams{PlaceID: placeID, Before: date, Aged: day, Most: int64(limit)})
	})
}

// ForgetEvents implements record.Archive.
func (s *Store) ForgetEvents(keep time.Duration, limit int) (int, error) {
	return s.ofPlaces(func(tx *Tx, placeID string) (int64, error) {
		date, day := tx.past(keep)
		return tx.q.ForgetEvents(ctx, db.ForgetEventsParams{PlaceID: placeID, Before: date, Aged: day, Most: int64(limit)})
	})
}

// ForgetAudits implements record.Archive.
func (s *Store) ForgetAudits(keep time.Duration, limit int) (int, error) {
	return s.forget(func(tx *Tx) (int64, error) {
		_, day := tx.past(keep)
		return tx.q.ForgetAudits(ctx, int64(limit), day)
	})
}

// ForgetGrants implements record.Archive: grants that have left the boards' content, which they do grant.Stay after they
// ended. A board that hasn't heard yet that one left gets a snapshot from now on.
func (s *Store) ForgetGrants(keep time.Duration, limit int) (int, error) {
	return s.forget(func(tx *Tx) (int64, error) {
		date, day := tx.past(max(0, keep-grant.Stay))
		gone, err := tx.q.ForgetGrants(ctx, db.ForgetGrantsParams{Before: toNull(msTime(date)), Aged: day, Most: int64(limit)})
		if err != nil {
			return 0, err
		}
		left := map[string]int64{}
		for _, g := range gone {
			left[g.PlaceID] = max(left[g.PlaceID], g.LeftRev.Int64)
		}
		for place, rev := range left {
			if err := tx.q.SetForgottenRev(ctx, rev, place); err != nil {
				return 0, err
			}
		}
		return int64(len(gone)), tx.forgot(int64(len(gone)))
	})
}
