package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
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
	now, q := Now(tx), db.New(tx)
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
		if r.DoorName, err = none(q.DoorName(ctx, r.DoorID)); err != nil {
			return false, err
		}
	}
	n, err := q.InsertRecord(ctx, db.InsertRecordParams{ID: r.ID, PlaceID: r.PlaceID, DoorID: text(r.DoorID), DoorName: text(r.DoorName),
		Result: r.Result, Reason: r.Reason, Method: r.Method, Actor: r.Actor, ActorLabel: r.ActorLabel, CommandID: text(r.CommandID),
		GrantID: text(r.GrantID), Source: r.Source, Dedupe: text(r.Dedupe),
		RequestedAt: r.RequestedAt.UnixMilli(), OccurredAt: r.OccurredAt.UnixMilli(), RecordedAt: r.RecordedAt.UnixMilli()})
	if err != nil || n == 0 {
		return false, wrap(err)
	}
	noteRecord(tx, r)
	return true, follow(tx, r, false)
}

// SettleRecord says what became of a command that was answered 504: the record
// keeps its result and gains settledAs, an opening makes a late event. It does
// nothing for a record that is settled or has another result.
func SettleRecord(tx *sql.Tx, commandID, settledAs string, at time.Time) error {
	q := db.New(tx)
	r, err := recordOf(q.RecordOfCommand(ctx, text(commandID)))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || r.Result != NoResponse || r.SettledAs != "" {
		return err
	}
	if err := q.SettleRecord(ctx, db.SettleRecordParams{ID: r.ID, SettledAs: sql.NullString{String: settledAs, Valid: true},
		SettledAt: sql.NullInt64{Int64: at.UnixMilli(), Valid: true}}); err != nil {
		return wrap(err)
	}
	r.Result, r.OccurredAt, r.RecordedAt = settledAs, at, Now(tx)
	return follow(tx, r, true)
}

// CountReplay raises the replays of a command's record.
func CountReplay(tx *sql.Tx, commandID string) error {
	return wrap(db.New(tx).CountReplay(ctx, text(commandID)))
}

// follow writes the events of a record and counts the use of its permit.
func follow(tx *sql.Tx, r Record, late bool) error {
	q := db.New(tx)
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
		g, err := none(q.GrantKind(ctx, r.GrantID, r.PlaceID))
		if err != nil {
			return err
		}
		if g.Kind == access.KindPermit {
			permitID, externalRef = r.GrantID, g.ExternalRef.String
		}
	}
	if permitID != "" && r.Result == Opened {
		kinds = append(kinds, record.PermitUsed)
		if err := q.CountUse(ctx, sql.NullInt64{Int64: r.OccurredAt.UnixMilli(), Valid: true}, permitID); err != nil {
			return wrap(err)
		}
	}
	for _, kind := range kinds {
		if err := q.InsertEvent(ctx, db.InsertEventParams{ID: id.New(id.Event, Now(tx)), Kind: kind, PlaceID: r.PlaceID,
			DoorID: text(r.DoorID), DoorName: text(r.DoorName), Result: r.Result, Reason: r.Reason, Method: r.Method,
			Actor: r.Actor, ActorLabel: r.ActorLabel, PermitID: text(permitID), ExternalRef: text(externalRef), RecordID: r.ID,
			OccurredAt: r.OccurredAt.UnixMilli(), RecordedAt: r.RecordedAt.UnixMilli(), Late: late}); err != nil {
			return wrap(err)
		}
	}
	return nil
}

func recordOf(r db.EntryRecord, err error) (Record, error) {
	return Record{ID: r.ID, PlaceID: r.PlaceID, DoorID: r.DoorID.String, DoorName: r.DoorName.String, Result: r.Result, Reason: r.Reason,
		Method: r.Method, Actor: r.Actor, ActorLabel: r.ActorLabel, CommandID: r.CommandID.String, GrantID: r.GrantID.String, Source: r.Source,
		RequestedAt: msTime(r.RequestedAt), OccurredAt: msTime(r.OccurredAt), RecordedAt: msTime(r.RecordedAt),
		SettledAs: r.SettledAs.String, SettledAt: fromNull(r.SettledAt), Replays: r.Replays}, wrap(err)
}

// Records lists a place's records since a moment, newest first, and how many there are.
func (s *Store) Records(placeID string, since time.Time, limit, offset int) (list []Record, total int, err error) {
	err = s.moment(func(tx *sql.Tx) error {
		q := db.New(tx)
		n, err := q.CountRecords(ctx, placeID, since.UnixMilli())
		if err != nil {
			return err
		}
		rows, err := q.Records(ctx, db.RecordsParams{PlaceID: placeID, RecordedAt: since.UnixMilli(), Limit: int64(limit), Offset: int64(offset)})
		total = int(n)
		list, err = each(recordOf, rows, err)
		return err
	})
	return list, total, err
}
