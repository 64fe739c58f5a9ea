package api

import (
	"strings"
	"sync"
	"time"

	gen "github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
)

// appendCommanded writes what encode would write for a success, byte for byte. Every door command has one, and
// reflection took as long as the rest of the answer.
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

// silence is a command's 504. Every command carries one until it has an outcome. They differ only by command id, so the
// text around the id is rendered once.
func silence(r command.Result, legacy bool) (int, []byte) {
	kind := silenceKind{legacy, r.TimeoutMs}
	v, ok := silences.Load(kind)
	if !ok {
		const where = "<the command's id>" // can't be in a real id
		like := r
		like.CommandID = where
		e := like.Failure(fail.DeviceOffline)
		before, after, _ := strings.Cut(string(encode(failureOf(e, legacy))), `"`+where+`"`)
		v, _ = silences.LoadOrStore(kind, around{e.Status(), before, after})
	}
	a := v.(around)
	return a.status, append(appendText(append(make([]byte, 0, len(a.before)+len(a.after)+48), a.before...), r.CommandID), a.after...)
}

// silences are these texts by what else they depend on: the server's wait, which hardly varies.
var silences sync.Map

type silenceKind struct {
	legacy    bool
	timeoutMs int64
}

type around struct {
	status        int
	before, after string
}

// appendText writes a string as JSON; encode writes those that aren't plain ASCII.
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
