package store

import (
	"strings"

	"github.com/doorlab/doorlab/server/record"
)

const eventColumns = `id, kind, place_id, COALESCE(door_id, ''), COALESCE(door_name, ''), result, reason, method, actor, actor_label,
	COALESCE(permit_id, ''), COALESCE(external_ref, ''), record_id, occurred_at, recorded_at, late`

func scanEvent(row interface{ Scan(...any) error }) (record.Event, error) {
	var e record.Event
	var occurred, recorded int64
	err := row.Scan(&e.ID, &e.Kind, &e.PlaceID, &e.DoorID, &e.DoorName, &e.Result, &e.Reason, &e.Method, &e.Actor, &e.ActorLabel,
		&e.PermitID, &e.ExternalRef, &e.RecordID, &occurred, &recorded, &e.Late)
	e.OccurredAt, e.RecordedAt = msTime(occurred), msTime(recorded)
	return e, wrap(err)
}

// Events lists a place's events in [q.From, q.To), newest first, and how many match.
func (s *Store) Events(placeID string, q record.EventQuery) (list []record.Event, total int, err error) {
	where := " FROM events WHERE place_id = ? AND recorded_at >= ? AND recorded_at < ?"
	args := []any{placeID, q.From.UnixMilli(), q.To.UnixMilli()}
	for _, f := range []struct {
		column string
		values []string
	}{{"result", q.Results}, {"kind", q.Kinds}, {"door_id", q.DoorIDs}, {"permit_id", q.PermitIDs}} {
		if len(f.values) == 0 {
			continue
		}
		where += " AND " + f.column + " IN (?" + strings.Repeat(", ?", len(f.values)-1) + ")"
		for _, v := range f.values {
			args = append(args, v)
		}
	}
	return page(s, scanEvent, eventColumns, where, "recorded_at DESC, id DESC", args, q.Limit, q.Offset)
}
