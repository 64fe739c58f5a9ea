package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/server/record"
)

// Results of an entry record.
const (
	Opened     = record.Opened
	Held       = record.Held
	Locked     = record.Locked
	Denied     = record.Denied
	Offline    = record.Offline
	Refused    = record.Refused
	NoResponse = record.NoResponse
)

// Where a record was made.
const (
	FromServer = record.FromServer
	FromBoard  = record.FromBoard
)

// Record is one entry record.
type Record = record.Record

// AddRecord writes an entry record of an attempt that sent no command.
func (s *Store) AddRecord(r Record) error {
	return s.Write(func(tx *sql.Tx) error {
		_, err := InsertRecord(tx, r)
		return err
	})
}

// InsertRecord writes an entry record and what follows from it: the event, and
// the use of a credited permit. A record whose Dedupe or CommandID is already
// there is left alone and reported as not fresh.
func InsertRecord(tx *sql.Tx, r Record) (fresh bool, err error) {
	now := Now(tx)
	if r.ID == "" {
		r.ID = id.New(id.Record, now)
	}
	if r.RecordedAt.IsZero() {
		r.RecordedAt = now
	}
	if r.RequestedAt.IsZero() {
		r.RequestedAt = r.RecordedAt
	}
	if r.OccurredAt.IsZero() {
		r.OccurredAt = r.RequestedAt
	}
	if r.Source == "" {
		r.Source = FromServer
	}
	if r.DoorID != "" && r.DoorName == "" {
		d, err := readDoor(tx, r.DoorID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return false, err
		}
		r.DoorName = d.Name
	}
	res, err := tx.Exec(`INSERT INTO entry_records (id, place_id, door_id, door_name, result, reason, method, actor, actor_label,
			command_id, grant_id, source, dedupe, requested_at, occurred_at, recorded_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		r.ID, r.PlaceID, textOrNull(r.DoorID), textOrNull(r.DoorName), r.Result, r.Reason, r.Method, r.Actor, r.ActorLabel,
		textOrNull(r.CommandID), textOrNull(r.GrantID), r.Source, textOrNull(r.Dedupe),
		r.RequestedAt.UnixMilli(), r.OccurredAt.UnixMilli(), r.RecordedAt.UnixMilli())
	if err != nil {
		return false, wrap(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, wrap(err)
	}
	noteRecord(tx, r)
	return true, follow(tx, r, false)
}

// SettleRecord says what became of a command that was answered 504: the record
// keeps its result and gains settledAs, an opening makes a late event. It does
// nothing for a record that is settled or has another result.
func SettleRecord(tx *sql.Tx, commandID, settledAs string, at time.Time) error {
	r, err := scanRecord(tx.QueryRow("SELECT "+recordColumns+" FROM entry_records WHERE command_id = ?", commandID))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || r.Result != NoResponse || r.SettledAs != "" {
		return err
	}
	if _, err := tx.Exec("UPDATE entry_records SET settled_as = ?, settled_at = ? WHERE id = ?", settledAs, at.UnixMilli(), r.ID); err != nil {
		return wrap(err)
	}
	r.Result, r.OccurredAt, r.RecordedAt = settledAs, at, Now(tx)
	return follow(tx, r, true)
}

// CountReplay raises the replays of a command's record.
func CountReplay(tx *sql.Tx, commandID string) error {
	_, err := tx.Exec("UPDATE entry_records SET replays = replays + 1 WHERE command_id = ?", commandID)
	return wrap(err)
}

// follow writes the events of a record and counts the use of its permit.
func follow(tx *sql.Tx, r Record, late bool) error {
	var kinds []string
	switch r.Result {
	case Opened:
		kinds = []string{record.EntryOpened}
	case Denied:
		kinds = []string{record.EntryDenied}
	default:
		return nil
	}
	var permitID, externalRef string
	if r.GrantID != "" {
		var kind string
		err := tx.QueryRow("SELECT kind, COALESCE(external_ref, '') FROM grants WHERE id = ? AND place_id = ?", r.GrantID, r.PlaceID).Scan(&kind, &externalRef)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return wrap(err)
		}
		if kind == access.KindPermit {
			permitID = r.GrantID
		} else {
			externalRef = ""
		}
	}
	if permitID != "" && r.Result == Opened {
		kinds = append(kinds, record.PermitUsed)
		if _, err := tx.Exec(`UPDATE grants SET use_count = use_count + 1,
				first_used_at = CASE WHEN first_used_at IS NULL OR first_used_at > ?1 THEN ?1 ELSE first_used_at END WHERE id = ?2`,
			r.OccurredAt.UnixMilli(), permitID); err != nil {
			return wrap(err)
		}
	}
	for _, kind := range kinds {
		if _, err := tx.Exec(`INSERT INTO events (id, kind, place_id, door_id, door_name, result, reason, method, actor, actor_label,
				permit_id, external_ref, record_id, occurred_at, recorded_at, late) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			id.New(id.Event, Now(tx)), kind, r.PlaceID, textOrNull(r.DoorID), textOrNull(r.DoorName), r.Result, r.Reason, r.Method, r.Actor, r.ActorLabel,
			textOrNull(permitID), textOrNull(externalRef), r.ID, r.OccurredAt.UnixMilli(), r.RecordedAt.UnixMilli(), late); err != nil {
			return wrap(err)
		}
	}
	return nil
}

const recordColumns = `id, place_id, COALESCE(door_id, ''), COALESCE(door_name, ''), result, reason, method, actor, actor_label,
	COALESCE(command_id, ''), COALESCE(grant_id, ''), source, requested_at, occurred_at, recorded_at, COALESCE(settled_as, ''), settled_at, replays`

func scanRecord(row interface{ Scan(...any) error }) (Record, error) {
	var r Record
	var requested, occurred, recorded int64
	var settled sql.NullInt64
	err := row.Scan(&r.ID, &r.PlaceID, &r.DoorID, &r.DoorName, &r.Result, &r.Reason, &r.Method, &r.Actor, &r.ActorLabel,
		&r.CommandID, &r.GrantID, &r.Source, &requested, &occurred, &recorded, &r.SettledAs, &settled, &r.Replays)
	r.RequestedAt, r.OccurredAt, r.RecordedAt, r.SettledAt = msTime(requested), msTime(occurred), msTime(recorded), fromNull(settled)
	return r, wrap(err)
}

// Records lists a place's records since a moment, newest first, and how many there are.
func (s *Store) Records(placeID string, since time.Time, limit, offset int) (list []Record, total int, err error) {
	return page(s, scanRecord, recordColumns, " FROM entry_records WHERE place_id = ? AND recorded_at >= ?", "recorded_at DESC, id DESC",
		[]any{placeID, since.UnixMilli()}, limit, offset)
}
