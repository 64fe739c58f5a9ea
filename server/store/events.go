package store

import (
	"strings"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

func eventOf(r db.Event, err error) (record.Event, error) {
	return record.Event{ID: r.ID, Kind: r.Kind, PlaceID: r.PlaceID, DoorID: r.DoorID.String, DoorName: r.DoorName.String, Result: vocab.Result(r.Result),
		Reason: vocab.Reason(r.Reason), Method: vocab.Method(r.Method), Actor: r.Actor, ActorLabel: r.ActorLabel, PermitID: r.PermitID.String, ExternalRef: r.ExternalRef.String,
		RecordID: r.RecordID, OccurredAt: msTime(r.OccurredAt), RecordedAt: msTime(r.RecordedAt), Late: r.Late}, wrap(err)
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
	return page(s, where, "recorded_at DESC, id DESC", args, q.Limit, q.Offset, (*db.Queries).EventsByID, eventOf)
}
