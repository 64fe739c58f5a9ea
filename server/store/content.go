package store

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/store/db"
)

// AtOnce implements boardsync.Source.
func (s *Store) AtOnce(fn func(m boardsync.Moment) error) error {
	return s.moment(func(tx *Tx) error { return fn(tx) })
}

// Parts implements boardsync.Moment.
func (t *Tx) Parts(placeID string) (boardsync.Parts, error) {
	r, err := t.q.PlaceParts(ctx, placeID)
	return boardsync.Parts(r), wrap(err)
}

// GrantsSince implements boardsync.Moment. Of the grants there is what boards may know.
func (t *Tx) GrantsSince(placeID string, rev int64) ([]grant.Grant, error) {
	if rev == 0 {
		return converted(func(r db.GrantsLiveRow, err error) (grant.Grant, error) {
			return contentGrantOf(db.GrantsSinceRow(r), err)
		})(t.q.GrantsLive(ctx, placeID))
	}
	return converted(contentGrantOf)(t.q.GrantsSince(ctx, placeID, rev))
}

func contentGrantOf(r db.GrantsSinceRow, err error) (grant.Grant, error) {
	return grantOf(db.Grant{ID: r.ID, Kind: r.Kind, Phone: r.Phone, TokenHash: r.TokenHash, Doors: r.Doors, StartsAt: r.StartsAt, EndsAt: r.EndsAt,
		RevokedAt: r.RevokedAt, Rev: r.Rev, LeftRev: r.LeftRev}, err)
}

// PhoneKey is the key of a place's phone hashes.
func (s *Store) PhoneKey(placeID string) access.PhoneKey {
	return access.NewPhoneKey(s.phones, placeID)
}

// PhoneKey implements boardsync.Moment.
func (t *Tx) PhoneKey(placeID string) access.PhoneKey {
	return access.NewPhoneKey(t.phones, placeID)
}

// Place reads one place. Error: fail.ErrNotFound. A write that hasn't changed any place reads it from memory.
func (t *Tx) Place(id string) (place.Place, error) {
	read := func() (place.Place, error) { return placeOf(t.q.Place(ctx, id)) }
	if t.batch == nil || t.doors.changed { // a moment reads the past, which memory doesn't have
		return read()
	}
	return t.doors.place(id, read)
}

// Door reads one door. Error: fail.ErrNotFound.
func (t *Tx) Door(id string) (place.Door, error) { return doorOf(t.q.Door(ctx, id)) }

// Doors lists a place's doors in the order of the world file. A write that finds
// none changed takes them from memory, and nobody may change the list.
func (t *Tx) Doors(placeID string) ([]place.Door, error) {
	read := func() ([]place.Door, error) { return readDoors(t.q, placeID) }
	if t.batch == nil || t.doors.changed { // a moment reads the past, which memory doesn't have
		return read()
	}
	return t.doors.of(placeID, read)
}

// Policies lists a place's window policies, of one door when doorID is not "".
func (t *Tx) Policies(placeID, doorID string) ([]access.Window, error) {
	return readPolicies(t.q, placeID, doorID)
}
