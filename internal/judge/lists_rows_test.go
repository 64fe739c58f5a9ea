package judge

import (
	"encoding/json"
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
