package api

import "github.com/doorlab/doorlab/server/record"

type event struct {
	EventID     string  `json:"eventId"`
	Kind        string  `json:"kind"`
	PlaceID     string  `json:"placeId"`
	DoorID      *string `json:"doorId"`
	DoorName    *string `json:"doorName"`
	Result      string  `json:"result"`
	Reason      string  `json:"reason"`
	Method      string  `json:"method"`
	Actor       string  `json:"actor"`
	ActorLabel  string  `json:"actorLabel"`
	PermitID    *string `json:"permitId"`
	ExternalRef *string `json:"externalRef"`
	RecordID    string  `json:"recordId"`
	OccurredAt  stamp   `json:"occurredAt"`
	RecordedAt  stamp   `json:"recordedAt"`
	Late        bool    `json:"late"`
}

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

func eventView(e record.Event) event {
	return event{EventID: e.ID, Kind: e.Kind, PlaceID: e.PlaceID, DoorID: orNull(e.DoorID), DoorName: orNull(e.DoorName),
		Result: e.Result, Reason: e.Reason, Method: e.Method, Actor: e.Actor, ActorLabel: e.ActorLabel,
		PermitID: orNull(e.PermitID), ExternalRef: orNull(e.ExternalRef), RecordID: e.RecordID,
		OccurredAt: stamp(e.OccurredAt), RecordedAt: stamp(e.RecordedAt), Late: e.Late}
}
