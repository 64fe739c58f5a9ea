package api

import (
	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/record"
)

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

func recordView(r record.Record) gen.Record {
	return gen.Record{RecordID: r.ID, DoorID: orNull(r.DoorID), DoorName: orNull(r.DoorName), Result: r.Result, Reason: r.Reason,
		Method: r.Method, Actor: r.Actor, ActorLabel: r.ActorLabel, CommandID: orNull(r.CommandID),
		RequestedAt: stamp.Time(r.RequestedAt), OccurredAt: stamp.Time(r.OccurredAt), RecordedAt: stamp.Time(r.RecordedAt),
		Source: r.Source, SettledAs: orNull(r.SettledAs), SettledAt: stamp.Time(r.SettledAt), Replays: int(r.Replays)}
}

// getGateConfig shows the access configuration.
func getGateConfig(c *call) (any, error) {
	g, err := c.api.cfg.Places.GateConfig(c.who.PlaceID)
	if err != nil {
		return nil, err
	}
	return gen.GateConfig(g), nil
}
