package api

import (
	"net/http"
	"strconv"

	gendevice "github.com/doorlab/doorlab/server/api/gen/device"
	gen "github.com/doorlab/doorlab/server/api/gen/space"
)

// listed is a list's answer. Its text is what encode would write, byte for byte; for the lists that callers keep asking
// for, reflection took a fifth of the time.
func listed[T any](items []T, total int, each func([]byte, *T) []byte) answer {
	b := append(make([]byte, 0, 64+512*len(items)), `{"success":true,"data":[`...)
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = each(b, &items[i])
	}
	b = strconv.AppendInt(append(b, `],"total":`...), int64(total), 10)
	return answer{status: http.StatusOK, kind: typeJSON, body: append(b, '}')}
}

func appendDevice(b []byte, d *gendevice.Device) []byte {
	b = appendText(append(b, `{"id":`...), d.ID)
	b = appendText(append(b, `,"name":`...), d.Name)
	b = appendText(append(b, `,"kind":`...), d.Kind)
	b = appendText(append(b, `,"health":{"state":`...), d.Health.State)
	b = appendTime(append(b, `,"since":`...), d.Health.Since)
	b = appendTime(append(b, `,"lastSeenAt":`...), d.Health.LastSeenAt)
	b = append(b, `},"capabilities":{"door":[`...)
	for j, name := range d.Capabilities.Door {
		if j > 0 {
			b = append(b, ',')
		}
		b = appendText(b, name)
	}
	return append(b, "]}}"...)
}

func appendPermit(b []byte, p *gen.Permit) []byte {
	b = appendText(append(b, `{"permitId":`...), p.PermitID)
	b = appendText(append(b, `,"externalRef":`...), p.ExternalRef)
	b = appendText(append(b, `,"name":`...), p.Name)
	b = appendText(append(b, `,"phoneTail":`...), p.PhoneTail)
	b = appendText(append(b, `,"state":`...), p.State)
	b = appendTime(append(b, `,"startsAt":`...), p.StartsAt)
	b = appendTime(append(b, `,"endsAt":`...), p.EndsAt)
	b = strconv.AppendInt(append(b, `,"useCount":`...), int64(p.UseCount), 10)
	b = appendTime(append(b, `,"firstUsedAt":`...), p.FirstUsedAt)
	b = appendText(append(b, `,"url":`...), p.URL)
	return append(b, '}')
}

func appendRecord(b []byte, r *gen.Record) []byte {
	b = appendText(append(b, `{"recordId":`...), r.RecordID)
	b = appendOrNull(append(b, `,"doorId":`...), r.DoorID)
	b = appendOrNull(append(b, `,"doorName":`...), r.DoorName)
	b = appendText(append(b, `,"result":`...), r.Result)
	b = appendText(append(b, `,"reason":`...), r.Reason)
	b = appendText(append(b, `,"method":`...), r.Method)
	b = appendText(append(b, `,"actor":`...), r.Actor)
	b = appendText(append(b, `,"actorLabel":`...), r.ActorLabel)
	b = appendOrNull(append(b, `,"commandId":`...), r.CommandID)
	b = appendTime(append(b, `,"requestedAt":`...), r.RequestedAt)
	b = appendTime(append(b, `,"occurredAt":`...), r.OccurredAt)
	b = appendTime(append(b, `,"recordedAt":`...), r.RecordedAt)
	b = appendText(append(b, `,"source":`...), r.Source)
	b = appendOrNull(append(b, `,"settledAs":`...), r.SettledAs)
	b = appendTime(append(b, `,"settledAt":`...), r.SettledAt)
	b = strconv.AppendInt(append(b, `,"replays":`...), int64(r.Replays), 10)
	b = appendOrNull(append(b, `,"note":`...), r.Note)
	return append(b, '}')
}

func appendOrNull(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return appendText(b, *s)
}
