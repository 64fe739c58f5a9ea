package api

import (
	"time"

	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
)

// appendCommanded writes what encode makes of a success, byte for byte: every door
// command has one, and reflection took as long as the rest of the answer.
func appendCommanded(b []byte, d *gen.CommandResult) []byte {
	b = appendText(append(b, `{"success":true,"data":{"commandId":`...), d.CommandID)
	b = appendText(append(b, `,"deviceId":`...), d.DeviceID)
	b = appendText(append(b, `,"capability":`...), d.Capability)
	b = appendText(append(b, `,"command":`...), d.Command)
	b = appendText(append(b, `,"outcome":`...), d.Outcome)
	b = appendTime(append(b, `,"requestedAt":`...), d.RequestedAt)
	b = appendTime(append(b, `,"reportedAt":`...), d.ReportedAt)
	b = append(b, `,"standing":`...)
	if s := d.Standing; s == nil {
		b = append(b, "null"...)
	} else {
		b = appendText(append(b, `{"state":`...), s.State)
		b = appendTime(append(b, `,"since":`...), s.Since)
		b = appendTime(append(b, `,"holdUntil":`...), s.HoldUntil)
		b = appendText(append(b, `,"leaf":`...), s.Leaf)
		b = appendTime(append(b, `,"reportedAt":`...), s.ReportedAt)
		b = append(b, `,"fresh":`...)
		if s.Fresh {
			b = append(b, "true}"...)
		} else {
			b = append(b, "false}"...)
		}
	}
	return append(b, "}}"...)
}

// appendText writes a string as JSON; one that is more than plain ASCII is encode's.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return append(b, encode(s)...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendTime(b []byte, t stamp.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	return time.Time(t).UTC().AppendFormat(b, stamp.JSON)
}
