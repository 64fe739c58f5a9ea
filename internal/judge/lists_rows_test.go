package judge

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// whole gives the third record and its event everything that a row shows.
func (l *listed) whole() {
	e := &l.events[len(l.events)-1]
	e.Reason, e.Text = vocab.Expired, "010-****-1234"
	for _, row := range []map[string]any{l.records[0], l.active[0]} {
		row["reason"], row["method"], row["actor"], row["actorLabel"] = "expired", "link", "guest:*1234", "010-****-1234"
	}
}

// registered lets a client register the permit of the first command.
func (l *listed) registered(t *testing.T, ref string) {
	text := history.CallText{SentAt: 50_000, SentNs: 50e9, In: map[string]any{"externalRef": ref}, Out: map[string]any{"permitId": "pmt_cmd_1"}}
	l.at(50, history.Event{Kind: history.Call, Method: "POST", Route: createRoute, Status: 200, Text: string(must.Get(json.Marshal(text))(t))})
	l.active[4]["permitId"], l.active[4]["externalRef"] = "pmt_cmd_1", "r-1"
}

// TestRowsShowWhoItWas: a row of a list names person, reason and reference as they were, an operator by one label, and a
// refused reuse of a key is no replay.
func TestRowsShowWhoItWas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(l *listed)
		why  string // "" = nothing wrong
	}{
		{"as made", (*listed).whole, ""},
		{"another reason", func(l *listed) { l.whole(); l.records[0]["reason"] = "revoked" }, `made with reason "expired", but a list shows "revoked"`},
		{"another method", func(l *listed) { l.whole(); l.active[0]["method"] = "phone" }, `made with method "link", but a list shows "phone"`},
		{"another person", func(l *listed) { l.whole(); l.records[0]["actor"] = "guest:*----" }, `made with actor "guest:*1234", but a list shows "guest:*----"`},
		{"another label", func(l *listed) { l.whole(); l.active[0]["actorLabel"] = "1234" }, `made with actorLabel "010-****-1234", but a list shows "1234"`},
		{"the permit's reference", func(l *listed) { l.registered(t, "r-1") }, ""},
		{"another reference", func(l *listed) { l.registered(t, "r-2") }, `shows the reference "r-1", want "r-2"`},
		{"no reference", func(l *listed) { l.registered(t, "r-1"); delete(l.active[4], "externalRef") }, `shows the reference "", want "r-1"`},
		{"two labels of one key", func(l *listed) { l.events[4].Text = "partner" }, `shows api:key_a as "", but another as "partner"`},
		{"a reuse isn't a replay", func(l *listed) {
			l.reuse()
			l.records[2]["replays"] = 2.0
		}, "counts 2 replays, although its request was sent only 2 times"},
		{"beside a replay", (*listed).reuse, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newListed()
			c.edit(l)
			l.call(t, 600, "/space/v1/partner/entry-logs", "", "sinceDays=30&limit=500", l.records)
			l.call(t, 600, "/core/v1/places/{id}/events", "plc_a", l.query, l.active)
			l.want(t, c.why)
		})
	}
}

// reuse sends the first command's key with another request.
func (l *listed) reuse() {
	l.at(110, history.Event{Kind: history.Attempt, Key: "k1", DoorID: "dor_a", Request: "k13", Meaning: "other"})
	l.at(110, history.Event{Kind: history.Answer, Key: "k1", DoorID: "dor_a", Request: "k13", Status: 409, Code: codeReused, Meaning: "other"})
}

// TestRowsMeetTheRequest: no row of a list is beyond its beginning or end, or lacks what its request asks for.
func TestRowsMeetTheRequest(t *testing.T) {
	t.Parallel()
	const second600 = "1970-01-01T00:10:00.000Z"
	row := func(changes ...string) map[string]any {
		r := map[string]any{"recordId": "rec_9", "recordedAt": second600, "result": "opened", "kind": "entry.opened", "doorId": "dor_a", "permitId": "pmt_1"}
		for i := 0; i < len(changes); i += 2 {
			r[changes[i]] = changes[i+1]
		}
		return r
	}
	for name, c := range map[string]struct {
		query string
		row   map[string]any
		why   string // "" = nothing wrong
	}{
		"all conditions":         {"result=opened&kind=entry.denied,entry.opened&doorId=dor_b,%20dor_a&permitId=pmt_0&permitId=pmt_1", row(), ""},
		"another result":         {"doorId=dor_a&result=denied", row(), `with result=denied shows one with "opened"`},
		"another kind":           {"kind=entry.denied,entry.permit.used", row(), `shows one with "entry.opened"`},
		"another door":           {"doorId=dor_b&kind=entry.opened", row(), `with doorId=dor_b shows one with "dor_a"`},
		"another permit":         {"permitId=pmt_1", row("permitId", "pmt_2"), `with permitId=pmt_1 shows one with "pmt_2"`},
		"at its beginning":       {"from=1970-01-01T00:10:00Z&to=1970-01-01T00:10:00.001Z", row(), ""},
		"before its beginning":   {"from=1970-01-01T00:10:00.001Z", row(), "begins at 1970-01-01T00:10:00.001Z"},
		"at its end":             {"to=1970-01-01T00:10:00Z", row(), "ends at 1970-01-01T00:10:00.000Z"},
		"a time that is no time": {"from=soon", row(), ""},
	} {
		l := newListed()
		l.call(t, 700, "/core/v1/places/{id}/events", "plc_a", c.query, []map[string]any{c.row})
		if got := why(NewView(l.events)); c.why == "" && got != "" || !strings.Contains(got, c.why) {
			t.Errorf("%s: %q, want %q", name, got, c.why)
		}
	}
	for sent, want := range map[int]string{86400*2 + 600: "", 86400*2 + 601: "begins at 1970-01-01T00:10:01.000Z"} {
		l := newListed()
		l.events = append([]history.Event{{Kind: history.Started}}, l.events...)
		l.call(t, sent, "/space/v1/partner/entry-logs", "", "sinceDays=2", []map[string]any{row()})
		if got := why(NewView(l.events)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("two days, sent at %d s: %q, want %q", sent, got, want)
		}
	}
}

// why is what is wrong with the rows of lists, "" = nothing.
func why(v *View) string {
	t := &tally{}
	for _, c := range v.calls() {
		if q, err := url.ParseQuery(c.Query); err == nil {
			v.asAsked(t, c, q)
		}
	}
	if len(t.found) == 0 {
		return ""
	}
	return t.found[0].why
}
