package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/server/place"
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

func (t placeTx) Now() time.Time                       { return Now(t.tx) }
func (t placeTx) Place(id string) (place.Place, error) { return readPlace(t.tx, id) }
func (t placeTx) Door(id string) (place.Door, error)   { return readDoor(t.tx, id) }

func (t placeTx) Policies(placeID, doorID string) ([]place.Policy, error) {
	return readPolicies(t.tx, placeID, doorID)
}

func (t placeTx) PhoneTaken(number, placeID string) (bool, error) {
	var one int
	err := t.tx.QueryRow("SELECT 1 FROM places WHERE entry_phone = ? AND id <> ?", number, placeID).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, wrap(err)
}

// SavePlace writes what may change of a place; boards hear of changed hours.
func (t placeTx) SavePlace(op string, p, old place.Place) error {
	*t.placeID = p.ID
	if _, err := t.tx.Exec("UPDATE places SET timezone = ?, entry_phone = ?, phone_enabled = ?, week = ?, closures = ?, holidays = ? WHERE id = ?",
		p.Timezone, textOrNull(p.EntryPhone), p.PhoneEnabled, jsonText(p.Week), jsonText(p.Closures), jsonText(p.Holidays), p.ID); err != nil {
		return wrap(err)
	}
	if jsonText(p.Hours()) == jsonText(old.Hours()) {
		return nil
	}
	if err := t.raise("hours_rev", op, p.ID); err != nil {
		return err
	}
	if err := toggle(t.tx, p.ID, "hours", old.Hours()); err != nil {
		return err
	}
	return toggle(t.tx, p.ID, "hours", p.Hours())
}

// raise raises the place's revision and says which part of its content changed.
func (t placeTx) raise(column, op, placeID string) error {
	rev, err := RaiseRevision(t.tx, placeID)
	if err != nil {
		return err
	}
	note(t.tx, placeID, op, "")
	_, err = t.tx.Exec("UPDATE places SET "+column+" = ? WHERE id = ?", rev, placeID)
	return wrap(err)
}

func (t placeTx) SaveDoor(d place.Door) error {
	_, err := t.tx.Exec("UPDATE doors SET entry = ?, permit_max_hours = ? WHERE id = ?", d.Entry, d.PermitMaxHours, d.ID)
	return wrap(err)
}

func (t placeTx) SavePolicies(op, placeID string, put, drop []place.Policy) error {
	*t.placeID = placeID
	if err := t.raise("windows_rev", op, placeID); err != nil {
		return err
	}
	for _, p := range drop {
		if err := toggle(t.tx, placeID, "window", p.Window); err != nil {
			return err
		}
		if _, err := t.tx.Exec("DELETE FROM windows WHERE id = ?", p.ID); err != nil {
			return wrap(err)
		}
	}
	for _, p := range put {
		if err := toggle(t.tx, placeID, "window", p.Window); err != nil {
			return err
		}
		var week any
		if p.Week != nil {
			week = jsonText(p.Week)
		}
		if _, err := t.tx.Exec("INSERT INTO windows (id, place_id, door_id, ref, mode, week, starts_at, ends_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			p.ID, placeID, p.DoorID, p.Ref, p.Mode, week, p.StartsAt, p.EndsAt, p.CreatedAt); err != nil {
			return wrap(err)
		}
	}
	return nil
}
