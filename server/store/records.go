package store

import (
	"database/sql"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

// KeepRecords implements record.Store.
func (s *Store) KeepRecords(fn func(tx record.Tx, now time.Time) error) error {
	return s.write(func(tx *Tx) error { return fn(tx, tx.Now) })
}

// DoorName implements record.Tx.
func (t *Tx) DoorName(doorID string) (string, error) {
	d, err := none(t.doors.door(doorID, func() (place.Door, error) { return doorOf(t.q.Door(ctx, doorID)) }))
	return d.Name, err
}

// Credited implements record.Tx.
func (t *Tx) Credited(grantID, placeID string) (record.Credited, error) {
	g, err := none(grantOf(t.q.Grant(ctx, grantID)))
	if err != nil || g.PlaceID != placeID {
		return record.Credited{}, err
	}
	return t.credited(g), nil
}

// CreditedLink implements record.Tx.
func (t *Tx) CreditedLink(tokenHash, placeID string) (record.Credited, error) {
	g, err := none(grantOf(t.q.GrantByToken(ctx, tokenHash, placeID)))
	if err != nil || g.ID == "" {
		return record.Credited{}, err
	}
	return t.credited(g), nil
}

func (t *Tx) credited(g grant.Grant) record.Credited {
	return record.Credited{Phone: g.Phone, ExternalRef: g.ExternalRef, Terms: g.Content(t.PhoneKey(g.PlaceID)), CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt}
}

// EarlierHolders implements record.Tx.
func (t *Tx) EarlierHolders(grantID string) ([]record.Holder, error) {
	return converted(func(r db.EarlierHoldersRow, err error) (record.Holder, error) {
		return record.Holder{PhoneHash: r.PhoneHash, Actor: r.Actor, Label: r.Label, Until: msTime(r.Until)}, wrap(err)
	})(t.q.EarlierHolders(ctx, grantID))
}

// InsertRecord implements record.Tx.
func (t *Tx) InsertRecord(r record.Record) (fresh bool, err error) {
	n, err := t.q.InsertRecord(ctx, db.InsertRecordParams{ID: r.ID, PlaceID: r.PlaceID, DoorID: text(r.DoorID), DoorName: text(r.DoorName),
		Result: string(r.Result), Reason: string(r.Reason), Method: string(r.Method), Actor: r.Actor, ActorLabel: r.ActorLabel, CommandID: text(r.CommandID),
		GrantID: text(r.GrantID), Source: r.Source, Dedupe: text(r.Dedupe),
		RequestedAt: r.RequestedAt.UnixMilli(), OccurredAt: r.OccurredAt.UnixMilli(), RecordedAt: r.RecordedAt.UnixMilli(), Note: text(r.Note), AgedOn: t.day()})
	if err != nil || n == 0 {
		return false, wrap(err)
	}
	t.noteRecord(r)
	return true, nil
}

// RecordOfCommand implements record.Tx.
func (t *Tx) RecordOfCommand(commandID string) (record.Record, error) {
	return recordOf(t.q.RecordOfCommand(ctx, text(commandID)))
}

// SettleRecord implements record.Tx.
func (t *Tx) SettleRecord(recordID string, settledAs vocab.Result, at time.Time) error {
	return wrap(t.q.SettleRecord(ctx, db.SettleRecordParams{ID: recordID, SettledAs: sql.NullString{String: string(settledAs), Valid: true},
		SettledAt: sql.NullInt64{Int64: at.UnixMilli(), Valid: true}}))
}

// InsertEvent implements record.Tx.
func (t *Tx) InsertEvent(e record.Event) error {
	return wrap(t.q.InsertEvent(ctx, db.InsertEventParams{ID: eventKey(e.ID), Kind: e.Kind, PlaceID: e.PlaceID,
		DoorID: text(e.DoorID), DoorName: text(e.DoorName), Result: string(e.Result), Reason: string(e.Reason), Method: string(e.Method),
		Actor: e.Actor, ActorLabel: e.ActorLabel, PermitID: text(e.PermitID), ExternalRef: text(e.ExternalRef), RecordID: e.RecordID,
		OccurredAt: e.OccurredAt.UnixMilli(), RecordedAt: e.RecordedAt.UnixMilli(), Late: e.Late, AgedOn: t.day()}))
}

// CountUse implements record.Tx.
func (t *Tx) CountUse(permitID string, at time.Time) error {
	return wrap(t.q.CountUse(ctx, sql.NullInt64{Int64: at.UnixMilli(), Valid: true}, permitID))
}

func recordOf(r db.EntryRecord, err error) (record.Record, error) {
	return record.Record{ID: r.ID, PlaceID: r.PlaceID, DoorID: r.DoorID.String, DoorName: r.DoorName.String, Result: vocab.Result(r.Result), Reason: vocab.Reason(r.Reason),
		Method: vocab.Method(r.Method), Actor: r.Actor, ActorLabel: r.ActorLabel, CommandID: r.CommandID.String, GrantID: r.GrantID.String, Source: r.Source,
		RequestedAt: msTime(r.RequestedAt), OccurredAt: msTime(r.OccurredAt), RecordedAt: msTime(r.RecordedAt),
		SettledAs: vocab.Result(r.SettledAs.String), SettledAt: fromNull(r.SettledAt), Replays: r.Replays, Note: r.Note.String}, wrap(err)
}

// recordsPage is what lists show: columns are most of what a page costs.
const recordsPage = `SELECT id, door_id, door_name, result, reason, method, actor, actor_label, command_id, grant_id, source, requested_at,
	occurred_at, recorded_at, settled_as, settled_at, replays, note
	FROM entry_records WHERE place_id = ? AND recorded_at >= ? ORDER BY recorded_at DESC, id DESC LIMIT ? OFFSET ?`

// Records lists a place's records since a moment, newest first, and how many there are.
func (s *Store) Records(placeID string, since time.Time, limit, offset int) (list []record.Record, total int, err error) {
	if err := s.counted(); err != nil {
		return nil, 0, err
	}
	return paged(s, limit, offset, func(tx *Tx) ([]record.Record, error) {
		return scanned(tx, limit, func(r *db.EntryRecord) []any {
			r.PlaceID = placeID
			return []any{&r.ID, &r.DoorID, &r.DoorName, &r.Result, &r.Reason, &r.Method, &r.Actor, &r.ActorLabel, &r.CommandID, &r.GrantID, &r.Source,
				&r.RequestedAt, &r.OccurredAt, &r.RecordedAt, &r.SettledAs, &r.SettledAt, &r.Replays, &r.Note}
		}, recordOf, recordsPage, placeID, since.UnixMilli(), limit, offset)
	}, func(tx *Tx) (int64, error) { return tx.q.CountRecords(ctx, placeID, since.UnixMilli()) })
}
