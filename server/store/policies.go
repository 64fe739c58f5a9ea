package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/store/db"
)

// ChangePlace implements place.Store. Openings that may have read the place as
// it was are on their way when it returns [ENT-2] [HRS-1].
func (s *Store) ChangePlace(fn func(tx place.Tx) error) error {
	var placeID string
	err := s.Write(func(tx *sql.Tx) error { return fn(placeTx{tx, &placeID}) })
	if err == nil {
		s.visits.wait(placeID)
	}
	return err
}

// placeTx is a transaction as server/place sees it. It notes the place.
type placeTx struct {
	tx      *sql.Tx
	placeID *string
}

func (t placeTx) Now() time.Time { return Now(t.tx) }

func (t placeTx) Place(id string) (place.Place, error) { return placeOf(db.New(t.tx).Place(ctx, id)) }

func (t placeTx) Door(id string) (place.Door, error) { return doorOf(db.New(t.tx).Door(ctx, id)) }

func (t placeTx) Policies(placeID, doorID string) ([]place.Policy, error) {
	return readPolicies(db.New(t.tx), placeID, doorID)
}

func (t placeTx) PhoneTaken(number, placeID string) (bool, error) {
	n, err := db.New(t.tx).PhoneTaken(ctx, text(number), placeID)
	return n > 0, wrap(err)
}

// SavePlace writes what may change of a place; boards hear of changed hours.
func (t placeTx) SavePlace(op string, p, old place.Place) error {
	*t.placeID = p.ID
	q := db.New(t.tx)
	if err := q.UpdatePlace(ctx, db.UpdatePlaceParams{ID: p.ID, Timezone: p.Timezone, EntryPhone: text(p.EntryPhone), PhoneEnabled: p.PhoneEnabled,
		Week: jsonText(p.Week), Closures: jsonText(p.Closures), Holidays: jsonText(p.Holidays)}); err != nil {
		return wrap(err)
	}
	if jsonText(p.Hours()) == jsonText(old.Hours()) {
		return nil
	}
	if err := t.raise(q.SetHoursRev, op, p.ID); err != nil {
		return err
	}
	if err := toggle(t.tx, p.ID, "hours", old.Hours()); err != nil {
		return err
	}
	return toggle(t.tx, p.ID, "hours", p.Hours())
}

// raise raises the place's revision; changed says which part of its content is new at it.
func (t placeTx) raise(changed func(ctx context.Context, rev int64, placeID string) error, op, placeID string) error {
	rev, err := RaiseRevision(t.tx, placeID)
	if err != nil {
		return err
	}
	note(t.tx, placeID, op, "")
	return wrap(changed(ctx, rev, placeID))
}

func (t placeTx) SaveDoor(d place.Door) error {
	return wrap(db.New(t.tx).UpdateDoor(ctx, db.UpdateDoorParams{ID: d.ID, Entry: d.Entry, PermitMaxHours: int64(d.PermitMaxHours)}))
}

func (t placeTx) SavePolicies(op, placeID string, put, drop []place.Policy) error {
	*t.placeID = placeID
	q := db.New(t.tx)
	if err := t.raise(q.SetWindowsRev, op, placeID); err != nil {
		return err
	}
	for _, p := range drop {
		if err := toggle(t.tx, placeID, "window", p.Window); err != nil {
			return err
		}
		if err := q.DeletePolicy(ctx, p.ID); err != nil {
			return wrap(err)
		}
	}
	for _, p := range put {
		if err := toggle(t.tx, placeID, "window", p.Window); err != nil {
			return err
		}
		var week sql.NullString
		if p.Week != nil {
			week = text(jsonText(p.Week))
		}
		if err := q.InsertPolicy(ctx, db.InsertPolicyParams{ID: p.ID, PlaceID: placeID, DoorID: p.DoorID, Ref: p.Ref, Mode: p.Mode, Week: week,
			StartsAt: p.StartsAt, EndsAt: p.EndsAt, CreatedAt: p.CreatedAt}); err != nil {
			return wrap(err)
		}
	}
	return nil
}
