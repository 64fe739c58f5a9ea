package store

import (
	"context"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

// eventKey is the id of an event's own row: with a record's prefix, so that the events of one millisecond are in the
// order of their ids, whichever of the two tables they come from.
func eventKey(eventID string) string { return id.Record + strings.TrimPrefix(eventID, id.Event) }

// eventID is the id that partners see, of a row in either table.
func eventID(key string) string { return id.Event + strings.TrimPrefix(key, id.Record) }

func eventOf(r db.Event, err error) (record.Event, error) {
	return record.Event{ID: eventID(r.ID), Kind: r.Kind, PlaceID: r.PlaceID, DoorID: r.DoorID.String, DoorName: r.DoorName.String, Result: vocab.Result(r.Result),
		Reason: vocab.Reason(r.Reason), Method: vocab.Method(r.Method), Actor: r.Actor, ActorLabel: r.ActorLabel, PermitID: r.PermitID.String, ExternalRef: r.ExternalRef.String,
		RecordID: r.RecordID, OccurredAt: msTime(r.OccurredAt), RecordedAt: msTime(r.RecordedAt), Late: r.Late}, wrap(err)
}

// eventIn is the event that a record doubles as.
func eventIn(r db.EntryRecord, err error) (record.Event, error) {
	return record.Event{ID: eventID(r.ID), Kind: record.EntryOpened, PlaceID: r.PlaceID,
		DoorID: r.DoorID.String, DoorName: r.DoorName.String, Result: vocab.Result(r.Result), Reason: vocab.Reason(r.Reason), Method: vocab.Method(r.Method),
		Actor: r.Actor, ActorLabel: r.ActorLabel, RecordID: r.ID, OccurredAt: msTime(r.OccurredAt), RecordedAt: msTime(r.RecordedAt)}, wrap(err)
}

// Events lists a place's events in [q.From, q.To), newest first, and how many match: rows of their own, and records
// that double as events.
func (s *Store) Events(placeID string, q record.EventQuery) (list []record.Event, total int, err error) {
	find, from, args := eventsOf(placeID, q)
	return page(s, find, from, args, q.Limit, q.Offset, loadEvents, func(e record.Event, err error) (record.Event, error) { return e, err })
}

// eventsOf finds the ids, and says of what they are to be counted.
func eventsOf(placeID string, q record.EventQuery) (find, from string, args []any) {
	own := among{sql: " FROM events WHERE place_id = ? AND recorded_at >= ? AND recorded_at < ?",
		args: []any{placeID, q.From.UnixMilli(), q.To.UnixMilli()}}
	own.in("door_id", q.DoorIDs)
	also := among{strings.Replace(own.sql, "events", "entry_records", 1) + " AND is_event = 1", own.args}
	own.in("result", q.Results)
	own.in("kind", q.Kinds)
	own.in("permit_id", q.PermitIDs)
	const columns, order = "SELECT id, recorded_at", " ORDER BY recorded_at DESC, id DESC"
	asked := func(values []string, v string) bool { return len(values) == 0 || slices.Contains(values, v) }
	if len(q.PermitIDs) > 0 || !asked(q.Results, string(vocab.Opened)) || !asked(q.Kinds, record.EntryOpened) {
		return columns + own.sql + order, own.sql, own.args
	}
	// The overall order lets SQLite merge the two indexes instead of sorting.
	both := columns + own.sql + " UNION ALL " + columns + also.sql
	return both + order, " FROM (" + both + ")", slices.Concat(own.args, also.args)
}

// loadEvents reads events by the ids of their rows, in that order.
func loadEvents(q *db.Queries, ctx context.Context, ids []string) ([]record.Event, error) {
	at := make(map[string]int, len(ids))
	for i, key := range ids {
		at[key] = i
	}
	out := make([]record.Event, len(ids))
	rows, err := q.EventsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	own := make(map[string]bool, len(rows))
	for _, r := range rows {
		out[at[r.ID]], _ = eventOf(r, nil)
		own[r.ID] = true
	}
	records, err := q.RecordsByID(ctx, slices.DeleteFunc(slices.Clone(ids), func(key string) bool { return own[key] }))
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		out[at[r.ID]], _ = eventIn(r, nil)
	}
	return out, nil
}

// among is the part of a query after its SELECT list, with its arguments.
type among struct {
	sql  string
	args []any
}

// in restricts a column to one of the values; without values it restricts nothing.
func (a *among) in(column string, values []string) {
	if len(values) == 0 {
		return
	}
	a.sql += " AND " + column + " IN (?" + strings.Repeat(", ?", len(values)-1) + ")"
	a.args = slices.Clone(a.args)
	for _, v := range values {
		a.args = append(a.args, v)
	}
}
