package judge

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// reading is a list of records or events, read to its end: the pages of one reader, in order.
type reading struct {
	first  *call
	place  string
	events bool
	since  int64 // domain ms: what was recorded later is listed
	pages  int
	read   int // rows on them
	rows   []map[string]any
	pageOf map[string]int // of events
}

// add adds a page. What was recorded since the page before it moves that one's last events to its beginning; they are
// listed once all the same.
func (r *reading) add(told []any) {
	for _, item := range told {
		row, _ := item.(map[string]any)
		id := text(row, "eventId")
		if page, seen := r.pageOf[id]; seen && page != r.pages {
			continue
		}
		if r.rows = append(r.rows, row); id != "" {
			r.pageOf[id] = r.pages
		}
	}
	r.pages, r.read = r.pages+1, r.read+len(told)
}

// listMarginMs is how far a list's beginning may be off, for records made about then and for clocks that were moved.
const listMarginMs = 60 * 1000

// lists holds the lists of records and events that clients read against the records that the server told of.
func (v *View) lists(t *tally) {
	if !v.hasRecords {
		return
	}
	var all []*reading
	open := map[string]*reading{} // by reader and list
	for _, c := range v.calls() {
		if c.Method != "GET" || !readsRecords.MatchString(c.Route) {
			continue
		}
		q, err := url.ParseQuery(c.Query)
		if err != nil {
			continue
		}
		v.asAsked(t, c, q)
		offset, limit := numberOr(q.Get("offset"), 0), numberOr(q.Get("limit"), 100)
		q.Del("offset")
		who := c.PlaceID + " " + c.Token + " " + c.Route + " " + c.Path + " " + q.Encode()
		r := open[who]
		if offset == 0 {
			r = newReading(c, q)
		}
		delete(open, who)
		if r == nil || !c.ok() || offset != r.read {
			continue
		}
		if r.add(c.Told); len(c.Told) < limit {
			all = append(all, r)
		} else {
			open[who] = r
		}
	}
	told, refs := each.By(v.records, func(e *history.Event) string { return e.PlaceID }), v.references()
	for _, r := range all {
		if r.events {
			v.listedEvents(t, r, told[r.place], refs)
		} else {
			v.listedRecords(t, r, told[r.place])
		}
	}
}

func numberOr(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}

// newReading begins a reading; nil for a list that is filtered, or whose beginning isn't known.
func newReading(c *call, q url.Values) *reading {
	if c.SentNs == 0 || c.At-c.SentAt > listMarginMs {
		return nil
	}
	r := &reading{first: c, place: c.PlaceID, pageOf: map[string]int{}}
	if strings.HasSuffix(c.Route, "/entry-logs") {
		r.since = c.SentAt - int64(numberOr(q.Get("sinceDays"), 7))*dayMs
		return r
	}
	r.events, r.place, r.since = true, c.Path, c.SentAt-dayMs
	for name := range q {
		if name != "from" && name != "limit" {
			return nil
		}
	}
	if from := q.Get("from"); from != "" {
		at, err := time.Parse(time.RFC3339, from)
		if err != nil {
			return nil
		}
		r.since = at.UnixMilli()
	}
	return r
}

// shown are the records that the reading must show: those that were told before it began.
func (v *View) shown(r *reading, told []*history.Event) map[string]*history.Event {
	out, began := map[string]*history.Event{}, r.first.started()
	for _, e := range told {
		if e.RecordID != "" && e.At > r.since+listMarginMs && v.before(e, began) {
			out[e.RecordID] = e
		}
	}
	return out
}

// atTheirDoors: what a list shows happened at the door of its record, and a door has one name. (One that was renamed
// before this run keeps its old name in what is older.)
func (v *View) atTheirDoors(t *tally, r *reading, due map[string]*history.Event) {
	names := map[string]string{}
	for _, row := range r.rows {
		id, door, name := text(row, "recordId"), text(row, "doorId"), text(row, "doorName")
		e := due[id]
		if door == "" || e == nil {
			continue
		}
		if e.DoorID != door {
			t.bad(r.first.Event, "record %s was made at %s, but a list shows it at %s", id, e.DoorID, door) // [ENT-4]
		}
		if was, known := names[door]; name == "" || known && was != name {
			t.bad(r.first.Event, "a list of %s shows %s as %q, want its one name", r.place, door, name) // [ENT-4]
		}
		names[door] = name
	}
}

// listedRecords: every record is listed, as it was told, with what became of its command since.
func (v *View) listedRecords(t *tally, r *reading, told []*history.Event) {
	due, of, seen := v.shown(r, told), map[string]string{}, 0
	v.atTheirDoors(t, r, due)
	v.asMade(t, r, due)
	for _, row := range r.rows {
		id, command := text(row, "recordId"), text(row, "commandId")
		if other := of[command]; command != "" && other != "" && other != id {
			t.bad(r.first.Event, "the list of records of %s shows two records of %s", r.place, command) // [ENT-4]
		}
		of[command] = id
		e := due[id]
		if e == nil {
			continue
		}
		delete(due, id)
		seen++
		if e.Result != "" && text(row, "result") != string(e.Result) || command != e.CommandID {
			t.bad(r.first.Event, "record %s of %s is listed as %s of %s, but was made as %s", id, e.CommandID, text(row, "result"), command, e.Result) // [ENT-4]
		}
		if c := v.commands[command]; c != nil {
			v.settledRow(t, r, row, e, c)
			v.replaysRow(t, r, row, c)
		}
	}
	t.checked += seen + len(due)
	for _, id := range slices.Sorted(maps.Keys(due)) {
		t.bad(due[id], "record %s was made, but a list read later doesn't show it", id) // [ENT-4]
	}
}

// settledRow: the record of a 504 is settled by its board's report, if one came, and as it says.
func (v *View) settledRow(t *tally, r *reading, row map[string]any, e *history.Event, c *command) {
	as := vocab.Result(text(row, "settledAs"))
	want, sure := v.settles(c)
	switch {
	case as != "" && e.Result != vocab.NoResponse:
		t.bad(r.first.Event, "the record of %s is %s, but settled as %s", c.id, e.Result, as) // [ENT-4]
	case as != "" && sure && as != want:
		t.bad(r.first.Event, "the record of %s is settled as %s, but its board's report says %q", c.id, as, want) // [ENT-4] [CMD-4]
	case as == "" && e.Result == vocab.NoResponse && v.mustSettle(c, r.first.started()):
		t.bad(r.first.Event, "the record of %s isn't settled, although its board has reported", c.id) // [ENT-4] [CMD-4]
	}
}

// settles is what the reports of a command's board say of it; "" = there is none. sure is false where it can't be known.
func (v *View) settles(c *command) (as vocab.Result, sure bool) {
	if !v.hasReports || len(c.publishes) == 0 || c.op == "" {
		return "", false
	}
	for _, e := range c.reports {
		one := wants[c.op]
		if e.Result == vocab.Result(vocab.Refused) {
			one = vocab.Result(vocab.Refused)
		}
		if e.BoardID != c.publishes[0].BoardID || e.Result != vocab.OK && e.Result != vocab.Refused {
			return "", false
		}
		if as != "" && as != one {
			return "", false
		}
		as = one
	}
	return as, true
}

// settlingMs is how long a late report may take to its record, in wall time.
const settlingMs = 5000

// mustSettle reports whether a report came in after the 504, long enough before a moment, and no server died before it can
// have been settled.
func (v *View) mustSettle(c *command, by *history.Event) bool {
	answer := c.firstAnswer(vocab.NoResponse)
	as, sure := v.settles(c)
	if answer == nil || as == "" || !sure {
		return false
	}
	last := c.reports[len(c.reports)-1]
	died := v.within(v.starts, answer, by)
	return v.before(answer, last) && v.longer(last, by, settlingMs) && (died == nil || v.longer(last, died, settlingMs))
}

// replaySettleMs is how long before the death of a server a replay may have been for it to be forgotten, restartMs how long a
// server takes to start again on a busy machine.
const (
	replaySettleMs = 2000
	restartMs      = 30_000
)

// forgotten reports whether the server may have died before it had stored that a was a replay: nothing shows that it lived
// for longer.
func (v *View) forgotten(a *history.Event) bool {
	i := slices.IndexFunc(v.starts, func(s *history.Event) bool { return !v.before(s, a) })
	return i >= 0 && !v.longer(a, v.starts[i], restartMs) && (v.signs[i] == nil || !v.longer(a, v.signs[i], replaySettleMs))
}

// replaysRow: every caller after the first is counted.
func (v *View) replaysRow(t *tally, r *reading, row map[string]any, c *command) {
	n, _ := row["replays"].(float64)
	began, least := r.first.started(), 0
	for _, a := range c.answers {
		if a.Replayed && v.before(a, began) && !v.forgotten(a) {
			least++
		}
	}
	if int(n) < least {
		t.bad(r.first.Event, "the record of %s counts %d replays, but %d were answered", c.id, int(n), least) // [ENT-4]
	}
	k := v.keys[c.key]
	if k == nil || len(k.attempts) == 0 || v.begun != nil || c.byGuest() {
		return
	}
	if most := len(k.attempts) - 1 - k.reused(); int(n) > most {
		t.bad(r.first.Event, "the record of %s counts %d replays, although its request was sent only %d times", c.id, int(n), most+1) // [ENT-4]
	}
}

// listedEvents: an opening and a denial have one event each, and the use of a permit another.
func (v *View) listedEvents(t *tally, r *reading, told []*history.Event, refs map[string]string) {
	kinds := map[string]map[string]int{} // how many of a kind, by record
	for _, row := range r.rows {
		id, kind := text(row, "recordId"), text(row, "kind")
		if row["late"] == true {
			kind += " late"
			v.lateRow(t, r, row)
		}
		each.Made(kinds, id, func() map[string]int { return map[string]int{} })[kind]++
	}
	due := v.shown(r, told)
	v.atTheirDoors(t, r, due)
	v.asMade(t, r, due)
	withTheirReference(t, r, refs)
	t.checked += len(due)
	for _, id := range slices.Sorted(maps.Keys(due)) {
		e := due[id]
		want := map[string]int{}
		switch e.Result {
		case vocab.Opened:
			want["entry.opened"] = 1
			if strings.HasPrefix(e.GrantID, "pmt_") {
				want["entry.permit.used"] = 1
			}
		case vocab.Denied:
			want["entry.denied"] = 1
		case vocab.NoResponse:
			want = v.lateEvents(e, kinds[id], r.first.started())
		}
		for _, kind := range []string{"entry.opened", "entry.denied", "entry.permit.used", "entry.opened late", "entry.denied late", "entry.permit.used late"} {
			if kinds[id][kind] != want[kind] {
				t.bad(e, "record %s (%s) has %d events %s in a list read later, want %d", id, e.Result, kinds[id][kind], kind, want[kind]) // [ENT-4]
			}
		}
	}
}

// lateRow: a late event is recorded after the record that it adds to, or somebody who polls would miss it.
func (v *View) lateRow(t *tally, r *reading, row map[string]any) {
	i := slices.IndexFunc(v.records, func(e *history.Event) bool { return e.RecordID == text(row, "recordId") })
	at, known := instant(row["recordedAt"])
	if i < 0 || !known || !v.oneClock() {
		return
	}
	if e := v.records[i]; at < e.At {
		t.bad(r.first.Event, "the late event of %s is recorded at %s, but its record was made at %s", e.CommandID, moment(at), moment(e.At)) // [ENT-4]
	}
}

// lateEvents are those that belong to the record of a 504 at a moment, given those that are listed.
func (v *View) lateEvents(e *history.Event, listed map[string]int, at *history.Event) map[string]int {
	c := v.commands[e.CommandID]
	if c == nil {
		return listed
	}
	as, sure := v.settles(c)
	if !sure {
		return listed
	}
	want := map[string]int{}
	if as == vocab.Opened && (listed["entry.opened late"] > 0 || v.mustSettle(c, at)) {
		want["entry.opened late"] = 1
		if strings.HasPrefix(e.GrantID, "pmt_") {
			want["entry.permit.used late"] = 1
		}
	}
	return want
}
