package api

import (
	"context"
	"strings"

	"github.com/doorlab/doorlab/internal/vocab"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// commandDevice opens, holds or closes a door.
func commandDevice(c *call, b gen.CommandDeviceBody) (any, error) {
	return c.command(strings.TrimPrefix(b.Command, "door."), b.Args.Minutes, b.Args.Reason)
}

// command carries out a door command. The answer is what the ledger keeps under the key, byte for byte, see CMD-5.
func (c *call) command(name string, minutes int, reason string) (any, error) {
	if name != command.Hold {
		minutes = 0
	}
	legacy := c.op.Legacy
	req := command.Request{
		Order: command.Order{PlaceID: c.who.PlaceID, DoorID: c.door.ID, Command: name, Minutes: minutes, Reason: reason,
			Key: c.query.Str("Idempotency-Key"), Method: vocab.API,
			ActorID: "api:" + c.who.KeyID, ActorLabel: c.who.KeyName},
		Sim: c.who.Sim && c.who.PlaceKind == place.Test, Accepted: c.began,
		Render: func(r command.Result) (int, []byte) { return render(r, legacy) },
	}
	if err := command.CheckReason(req); err != nil {
		return nil, err
	}
	a, err := c.api.cfg.Commands.Execute(context.WithoutCancel(c.r.Context()), req)
	if err != nil {
		return nil, err
	}
	c.seen.commandID = a.Result.CommandID
	if e := a.Result.Failure(fail.DeviceOffline); e != nil {
		c.code = e.Code // for the metrics
	}
	return answer{status: a.Status, kind: typeJSON, body: a.Body, replays: a.Replayed}, nil
}

// render renders the answer to an outcome. It is a pure function, because the ledger stores what it returns.
func render(r command.Result, legacy bool) (int, []byte) {
	if r.Outcome == vocab.NoResponse {
		return silence(r, legacy)
	}
	e := r.Failure(fail.DeviceOffline)
	if e == nil {
		return 200, appendCommanded(make([]byte, 0, 512), &gen.CommandResult{CommandID: r.CommandID, DeviceID: r.DoorID, Capability: "door",
			Command: r.Command, Outcome: string(r.Outcome), RequestedAt: stamp.Time(r.RequestedAt), ReportedAt: stamp.Time(r.ReportedAt),
			Standing: standingView(r.Standing, r.ReportedAt, true)})
	}
	return e.Status(), encode(failureOf(e, legacy))
}
