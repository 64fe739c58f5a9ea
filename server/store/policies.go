package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/store/db"
)

// ChangePlace implements place.Store.
func (s *Store) ChangePlace(fn func(tx place.Tx) error) error {
	return s.write(func(tx *Tx) error { return fn(placeTx{tx}) })
}

// placeTx is a transaction as server/place sees it.
type placeTx struct{ *Tx }

// Now implements place.Tx.
func (t placeTx) Now() time.Time { return t.Tx.Now }

// PhoneTaken implements place.Tx.
func (t placeTx) PhoneTaken(number, placeID string) (bool, error) {
	n, err := t.q.PhoneTaken(ctx, text(number), placeID)
	return n > 0, wrap(err)
}

// SavePlace writes the changeable parts of a place; boards hear of changed hours.
func (t placeTx) SavePlace(op string, p, old place.Place) error {
	q := t.q
	t.doors.changed = true
	if err := q.UpdatePlace(ctx, db.UpdatePlaceParams{ID: p.ID, Timezone: p.Timezone, EntryPhone: text(p.EntryPhone), PhoneEnabled: p.PhoneEnabled,
		Week: jsonText(p.Week), Closures: jsonText(p.Closures), Holidays: jsonText(p.Holidays)}); err != nil {
		return wrap(err)
	}
	if jsonText(p.Hours()) == jsonText(old.Hours()) {
		return nil
	}
	if err := t.raiseFor(q.SetHoursRev, op, p.ID); err != nil {
		return err
	}
	if err := t.toggle(p.ID, "hours", old.Hours()); err != nil {
		return err
	}
	return t.toggle(p.ID, "hours", p.Hours())
}

// raiseFor raises the place's revision; changed says which part of its content is new.
func (t placeTx) raiseFor(changed func(ctx context.Context, rev int64, placeID string) error, op, placeID string) error {
	rev, err := t.raise(placeID)
	if err != nil {
		return err
	}
	t.note(placeID, op, "")
	return wrap(changed(ctx, rev, placeID))
}

func (t placeTx) SaveDoor(d place.Door) error {
	t.doors.changed = true
	if err := t.q.UpdateDoor(ctx, db.UpdateDoorParams{ID: d.ID, Entry: d.Entry, PermitMaxHours: int64(d.PermitMaxHours)}); err != nil {
		return wrap(err)
	}
	now, err := readDoors(t.q, d.PlaceID)
	if err == nil {
		t.noted = append(t.noted, entries(d.PlaceID, now))
	}
	return err
}

func (t placeTx) SavePolicies(op, placeID string, put, drop []access.Window) error {
	q := t.q
	if err := t.raiseFor(q.SetWindowsRev, op, placeID); err != nil {
		return err
	}
	for _, p := range drop {
		if err := t.toggle(placeID, "window", p); err != nil {
			return err
		}
		if err := q.DeletePolicy(ctx, p.ID); err != nil {
			return wrap(err)
		}
	}
	for _, p := range put {
		if err := t.toggle(placeID, "window", p); err != nil {
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
