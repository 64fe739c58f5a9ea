package api

import (
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/record"
)

type entryRecord struct {
	RecordID    string  `json:"recordId"`
	DoorID      *string `json:"doorId"`
	DoorName    *string `json:"doorName"`
	Result      string  `json:"result"`
	Reason      string  `json:"reason"`
	Method      string  `json:"method"`
	Actor       string  `json:"actor"`
	ActorLabel  string  `json:"actorLabel"`
	CommandID   *string `json:"commandId"`
	RequestedAt stamp   `json:"requestedAt"`
	OccurredAt  stamp   `json:"occurredAt"`
	RecordedAt  stamp   `json:"recordedAt"`
	Source      string  `json:"source"`
	SettledAs   *string `json:"settledAs"`
	SettledAt   stamp   `json:"settledAt"`
	Replays     int64   `json:"replays"`
}

// listRecords lists entry records; the read itself is logged [ENT-4].
func listRecords(c *call) (any, error) {
	by := entry.Reader{PlaceID: c.who.PlaceID, KeyID: c.who.KeyID, RequestID: c.id}
	records, total, err := c.api.cfg.Entry.Records(c.r.Context(), by, entry.LogQuery{
		SinceDays: c.query.num("sinceDays"), Limit: c.query.num("limit"), Offset: c.query.num("offset")})
	if err != nil {
		return nil, err
	}
	return list{each(records, recordView), total}, nil
}

func recordView(r record.Record) entryRecord {
	return entryRecord{RecordID: r.ID, DoorID: orNull(r.DoorID), DoorName: orNull(r.DoorName), Result: r.Result, Reason: r.Reason,
		Method: r.Method, Actor: r.Actor, ActorLabel: r.ActorLabel, CommandID: orNull(r.CommandID),
		RequestedAt: stamp(r.RequestedAt), OccurredAt: stamp(r.OccurredAt), RecordedAt: stamp(r.RecordedAt),
		Source: r.Source, SettledAs: orNull(r.SettledAs), SettledAt: stamp(r.SettledAt), Replays: r.Replays}
}

type gateConfig struct {
	PhoneEnabled        bool   `json:"phoneEnabled"`
	EntryPermitMaxHours int    `json:"entryPermitMaxHours"`
	EntryPhone          string `json:"entryPhone,omitempty"`
}

// getGateConfig shows the access configuration.
func getGateConfig(c *call) (any, error) {
	g, err := c.api.cfg.Places.GateConfig(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	return gateConfig(g), nil
}
