package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Subtler bugs: each of them once passed because its checker lacked a condition.
func TestPlantedFinerBugs(t *testing.T) { runPlants(t, finerPlants()) }

func finerPlants() []planted { return append(statusPlants(), finerEvents()...) }

func statusPlants() []planted {
	answer := func(key string, change func(*history.Event)) func(*testing.T, *builder) {
		return func(t *testing.T, h *builder) {
			for i, id := 0, commandOf(t, h, key); i < len(h.events); i++ {
				if e := &h.events[i]; is(history.Answer, id)(*e) {
					change(e)
				}
			}
		}
	}
	status := func(status int) func(*history.Event) {
		return func(e *history.Event) { e.Status = status }
	}
	return []planted{
		{"200 for an unknown outcome", answer("k-silent", status(200)), []string{"CMD-1", "CMD-4"}, history.Answer, "ended noResponse, but was answered with 200"},
		{"200 without an outcome", answer("k-open", func(e *history.Event) { e.Outcome = "" }), []string{"CMD-1"}, history.Answer, "was answered with 200 and outcome"},
		{"200 as soon as it was sent", answer("k-open", func(e *history.Event) { e.Outcome = "sent" }), []string{"ENT-4", "CMD-1"}, history.Answer, "was answered with 200 and outcome"},
		{"504 for offline", answer("k-off", status(504)), []string{"CMD-2"}, history.Answer, "ended offline, but was answered with 504"},
		{"409 for refused", answer("k-refused", status(409)), []string{"CMD-3"}, history.Answer, "ended refused, but was answered with 409"},
	}
}

func finerEvents() []planted {
	return []planted{
		{"refused but moved, and only the record tells", func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-refused")
			h.edit(t, 0, acts(t, h, "k-refused"), func(e *history.Event) { e.Action = "pulse" })
			h.drop(t, is(history.Answer, id)) // as for a link or a call
		}, []string{"CMD-3"}, history.Actuation, "was refused but moved"},
		{"recorded twice, with different results", func(t *testing.T, h *builder) {
			h.after(t, is(history.RecordIn, commandOf(t, h, "k-open")), func(e *history.Event) { e.RecordID, e.Result = "rec_x", vocab.Refused })
		}, []string{"ENT-4"}, history.RecordIn, "has 2 records"},
		{"content forgotten over a reboot", func(t *testing.T, h *builder) {
			h.edit(t, 1, on("brd_2", history.Online), func(e *history.Event) { e.Revision = 0 })
		}, []string{"SYNC-1"}, history.Online, "came back with revision 0"},
		{"decided by a newer revision from the start", func(t *testing.T, h *builder) {
			open := func(e *history.Event) { e.Result, e.Reason, e.GrantID = "opened", "onsite", "pmt_3" }
			h.decide(t, func(e history.Event) bool { return e.Kind == history.Presented && e.PhoneHash == "cho" }, open)
			h.edit(t, 0, recordNo(3), open)
			for i := range h.events {
				if e := &h.events[i]; e.BoardID == "brd_2" && onsite(e) && e.OutageAgeMs > 0 {
					e.Revision = 5
				}
			}
		}, []string{"SYNC-3"}, history.Actuation, "committed after its outage began"},
		{"gives up a moment too early", func(t *testing.T, h *builder) {
			id := commandOf(t, h, "k-lost")
			h.drop(t, is(history.Fault, id))
			h.edit(t, 0, is(history.Answer, id), func(e *history.Event) { e.WallNs += 4900e6 })
		}, []string{"CMD-4"}, history.Answer, "was given up"},
		{"504 four seconds late, long after its report", heldUp(1000), []string{"CMD-4"}, history.Answer, "after its report had come in"},
		{"another body for an unknown outcome", func(t *testing.T, h *builder) {
			h.edit(t, 1, is(history.Answer, commandOf(t, h, "k-silent")), func(e *history.Event) { e.BodyHash = "other" })
		}, []string{"CMD-5"}, history.Answer, "the body differs"},
		{"five digits of a phone", func(t *testing.T, h *builder) {
			h.edit(t, 0, func(e history.Event) bool { return e.Kind == history.RecordIn && e.Method == "onsite" }, func(e *history.Event) { e.Actor = "guest:*45678" })
		}, []string{"ENT-4"}, history.RecordIn, "last four digits"},
		{"a second command that wasn't sent", func(t *testing.T, h *builder) {
			h.after(t, func(e history.Event) bool { return e.Code == codeReused }, func(e *history.Event) {
				*e = history.Event{Kind: history.Intent, At: e.At, WallNs: e.WallNs, PlaceID: "plc_a", DoorID: e.DoorID, CommandID: "cmd_x", Key: e.Key, Op: "hold"}
			})
		}, []string{"ENT-4", "CMD-5"}, history.Intent, "second command cmd_x"},
	}
}
