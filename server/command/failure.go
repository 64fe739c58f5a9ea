package command

import (
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/fail"
)

// Failure is the caller's error, nil if the command was reported as done. offline is the code for a board without a
// connection: device_offline for a command, store_offline for an entry link. Details: reason (the outcome), commandId,
// and deviceCode or timeoutMs.
func (r Result) Failure(offline string) *fail.Error {
	switch r.Outcome {
	case vocab.Reported: // [CMD-1]
		return nil
	case vocab.Offline: // [CMD-2]
		return fail.New(offline, "the device is not connected; the command was not sent",
			"reason", vocab.Offline, "commandId", r.CommandID)
	case vocab.Refused: // [CMD-3]
		return fail.New(fail.DeviceRefused, "the device refused the command",
			"reason", vocab.Refused, "commandId", r.CommandID, "deviceCode", r.DeviceCode)
	}
	return fail.New(fail.DeviceNoResponse, "the device did not answer; whether it executed the command is unknown", // [CMD-4]
		"reason", vocab.NoResponse, "commandId", r.CommandID, "timeoutMs", r.TimeoutMs)
}
