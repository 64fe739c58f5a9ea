package store

import (
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/place"
)

// querier is a transaction or a pool.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
}

const placeColumns = `id, name, kind, timezone, COALESCE(entry_phone, ''), phone_enabled, permit_max_hours, week, closures, holidays, revision`

func scanPlace(row interface{ Scan(...any) error }) (place.Place, error) {
	var p place.Place
	var week, closures, holidays string
	err := row.Scan(&p.ID, &p.Name, &p.Kind, &p.Timezone, &p.EntryPhone, &p.PhoneEnabled, &p.PermitMaxHours, &week, &closures, &holidays, &p.Revision)
	if err != nil {
		return p, wrap(err)
	}
	return p, errors.Join(json.Unmarshal([]byte(week), &p.Week),
		json.Unmarshal([]byte(closures), &p.Closures), json.Unmarshal([]byte(holidays), &p.Holidays))
}

// Place reads one place. ErrNotFound.
func (s *Store) Place(id string) (place.Place, error) { return readPlace(s.read, id) }

func readPlace(q querier, id string) (place.Place, error) {
	return scanPlace(q.QueryRow("SELECT "+placeColumns+" FROM places WHERE id = ?", id))
}

// PlaceByPhone finds the place an entry phone number belongs to. ErrNotFound.
func (s *Store) PlaceByPhone(number string) (place.Place, error) {
	return scanPlace(s.read.QueryRow("SELECT "+placeColumns+" FROM places WHERE entry_phone = ?", number))
}

// Places lists every place by id.
func (s *Store) Places() ([]place.Place, error) {
	return collect(s.read, scanPlace, "SELECT "+placeColumns+" FROM places ORDER BY id")
}

const doorColumns = `id, place_id, board_id, name, channel, entry, permit_max_hours`

func scanDoor(row interface{ Scan(...any) error }) (place.Door, error) {
	var d place.Door
	err := row.Scan(&d.ID, &d.PlaceID, &d.BoardID, &d.Name, &d.Channel, &d.Entry, &d.PermitMaxHours)
	return d, wrap(err)
}

// Door reads one door. ErrNotFound.
func (s *Store) Door(id string) (place.Door, error) { return readDoor(s.read, id) }

func readDoor(q querier, id string) (place.Door, error) {
	return scanDoor(q.QueryRow("SELECT "+doorColumns+" FROM doors WHERE id = ?", id))
}

// Doors lists a place's doors in the order of the world file.
func (s *Store) Doors(placeID string) ([]place.Door, error) { return readDoors(s.read, placeID) }

func readDoors(q querier, placeID string) ([]place.Door, error) {
	return collect(q, scanDoor, "SELECT "+doorColumns+" FROM doors WHERE place_id = ? ORDER BY position, id", placeID)
}

// BoardDoors lists a board's doors by channel.
func (s *Store) BoardDoors(boardID string) ([]place.Door, error) {
	return collect(s.read, scanDoor, "SELECT "+doorColumns+" FROM doors WHERE board_id = ? ORDER BY channel, id", boardID)
}

const boardColumns = `id, place_id, name, password`

func scanBoard(row interface{ Scan(...any) error }) (place.Board, error) {
	var b place.Board
	err := row.Scan(&b.ID, &b.PlaceID, &b.Name, &b.Password)
	return b, wrap(err)
}

// Board reads one board. ErrNotFound.
func (s *Store) Board(id string) (place.Board, error) {
	return scanBoard(s.read.QueryRow("SELECT "+boardColumns+" FROM boards WHERE id = ?", id))
}

// Boards lists a place's boards, or every board when placeID is "".
func (s *Store) Boards(placeID string) ([]place.Board, error) {
	return collect(s.read, scanBoard, "SELECT "+boardColumns+" FROM boards WHERE place_id = ?1 OR ?1 = '' ORDER BY id", placeID)
}

const windowColumns = `id, place_id, door_id, ref, mode, COALESCE(week, ''), starts_at, ends_at, created_at`

func scanPolicy(row interface{ Scan(...any) error }) (place.Policy, error) {
	var p place.Policy
	var week string
	if err := row.Scan(&p.ID, &p.PlaceID, &p.DoorID, &p.Ref, &p.Mode, &week, &p.StartsAt, &p.EndsAt, &p.CreatedAt); err != nil {
		return p, wrap(err)
	}
	if week != "" {
		return p, json.Unmarshal([]byte(week), &p.Week)
	}
	return p, nil
}

// Policies lists a place's window policies, of one door when doorID is not "".
func (s *Store) Policies(placeID, doorID string) ([]place.Policy, error) {
	return readPolicies(s.read, placeID, doorID)
}

func readPolicies(q querier, placeID, doorID string) ([]place.Policy, error) {
	return collect(q, scanPolicy, "SELECT "+windowColumns+
		" FROM windows WHERE place_id = ?1 AND (door_id = ?2 OR ?2 = '') ORDER BY created_at, id", placeID, doorID)
}

// doorConfigs are the doors as boards are told.
func doorConfigs(doors []place.Door) []wire.DoorConfig {
	out := make([]wire.DoorConfig, 0, len(doors))
	for _, d := range doors {
		out = append(out, wire.DoorConfig{BoardID: d.BoardID, DoorID: d.ID, Channel: d.Channel})
	}
	return out
}

func windowsOf(ps []place.Policy) []access.Window {
	out := make([]access.Window, 0, len(ps))
	for _, p := range ps {
		out = append(out, p.Window)
	}
	return out
}

// collect runs a query and scans every row.
func collect[T any](q querier, scan func(interface{ Scan(...any) error }) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.Query(query, args...)
	if err != nil {
		return nil, wrap(err)
	}
	defer func() { _ = rows.Close() }()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, wrap(rows.Err())
}
