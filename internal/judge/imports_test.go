package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestLongImports: the counts of an import are judged however many rows it has, and no later one is held against rows that
// aren't known.
func TestLongImports(t *testing.T) {
	t.Parallel()
	const route = "/space/v1/partner/customers/import"
	imported := func(h *builder, rows int, name, status string, created int) {
		var items, results []string
		for i := range rows {
			items = append(items, fmt.Sprintf(`{"externalRef":"ref-%d","name":%q}`, i, name))
			results = append(results, fmt.Sprintf(`{"index":%d,"status":%q,"id":"cus_%d"}`, i, status, i))
		}
		e := history.CallEvent(history.CallIn{Method: "POST", Path: route, PlaceID: "plc_a", Status: 200, SentAt: h.at, SentNs: h.wall + 1,
			Request: []byte(`{"source":"s","items":[` + strings.Join(items, ",") + `]}`),
			Answer: []byte(fmt.Sprintf(`{"success":true,"data":{"received":%d,"created":%d,"updated":%d,"unchanged":0,"failed":0,"results":[%s]}}`,
				rows, created, rows-created, strings.Join(results, ",")))})
		h.emit(e)
	}
	for name, c := range map[string]struct {
		created int // of 1,001 rows, all of which say that they were
		why     string
	}{"counted right": {1001, ""}, "one too few": {1000, "created is 1000, but its rows add up to 1001"}} {
		h := newBuilder()
		imported(h, 2, "first", "created", 2)
		imported(h, 1001, "second", "created", c.created)
		imported(h, 2, "first", "updated", 0)
		v := imp1(NewView(h.events))
		if (v.FirstBad != nil) != (c.why != "") || !strings.Contains(v.Number, c.why) || v.Checked != 3 {
			t.Errorf("%s: %s, %d checked; want %q of 3", name, v, v.Checked, c.why)
		}
	}
}

// TestImportsWithoutResults: an import that answers for no row is a breach, however long it is.
func TestImportsWithoutResults(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{2, 1001} {
		h := newBuilder()
		h.emit(history.CallEvent(history.CallIn{Method: "POST", Path: "/space/v1/partner/customers/import", PlaceID: "plc_a", Status: 200, SentAt: h.at, SentNs: h.wall + 1,
			Request: []byte(`{"source":"s","items":[` + strings.Repeat(`{"externalRef":"a"},`, rows-1) + `{"externalRef":"b"}]}`),
			Answer:  []byte(fmt.Sprintf(`{"success":true,"data":{"received":%d,"created":%[1]d,"updated":0,"unchanged":0,"failed":0,"results":[]}}`, rows))}))
		if v, want := imp1(NewView(h.events)), fmt.Sprintf("0 results for %d rows", rows); v.FirstBad == nil || !strings.Contains(v.Number, want) {
			t.Errorf("got %s, want %q", v, want)
		}
	}
}

// TestImportsWithARowThatIsNoObject: such a row fails beside the others, which are judged like those of any import.
func TestImportsWithARowThatIsNoObject(t *testing.T) {
	t.Parallel()
	const created, again = `"created":1,"updated":0,"unchanged":0`, `"created":0,"updated":0,"unchanged":1`
	for _, c := range []struct{ counts, first, second, why string }{
		{again, "created", "unchanged", ""},
		{created, "created", "created", "it was created again"},
		{again, "failed", "unchanged", "created is 1, but its rows add up to 0"},
	} {
		h := newBuilder()
		for _, one := range [][2]string{{created, c.first}, {c.counts, c.second}} {
			h.at, h.wall = h.at+1000, h.wall+1e9
			h.emit(history.CallEvent(history.CallIn{Method: "POST", Path: "/space/v1/customers/import", PlaceID: "plc_a", Status: 200, SentAt: h.at, SentNs: h.wall + 1,
				Request: []byte(`{"source":"s","items":[{"externalRef":"a"},7]}`),
				Answer: fmt.Appendf(nil, `{"success":true,"data":{"received":2,%s,"failed":1,
					"results":[{"index":0,"status":"%s","id":"cus_1"},{"index":1,"status":"failed"}]}}`, one[0], one[1])}))
		}
		v := imp1(NewView(h.events))
		if (v.FirstBad != nil) != (c.why != "") || !strings.Contains(v.Number, c.why) || v.Checked != 2 {
			t.Errorf("got %s, %d checked; want %q of 2", v, v.Checked, c.why)
		}
		if c.why == "" && len(v.Untried)+len(v.Unseen) > 0 {
			t.Errorf("got %q and %q as not seen, want both cases seen", v.Untried, v.Unseen)
		}
	}
}

// imports adds an import of one membership whose row ends at that time (0 = never), and its result.
func (h *builder) imports(ends int64, status, id string) {
	row := fields{"externalRef": "a", "phone": "0101", "startsAt": moment(t0)}
	if ends != 0 {
		row["endsAt"] = moment(ends)
	}
	counts := map[string]int{status: 1}
	h.emit(history.CallEvent(history.CallIn{Method: "POST", Path: "/space/v1/memberships/import", PlaceID: "plc_a", Status: 200, SentAt: h.at, SentNs: h.wall + 1,
		Request: encoded(fields{"source": "s", "items": []any{row}}),
		Answer: encoded(fields{"data": fields{"received": 1, "created": counts["created"], "updated": counts["updated"], "unchanged": counts["unchanged"], "failed": 0,
			"results": []any{fields{"index": 0, "status": status, "id": id}}}})}))
}

func encoded(v any) []byte {
	raw, _ := json.Marshal(v)
	return raw
}

// TestImportsOfWhatWasForgotten: a membership is deleted 400 days after its end, and its row then creates another one. A
// cancelled one ends within 30 days.
func TestImportsOfWhatWasForgotten(t *testing.T) {
	t.Parallel()
	const day = 24 * 3600 * 1000
	cancel := history.Event{Kind: history.Committed, PlaceID: "plc_a", Revision: 2, Op: "cancel", GrantID: "mem_1"}
	for _, c := range []struct {
		name      string
		ends      int64
		cancelled bool
		after     int64
		bad       bool
	}{
		{"400 days after its end", t0 + day, false, 401*day + 1, false},
		{"before that", t0 + day, false, 401*day - 1, true},
		{"without an end", 0, false, 5000 * day, true},
		{"without an end, cancelled", 0, true, 430*day + 1, false},
		{"cancelled 400 days ago", 0, true, 400 * day, true},
		{"cancelled before its end", t0 + day, true, 401*day + 1, false},
	} {
		h := newBuilder()
		h.imports(c.ends, "created", "mem_1")
		if c.cancelled {
			h.emit(cancel)
		}
		h.pass(c.after)
		h.imports(c.ends, "created", "mem_2")
		if v := imp1(NewView(h.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("%s: %s, want a breach: %v", c.name, v, c.bad)
		}
	}
}
