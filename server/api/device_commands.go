package api

import (
	"context"
	"strings"

	"github.com/doorlab/doorlab/internal/wire"
	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/rule"
)

type commanded struct {
	Success bool              `json:"success"`
	Data    gen.CommandResult `json:"data"`
}

// commandDevice opens, holds or closes a door.
func commandDevice(c *call) (any, error) {
	args := c.body.obj("args")
	return c.command(strings.TrimPrefix(c.body.str("command"), "door."), args.num("minutes"), args.str("reason"))
}

// command carries it out; the answer is what device keeps under the key, byte for byte [CMD-5].
func (c *call) command(command string, minutes int, reason string) (any, error) {
	if command != wire.CmdHold {
		minutes = 0
	}
	render := renderCommand
	if c.op.legacy {
		render = renderLegacy
	}
	a, err := c.api.cfg.Commands.Execute(context.WithoutCancel(c.r.Context()), device.Request{
		PlaceID: c.who.PlaceID, DoorID: c.door.ID, Command: command, Minutes: minutes, Reason: reason,
		Key: c.query.str("Idempotency-Key"), Method: "api",
		ActorID: "api:" + c.who.KeyID, ActorLabel: c.who.KeyName,
		Sim: c.who.Sim && c.who.PlaceKind == place.Test, Render: render,
	})
	if err != nil {
		return nil, err
	}
	c.code = outcomeCode(a.Status)
	return answer{status: a.Status, kind: typeJSON, body: a.Body, replays: a.Replayed}, nil
}

// renderCommand is the answer to an outcome: a pure function, because device
// stores what it returns.
func renderCommand(r device.Result) (int, []byte) { return render(r, false) }

func renderLegacy(r device.Result) (int, []byte) { return render(r, true) }

func render(r device.Result, legacy bool) (int, []byte) {
	if r.Outcome == device.Reported { // [CMD-1]
		return 200, encode(commanded{true, gen.CommandResult{CommandID: r.CommandID, DeviceID: r.DoorID, Capability: "door", Command: r.Command,
			Outcome: r.Outcome, RequestedAt: stamp.Time(r.RequestedAt), ReportedAt: stamp.Time(r.ReportedAt),
			Standing: standingView(r.Standing, r.ReportedAt, true)}})
	}
	e := outcomeError(r)
	return statuses[e.Code], encode(failureOf(e, legacy))
}

// outcomeError is what a command that was not reported is answered with.
func outcomeError(r device.Result) *rule.Error {
	switch r.Outcome {
	case device.Offline: // [CMD-2]
		return rule.New(rule.DeviceOffline, "the device is not connected; the command was not sent",
			"reason", r.Outcome, "commandId", r.CommandID)
	case device.Refused: // [CMD-3]
		return rule.New(rule.DeviceRefused, "the device refused the command",
			"reason", r.Outcome, "commandId", r.CommandID, "deviceCode", r.DeviceCode)
	}
	return rule.New(rule.DeviceNoResponse, "the device did not answer; whether it executed the command is unknown", // [CMD-4]
		"reason", device.NoResponse, "commandId", r.CommandID, "timeoutMs", r.TimeoutMs)
}

// outcomeCode names a stored failure for the metrics.
func outcomeCode(status int) string {
	switch status {
	case 409:
		return rule.DeviceOffline
	case 502:
		return rule.DeviceRefused
	case 504:
		return rule.DeviceNoResponse
	}
	return ""
}
