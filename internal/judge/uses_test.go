package judge

import (
	"encoding/json"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestUses: a permit is shown with one use for each of its openings, and with the time of the first.
func TestUses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		uses  float64
		first any
		edit  func(l *listed)
		why   string // "" = nothing wrong
	}{
		{"as opened", 2, "1970-01-01T00:01:30Z", nil, ""},
		{"one isn't counted", 1, "1970-01-01T00:01:30Z", nil, "is shown with 1 uses, but has 2 openings"},
		{"one too many", 3, "1970-01-01T00:01:30Z", nil, "is shown with 3 uses, but has 2 openings"},
		{"a use without its time", 2, nil, nil, "is shown with 2 uses and firstUsedAt <nil>"},
		{"a time without a use", 0, "1970-01-01T00:01:30Z", func(l *listed) { l.events[2].GrantID, l.events[3].GrantID = "", "" }, "is shown with 0 uses and firstUsedAt"},
		{"the time at which it was told", 2, "1970-01-01T00:05:00Z", nil, "was used at 1970-01-01T00:01:30.000Z, but its first use is shown at"},
		{"by the board's clock", 2, "1970-01-01T00:01:40Z", func(l *listed) { l.events[1].BoardAt = 100_000 }, ""},
		{"a record that is told after the answer", 3, "1970-01-01T00:01:30Z", func(l *listed) { l.opened(604, "rec_9") }, ""},
		{"long after it", 3, "1970-01-01T00:01:30Z", func(l *listed) { l.opened(606, "rec_9") }, "is shown with 3 uses, but has 2 openings"},
		{"a 504 may be settled as one", 3, "1970-01-01T00:01:30Z", func(l *listed) {
			l.at(500, history.Event{Kind: history.RecordIn, RecordID: "rec_9", CommandID: "cmd_9", GrantID: "pmt_1", Result: vocab.Result(vocab.NoResponse)})
		}, ""},
		{"after a restart nobody knows", 1, "1970-01-01T00:01:30Z", func(l *listed) { l.at(500, history.Event{Kind: history.Started}) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &listed{}
			l.at(0, history.Event{Kind: history.Started})
			l.at(90, history.Event{Kind: history.Presented, BoardID: "brd_a", RecordSeq: 1, GrantID: "pmt_1", Result: vocab.Opened})
			l.at(300, history.Event{Kind: history.RecordIn, RecordID: "rec_1", BoardID: "brd_a", RecordSeq: 1, GrantID: "pmt_1", Result: vocab.Opened, Method: "onsite"})
			l.opened(400, "rec_2")
			if c.edit != nil {
				c.edit(l)
			}
			text := history.CallText{SentAt: 600_000, SentNs: 600e9, Out: map[string]any{"permitId": "pmt_1", "useCount": c.uses, "firstUsedAt": c.first}}
			l.at(600, history.Event{Kind: history.Call, Method: "GET", Route: createRoute + "/{id}", Status: 200, Text: string(must.Get(json.Marshal(text))(t))})
			l.want(t, c.why)
		})
	}
}

// opened is an opening by phone with the permit.
func (l *listed) opened(second int, record string) {
	l.at(second, history.Event{Kind: history.RecordIn, RecordID: record, GrantID: "pmt_1", Result: vocab.Opened, Method: "phone"})
}
