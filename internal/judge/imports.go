package judge

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// rowKey is how an import recognizes a row.
type rowKey struct{ place, route, source, ref, phone string }

// imported is the last row under a key and its result.
type imported struct {
	id  string
	row map[string]any
}

// imp1 judges IMP-1: an import answers for each row, and its counts match; a row that existed isn't created again, the
// same row is unchanged, and a new reference takes over a customer without one.
func imp1(v *View) Verdict {
	t := &tally{}
	known := map[rowKey]imported{}
	byID := map[string]map[string]any{} // the last row of each id
	seen := map[string]*history.Event{} // its last import
	ended := v.cancellations()
	rows, beside, again := 0, 0, 0
	var last *call
	for _, c := range v.calls() {
		if !c.imports() || !c.ok() || c.SentNs == 0 || c.asked() == 0 {
			continue
		}
		if last != nil && (last.overlaps(c) || v.unsureBetween(last, c, (*call).imports)) || len(c.Rows) == 0 { // their order or what another one left is unknown; or its rows weren't kept
			known, byID = map[rowKey]imported{}, map[string]map[string]any{}
		}
		last = c
		t.checked++
		if why := c.counts(); why != "" {
			t.bad(c.Event, "%s: %s", c.Route, why) // [IMP-1]
			continue
		}
		for i := range c.Rows {
			rows++
			row, _ := c.Rows[i].(map[string]any)
			key := c.keyOf(row, v.placeOf(c))
			if forgotten(known, byID, ended, key, c.At) {
				delete(known, key)
			}
			if _, seen := known[key]; seen {
				again++
			} else if c.failedAlone(i) {
				beside++
			}
			id := c.id(i)
			if was := seen[id]; was != nil && slices.ContainsFunc(ended[id], func(e *history.Event) bool { return !v.before(c.Event, e) && !v.before(e, was) }) {
				delete(byID, id) // cancelled since: the same row is a change
			}
			seen[id] = c.Event
			if why := c.row(i, v.placeOf(c), known, byID); why != "" {
				t.bad(c.Event, "%s row %d: %s", c.Route, i, why) // [IMP-1]
				break
			}
		}
	}
	return t.verdict(v, "IMP-1", fmt.Sprintf("%s imports, %s rows, each with the expected result", amount.Number(t.checked), amount.Number(rows))).
		tried(beside+again, "no row failed next to another one or was imported again").
		shows(sight{beside, "a row that fails beside others"}, sight{again, "a row that is imported again"})
}

func (c *call) imports() bool { return strings.HasSuffix(c.Route, "/import") }

// cancelledMs is how long a cancelled membership is kept as if it hadn't been, at most to its end.
const cancelledMs = 30 * 24 * 3600 * 1000

// forgotten reports whether the membership of a row ended so long ago that the server may have deleted it: the same row
// then creates another one.
func forgotten(known map[rowKey]imported, byID map[string]map[string]any, cancelled map[string][]*history.Event, key rowKey, now int64) bool {
	was, seen := known[key]
	last := byID[was.id]
	if last == nil {
		last = was.row
	}
	ends, ok := instant(last["endsAt"])
	if !ok {
		ends = never - permitKeptMs
	}
	for _, e := range cancelled[was.id] {
		ends = min(ends, e.At+cancelledMs)
	}
	return seen && ends+permitKeptMs < now
}

// cancellations returns the commits that cancelled a membership or a reservation, by its id.
func (v *View) cancellations() map[string][]*history.Event {
	out := map[string][]*history.Event{}
	for _, p := range v.places {
		for _, e := range p.commits {
			if e.Op == "cancel" {
				out[e.GrantID] = append(out[e.GrantID], e)
			}
		}
	}
	return out
}

// id is that of the result of a row.
func (c *call) id(i int) string {
	result, _ := c.Wrote[i].(map[string]any)
	return text(result, "id")
}

// asked is how many rows an import had. Not all are kept, but their number is.
func (c *call) asked() int {
	if n, ok := c.In["items"].(float64); ok && len(c.Rows) == 0 {
		return int(n)
	}
	return len(c.Rows)
}

// counts compares an import's counts with its rows; "" or how they differ.
func (c *call) counts() string {
	rows := c.asked()
	if len(c.Wrote) != rows {
		return fmt.Sprintf("%d results for %d rows", len(c.Wrote), rows)
	}
	sums := map[string]int{}
	for i, r := range c.Wrote {
		m, _ := r.(map[string]any)
		sums[text(m, "status")]++
		if n, ok := m["index"].(float64); !ok || int(n) != i {
			return fmt.Sprintf("result %d has index %v", i, m["index"])
		}
	}
	sums["received"] = rows
	for _, k := range []string{"received", "created", "updated", "unchanged", "failed"} {
		if n, ok := c.number(k); !ok || n != sums[k] {
			return fmt.Sprintf("%s is %d, but its rows add up to %d", k, n, sums[k])
		}
	}
	return ""
}

func text(m map[string]any, k string) string { s, _ := m[k].(string); return s }

func (c *call) keyOf(row map[string]any, place string) rowKey {
	key := rowKey{place: place, route: c.Route, source: c.in("source"), ref: text(row, "externalRef")}
	if key.ref == "" {
		key.phone = text(row, "phone")
	}
	return key
}

// failedAlone reports whether a row failed beside one that didn't.
func (c *call) failedAlone(i int) bool {
	failed := func(x any) bool { m, _ := x.(map[string]any); return m == nil || text(m, "status") == "failed" }
	return failed(c.Wrote[i]) && slices.ContainsFunc(c.Wrote, func(x any) bool { return !failed(x) })
}

// row compares one row with earlier ones; "" or what is wrong.
func (c *call) row(i int, place string, known map[rowKey]imported, byID map[string]map[string]any) string {
	row, _ := c.Rows[i].(map[string]any)
	result, _ := c.Wrote[i].(map[string]any)
	status, id := text(result, "status"), text(result, "id")
	key := c.keyOf(row, place)
	if key.ref == "" && key.phone == "" {
		return ""
	}
	was, seen := known[key]
	same := seen && reflect.DeepEqual(was.row, row)
	switch {
	case status == "failed" && same:
		return "it failed, although the same row was accepted before"
	case status == "failed":
		return ""
	case seen && status == "created":
		return "it was created again"
	case seen && id != was.id:
		return "it created " + id + ", but before that it was " + was.id
	case same && reflect.DeepEqual(byID[id], row) && status != "unchanged":
		return "the same row again is " + status
	case seen && status == "unchanged" && changed(byID[id], row):
		return "it differs from the previous row, but was reported as unchanged"
	case !seen && status == "created" && strings.HasSuffix(c.Route, "/customers/import"):
		bare := known[rowKey{place: place, route: c.Route, source: key.source, phone: text(row, "phone")}].id
		if now := byID[bare]; key.ref != "" && bare != "" && text(now, "externalRef") == "" && now["phone"] == row["phone"] {
			return "it was created, although " + bare + " has its phone and no reference"
		}
	}
	known[key], byID[id] = imported{id, row}, row
	return ""
}

// changed reports whether a row has a different phone, name or period from the previous one.
func changed(was, row map[string]any) bool {
	for _, k := range []string{"phone", "name", "startsAt", "endsAt"} {
		a, okA := was[k].(string)
		b, okB := row[k].(string)
		if !okA || !okB || a == b {
			continue
		}
		x, okX := instant(a)
		y, okY := instant(b)
		if okX != okY || !okX || x != y {
			return true
		}
	}
	return false
}
