package entry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/record"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.permit("r", 1)
	for _, from := range []string{kim, "01099990000"} {
		_, err := h.Call(ctx, number, from)
		h.ok(err)
	}
	by := record.By{PlaceID: "plc_a", KeyID: "key_a", RequestID: "req_1"}
	rs, total, err := h.Service.Records(by, entry.LogQuery{})
	if err != nil || total != 2 || rs[0].Result != vocab.Denied || rs[1].ActorLabel != "010-****-5678" {
		t.Errorf(`got %+v, %v, want no error, total = 2, rs[0].Result = vocab.Denied, rs[1].ActorLabel = "010-****-5678"`, rs, err)
	}
	as, n, err := h.Audits("plc_a", 10, 0)
	if err != nil || n != 1 || as[0] != (record.Audit{At: epoch, PlaceID: "plc_a", KeyID: "key_a", RequestID: "req_1",
		Action: "entry-logs.read", Detail: "sinceDays=7 limit=100 offset=0", Count: 2}) {
		t.Errorf("audit log %+v, %v, want one read of two rows by key_a", as, err)
	}
	h.Pass(7*24*time.Hour + time.Millisecond)
	if _, total, _ := h.Service.Records(by, entry.LogQuery{}); total != 0 {
		t.Errorf("got %d records over 7 days, want 0", total)
	}
	if _, total, _ := h.Service.Records(by, entry.LogQuery{SinceDays: 8}); total != 2 {
		t.Errorf("got %d records of 8 days, want 2", total)
	}
	for _, q := range []entry.LogQuery{{SinceDays: -1}, {SinceDays: 31}, {Limit: 501}, {Limit: -1}, {Offset: -1}} {
		if _, _, err := h.Service.Records(by, q); fail.CodeOf(err) != fail.InvalidQuery {
			t.Errorf("%+v: got %v, want fail.CodeOf(err) = fail.InvalidQuery", q, err)
		}
	}
}

// many is n different words.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

func TestEvents(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit("r", 100, "dor_1")
	call := func(from string) { _, err := h.Call(ctx, number, from); h.ok(err) }
	call(kim) // events "opened" and "permit used"
	h.Pass(time.Hour)
	call("01099990000") // event "denied"
	h.window("dor_2", "free")
	call("01099990000") // opened without a permit
	h.door.outcome = vocab.Offline
	call(kim) // no further event
	show := func(q record.EventQuery) string {
		es, total, err := h.Service.Events("plc_a", q)
		if err != nil {
			return fail.CodeOf(err)
		}
		out := fmt.Sprint(total)
		for _, e := range es {
			out += " " + strings.TrimPrefix(e.Kind, "entry.")
		}
		return out
	}
	for name, tt := range map[string]struct {
		q    record.EventQuery
		want string
	}{
		"all":              {record.EventQuery{}, "4 opened denied permit.used opened"},
		"opened":           {record.EventQuery{Results: []string{"opened"}}, "3 opened permit.used opened"},
		"both":             {record.EventQuery{Results: []string{"opened", "denied"}}, "4 opened denied permit.used opened"},
		"kinds":            {record.EventQuery{Kinds: []string{"entry.denied", "entry.permit.used"}}, "2 denied permit.used"},
		"door":             {record.EventQuery{DoorIDs: []string{"dor_2"}}, "1 opened"},
		"permit":           {record.EventQuery{PermitIDs: []string{p.ID}}, "2 permit.used opened"},
		"all filters":      {record.EventQuery{PermitIDs: []string{p.ID}, DoorIDs: []string{"dor_1"}, Kinds: []string{"entry.opened"}, Results: []string{"opened"}}, "1 opened"},
		"page":             {record.EventQuery{Limit: 2, Offset: 1}, "4 denied permit.used"},
		"to is exclusive":  {record.EventQuery{To: epoch.Add(time.Hour)}, "2 permit.used opened"},
		"from is included": {record.EventQuery{From: epoch.Add(time.Hour)}, "2 opened denied"},
		"30 days":          {record.EventQuery{From: epoch.Add(time.Hour - 30*24*time.Hour)}, "4 opened denied permit.used opened"},
		"30 days to a to":  {record.EventQuery{From: epoch.Add(2*time.Hour - 30*24*time.Hour), To: epoch.Add(2 * time.Hour)}, "4 opened denied permit.used opened"},
		"over 30 days":     {record.EventQuery{From: epoch.Add(2*time.Hour - time.Millisecond - 30*24*time.Hour), To: epoch.Add(2 * time.Hour)}, fail.InvalidQuery},
		"30 days on a way": {record.EventQuery{From: epoch.Add(time.Hour - time.Minute - 30*24*time.Hour)}, "4 opened denied permit.used opened"},
		"over it":          {record.EventQuery{From: epoch.Add(time.Hour - time.Minute - time.Millisecond - 30*24*time.Hour)}, fail.InvalidQuery},
		"reversed":         {record.EventQuery{From: epoch, To: epoch.Add(-time.Hour)}, fail.InvalidQuery},
		"result":           {record.EventQuery{Results: []string{"offline"}}, fail.InvalidQuery},
		"kind":             {record.EventQuery{Kinds: []string{"entry"}}, fail.InvalidQuery},
		"one value twice":  {record.EventQuery{DoorIDs: []string{"dor_2", "dor_2"}}, "1 opened"},
		"too many values":  {record.EventQuery{DoorIDs: strings.Fields(many(201))}, fail.InvalidQuery},
		"limit":            {record.EventQuery{Limit: 501}, fail.InvalidQuery},
	} {
		if got := show(tt.q); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	es, _, _ := h.Service.Events("plc_a", record.EventQuery{Kinds: []string{"entry.permit.used"}})
	if e := es[0]; e.ExternalRef != "r" || e.DoorName != "Front" || e.Actor != "guest:*5678" || e.RecordID == "" || !e.OccurredAt.Equal(epoch) || e.Late {
		t.Errorf("event %+v, want the one of ...5678 at Front by the permit r, in time", e)
	}
	h.Pass(24 * time.Hour)
	if got := show(record.EventQuery{}); got != "2 opened denied" {
		t.Errorf("the last 24 h: got %s, want 2 opened denied", got)
	}
}
