package judge

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

const importRoute = "/space/v1/customers/import"

// schedule is plc_w's for two days: open on Mondays from nine to six.
func (h *builder) schedule() []any {
	loc, _ := time.LoadLocation("Asia/Seoul")
	var days []any
	for i := range 2 {
		day := time.UnixMilli(h.at).In(loc).AddDate(0, 0, i)
		d := fields{"date": day.Format(time.DateOnly), "weekday": weekdays[day.Weekday()], "open": false, "intervals": []any{}}
		if day.Weekday() == time.Monday {
			from := time.Date(day.Year(), day.Month(), day.Day(), 9, 0, 0, 0, loc).UnixMilli()
			d["open"], d["intervals"] = true, []any{fields{"start": "09:00", "end": "18:00", "startsAt": rfc(from), "endsAt": rfc(from + 9*3600*1000)}}
		}
		days = append(days, d)
	}
	return days
}

// partner adds the other calls that partners make: the schedule on a Sunday, an import twice, legacy paths, the test
// place.
func (h *builder) partner() {
	loc, _ := time.LoadLocation("Asia/Seoul")
	for time.UnixMilli(h.at).In(loc).Weekday() != time.Sunday {
		h.pass(3600 * 1000)
	}
	h.did("plc_w", "GET", scheduleRoute, 200, history.CallText{Path: "plc_w", Query: "days=2", Out: fields{"timezone": "Asia/Seoul", "days": h.schedule()}}, nil)
	rows := []any{fields{"externalRef": "c-1", "phone": "mia", "name": "Mia"}, fields{"phone": "bad"}}
	h.did("plc_a", "POST", importRoute, 200, history.CallText{In: fields{"source": "old"}, Rows: rows,
		Out:   fields{"received": 2, "created": 1, "updated": 0, "unchanged": 0, "failed": 1},
		Wrote: []any{fields{"index": 0, "id": "cus_1", "status": "created"}, fields{"index": 1, "status": "failed"}}}, nil)
	h.did("plc_a", "POST", importRoute, 200, history.CallText{In: fields{"source": "old"}, Rows: rows,
		Out:   fields{"received": 2, "created": 0, "updated": 0, "unchanged": 1, "failed": 1},
		Wrote: []any{fields{"index": 0, "id": "cus_1", "status": "unchanged"}, fields{"index": 1, "status": "failed"}}}, nil)
	for _, r := range []struct { // a reference takes over the customer without one that the number identifies
		row    fields
		status string
	}{{fields{"phone": "zoe"}, "created"}, {fields{"externalRef": "c-9", "phone": "zoe", "name": "Zoe"}, "updated"}, {fields{"phone": "zoe", "name": "Zoe"}, "unchanged"}} {
		out := fields{"received": 1, "created": 0, "updated": 0, "unchanged": 0, "failed": 0}
		out[r.status] = 1
		h.did("plc_a", "POST", importRoute, 200, history.CallText{In: fields{"source": "old"}, Rows: []any{r.row}, Out: out,
			Wrote: []any{fields{"index": 0, "id": "cus_9", "status": r.status}}}, nil)
	}
	h.did("plc_a", "GET", legacyDoors, 200, history.CallText{Items: []any{fields{"doorState": "locked", "online": true}}}, nil)
	h.did("plc_a", "POST", legacyDoors+"/{id}/open", 503, history.CallText{Out: fields{"reason": "offline", "detail": "away"}}, nil)
	h.did("plc_t", "POST", "/device/v1/devices/{id}/commands", 200, history.CallText{Kind: "test", Path: doorOf("brd_t", 1), Out: fields{"outcome": "reported"}}, nil)
}

func TestPlantedPartnerBugs(t *testing.T) {
	answered := func(method, route string, n int, change func(*history.Event, *history.CallText)) func(*testing.T, *builder) {
		return func(t *testing.T, h *builder) { h.answer(t, method, route, n, change) }
	}
	day := func(c *history.CallText, i int) map[string]any {
		return c.Out["days"].([]any)[i].(map[string]any)
	}
	result := func(c *history.CallText, i int) map[string]any { return c.Wrote[i].(map[string]any) }
	runPlants(t, []planted{
		{"a schedule that opens late", answered("GET", scheduleRoute, 0, func(_ *history.Event, c *history.CallText) {
			d := day(c, 1)["intervals"].([]any)[0].(map[string]any)
			d["startsAt"], d["start"] = d["endsAt"], d["end"]
		}), []string{"HRS-2"}, history.Call, "the hours say"},
		{"a schedule that says nine and means ten", answered("GET", scheduleRoute, 0, func(_ *history.Event, c *history.CallText) {
			day(c, 1)["intervals"].([]any)[0].(map[string]any)["start"] = "10:00"
		}), []string{"HRS-2"}, history.Call, "from 10:00 to 18:00, but by the instants from 09:00 to 18:00"},
		{"a schedule with a holiday that isn't one", answered("GET", scheduleRoute, 0, func(_ *history.Event, c *history.CallText) {
			day(c, 0)["note"] = fields{"type": "holiday", "name": "Sunday"}
		}), []string{"HRS-2"}, history.Call, `has the note holiday "Sunday", but the hours say nothing`},
		{"a schedule in another zone", answered("GET", scheduleRoute, 0, func(_ *history.Event, c *history.CallText) { c.Out["timezone"] = "UTC" }),
			[]string{"HRS-2"}, history.Call, `its time zone is "UTC"`},
		{"a schedule of a closed Monday", answered("GET", scheduleRoute, 0, func(_ *history.Event, c *history.CallText) {
			day(c, 1)["open"], day(c, 1)["intervals"] = false, []any{}
		}), []string{"HRS-2"}, history.Call, "the hours have 1 run"},
		{"a schedule from tomorrow", answered("GET", scheduleRoute, 0, func(_ *history.Event, c *history.CallText) {
			c.Out["days"], c.Query = c.Out["days"].([]any)[1:], "days=1"
		}), []string{"HRS-2"}, history.Call, "it begins on"},
		{"a schedule of one day", answered("GET", scheduleRoute, 0, func(_ *history.Event, c *history.CallText) {
			c.Out["days"] = c.Out["days"].([]any)[:1]
		}), []string{"HRS-2"}, history.Call, "1 days, asked for"},
		{"created again", answered("POST", importRoute, 1, func(_ *history.Event, c *history.CallText) {
			result(c, 0)["status"], result(c, 0)["id"], c.Out["created"], c.Out["unchanged"] = "created", "cus_2", 1, 0
		}), []string{"IMP-1"}, history.Call, "created again"},
		{"the same row is updated", answered("POST", importRoute, 1, func(_ *history.Event, c *history.CallText) {
			result(c, 0)["status"], c.Out["updated"], c.Out["unchanged"] = "updated", 1, 0
		}), []string{"IMP-1"}, history.Call, "the same row again is updated"},
		{"another row is unchanged", answered("POST", importRoute, 1, func(_ *history.Event, c *history.CallText) {
			c.Rows[0].(map[string]any)["phone"] = "eve"
		}), []string{"IMP-1"}, history.Call, "but was reported as unchanged"},
		{"one bad row fails all", answered("POST", importRoute, 1, func(_ *history.Event, c *history.CallText) {
			result(c, 0)["status"], c.Out["unchanged"], c.Out["failed"] = "failed", 0, 2
		}), []string{"IMP-1"}, history.Call, "the same row was accepted before"},
		{"a twin instead of a takeover", answered("POST", importRoute, 3, func(_ *history.Event, c *history.CallText) {
			result(c, 0)["status"], result(c, 0)["id"], c.Out["created"], c.Out["updated"] = "created", "cus_10", 1, 0
		}), []string{"IMP-1"}, history.Call, "cus_9 has its phone and no reference"},
		{"counts of nothing", answered("POST", importRoute, 0, func(_ *history.Event, c *history.CallText) { c.Out["failed"] = 0 }),
			[]string{"IMP-1"}, history.Call, "failed is 0, but its rows add up to 1"},
		{"no reason", answered("POST", legacyDoors+"/{id}/open", 0, func(_ *history.Event, c *history.CallText) { delete(c.Out, "reason") }),
			[]string{"LEG-1"}, history.Call, "without reason and detail"},
		{"offline is a 503", answered("POST", legacyDoors+"/{id}/open", 0, func(e *history.Event, _ *history.CallText) { e.Code = "device_offline" }),
			[]string{"LEG-1"}, history.Call, "on the new path it is 409"},
		{"a state of its own", answered("GET", legacyDoors, 0, func(_ *history.Event, c *history.CallText) { c.Items[0].(map[string]any)["doorState"] = "closed" }),
			[]string{"LEG-1"}, history.Call, `doorState "closed"`},
		{"the test place is away", answered("POST", "/device/v1/devices/{id}/commands", 0, func(e *history.Event, _ *history.CallText) { e.Status, e.Code = 409, "device_offline" }),
			[]string{"CMD-8"}, history.Call, "in the test place was answered with 409"},
	})
}

// TestCancelledRow: the same row again is a change only after a cancellation.
func TestCancelledRow(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Status{"cancel": Pass, "membership": Fail} {
		h := raced()
		for _, status := range []string{"created", "updated"} {
			out := fields{"received": 1, "created": 0, "updated": 0, "unchanged": 0, "failed": 0}
			out[status] = 1
			h.did("plc_a", "POST", "/space/v1/memberships/import", 200, history.CallText{In: fields{"source": "old"}, Rows: []any{fields{"externalRef": "m-1", "phone": "mia"}}, Out: out,
				Wrote: []any{fields{"index": 0, "id": "mem_1", "status": status}}}, nil)
			if status == "created" {
				h.emit(history.Event{Kind: history.Committed, PlaceID: "plc_a", Revision: h.rev["plc_a"], Digest: h.digest["plc_a"], GrantID: "mem_1", Op: name})
			}
		}
		if got := imp1(NewView(h.events)); got.Status != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
