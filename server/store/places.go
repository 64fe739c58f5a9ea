package store

import (
	"encoding/json"
	"errors"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/store/db"
)

func placeOf(r db.Place, err error) (place.Place, error) {
	if err != nil {
		return place.Place{}, wrap(err)
	}
	p := place.Place{ID: r.ID, Name: r.Name, Kind: r.Kind, Timezone: r.Timezone, EntryPhone: r.EntryPhone.String,
		PhoneEnabled: r.PhoneEnabled, PermitMaxHours: int(r.PermitMaxHours)}
	return p, errors.Join(json.Unmarshal([]byte(r.Week), &p.Week),
		json.Unmarshal([]byte(r.Closures), &p.Closures), json.Unmarshal([]byte(r.Holidays), &p.Holidays))
}

// Place reads one place. Error: fail.ErrNotFound.
func (s *Store) Place(id string) (place.Place, error) {
	return s.doors.place(id, func() (place.Place, error) { return placeOf(s.q.Place(ctx, id)) })
}

// PlaceByPhone finds the place an entry phone number belongs to. Error: fail.ErrNotFound.
func (s *Store) PlaceByPhone(number string) (place.Place, error) {
	return placeOf(s.q.PlaceByPhone(ctx, text(number)))
}

// Revisions is the current revision of every place.
func (s *Store) Revisions() (map[string]int64, error) {
	rows, err := s.q.Revisions(ctx)
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Revision
	}
	return out, wrap(err)
}

// Places lists every place by id.
func (s *Store) Places() ([]place.Place, error) {
	return converted(placeOf)(s.q.Places(ctx))
}

func doorOf(r db.Door, err error) (place.Door, error) {
	return place.Door{ID: r.ID, PlaceID: r.PlaceID, BoardID: r.BoardID, Name: r.Name, Channel: int(r.Channel),
		Entry: r.Entry, PermitMaxHours: int(r.PermitMaxHours)}, wrap(err)
}

func readDoors(q *db.Queries, placeID string) ([]place.Door, error) {
	return converted(doorOf)(q.DoorsOfPlace(ctx, placeID))
}

func boardOf(r db.Board, err error) (place.Board, error) {
	return place.Board{ID: r.ID, PlaceID: r.PlaceID, Name: r.Name}, wrap(err)
}

// Board reads one board. Error: fail.ErrNotFound.
func (s *Store) Board(id string) (place.Board, error) { return boardOf(s.q.Board(ctx, id)) }

// Boards lists a place's boards, or every board when placeID is "".
func (s *Store) Boards(placeID string) ([]place.Board, error) {
	if placeID == "" {
		return converted(boardOf)(s.q.Boards(ctx))
	}
	return converted(boardOf)(s.q.BoardsOfPlace(ctx, placeID))
}

func policyOf(r db.Window, err error) (access.Window, error) {
	w := access.Window{ID: r.ID, DoorID: r.DoorID, Ref: r.Ref, Mode: r.Mode, StartsAt: r.StartsAt, EndsAt: r.EndsAt, CreatedAt: r.CreatedAt}
	if err == nil && r.Week.String != "" {
		err = json.Unmarshal([]byte(r.Week.String), &w.Week)
	}
	return w, wrap(err)
}

// Policies lists a place's window policies, of one door when doorID is not "".
func (s *Store) Policies(placeID, doorID string) ([]access.Window, error) {
	return readPolicies(s.q, placeID, doorID)
}

func readPolicies(q *db.Queries, placeID, doorID string) ([]access.Window, error) {
	if doorID == "" {
		return converted(policyOf)(q.PoliciesOfPlace(ctx, placeID))
	}
	return converted(policyOf)(q.PoliciesOfDoor(ctx, placeID, doorID))
}
