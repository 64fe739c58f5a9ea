package api

import (
	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/record"
)

// listRecords lists entry records; the read itself is audited, see ENT-4.
func listRecords(c *call) (any, error) {
	records, total, err := c.api.cfg.Entry.Records(c.caller(), entry.LogQuery{
		SinceDays: c.query.Num("sinceDays"), Limit: c.query.Num("limit"), Offset: c.query.Num("offset")})
	return listed(records, total, func(b []byte, r *record.Record) []byte {
		v := recordView(*r)
		return appendRecord(b, &v)
	}), err
}

// caller is the caller as records and the audit log name them.
func (c *call) caller() record.By {
	return record.By{PlaceID: c.who.PlaceID, KeyID: c.who.KeyID, KeyName: c.who.KeyName, RequestID: c.id}
}

func recordView(r record.Record) gen.Record {
	return gen.Record{RecordID: r.ID, DoorID: orNull(r.DoorID), DoorName: orNull(r.DoorName), Result: string(r.Result), Reason: string(r.Reason),
		Method: string(r.Method), Actor: r.Actor, ActorLabel: r.ActorLabel, CommandID: orNull(r.CommandID),
		RequestedAt: stamp.Time(r.RequestedAt), OccurredAt: stamp.Time(r.OccurredAt), RecordedAt: stamp.Time(r.RecordedAt),
		Source: r.Source, SettledAs: orNull(string(r.SettledAs)), SettledAt: stamp.Time(r.SettledAt), Replays: int(r.Replays), Note: orNull(r.Note)}
}

// getGateConfig shows the access configuration.
func getGateConfig(c *call) (any, error) {
	g, err := c.api.cfg.Places.GateConfig(c.who.PlaceID)
	return gen.GateConfig(g), err
}
