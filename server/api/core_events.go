package api

import (
	gen "github.com/doorlab/doorlab/server/api/gen/core"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/record"
)

// listEvents shows a place's activity.
func listEvents(c *call) (any, error) {
	q := record.EventQuery{
		Results: c.query.texts("result"), Kinds: c.query.texts("kind"),
		DoorIDs: c.query.texts("doorId"), PermitIDs: c.query.texts("permitId"),
		Limit: c.query.num("limit"), Offset: c.query.num("offset"),
	}
	if t := c.query.at("from"); t != nil {
		q.From = *t
	}
	if t := c.query.at("to"); t != nil {
		q.To = *t
	}
	events, total, err := c.api.cfg.Entry.Events(c.r.Context(), c.who.PlaceID, q)
	if err != nil {
		return nil, err
	}
	return list{each(events, eventView), total}, nil
}

func eventView(e record.Event) gen.Event {
	return gen.Event{EventID: e.ID, Kind: e.Kind, PlaceID: e.PlaceID, DoorID: orNull(e.DoorID), DoorName: orNull(e.DoorName),
		Result: e.Result, Reason: e.Reason, Method: e.Method, Actor: e.Actor, ActorLabel: e.ActorLabel,
		PermitID: orNull(e.PermitID), ExternalRef: orNull(e.ExternalRef), RecordID: e.RecordID,
		OccurredAt: stamp.Time(e.OccurredAt), RecordedAt: stamp.Time(e.RecordedAt), Late: e.Late}
}
