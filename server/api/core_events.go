package api

import (
	"github.com/doorlab/doorlab/internal/each"
	gen "github.com/doorlab/doorlab/server/api/gen/core"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/record"
)

// listEvents shows a place's activity.
func listEvents(c *call) (any, error) {
	q := record.EventQuery{
		Results: c.query.Strs("result"), Kinds: c.query.Strs("kind"),
		DoorIDs: c.query.Strs("doorId"), PermitIDs: c.query.Strs("permitId"),
		Limit: c.query.Num("limit"), Offset: c.query.Num("offset"),
		From: c.query.At("from"), To: c.query.At("to"),
	}
	events, total, err := c.api.cfg.Entry.Events(c.who.PlaceID, q)
	return list{each.Of(events, eventView), total}, err
}

func eventView(e record.Event) gen.Event {
	return gen.Event{EventID: e.ID, Kind: e.Kind, PlaceID: e.PlaceID, DoorID: orNull(e.DoorID), DoorName: orNull(e.DoorName),
		Result: string(e.Result), Reason: string(e.Reason), Method: string(e.Method), Actor: e.Actor, ActorLabel: e.ActorLabel,
		PermitID: orNull(e.PermitID), ExternalRef: orNull(e.ExternalRef), RecordID: e.RecordID,
		OccurredAt: stamp.Time(e.OccurredAt), RecordedAt: stamp.Time(e.RecordedAt), Late: e.Late}
}
