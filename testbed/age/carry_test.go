package age

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

// Events that no later segment can be checked against are dropped; the others are kept, in order.
func TestCarried(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	var k carried
	k.again("k1", start)
	var log []history.Event
	for i, e := range []history.Event{
		{Kind: history.Call, Route: createRoute, Status: 200, Text: `{"in":{"endsAt":"2027-01-05T00:00:00Z"},"out":{"permitId":"pmt_1"}}`},
		{Kind: history.Attempt, Key: "k1"}, {Kind: history.Intent, Key: "k1"}, {Kind: history.Publish, Key: "k1"}, {Kind: history.Answer, Key: "k1"},
		{Kind: history.Answer, Key: "k1", Replayed: true}, {Kind: history.Attempt, Key: "another"},
		{Kind: history.Call, Route: createRoute + "/revoke", Status: 200, Text: `{"out":{"permitId":"pmt_1"}}`},
		{Kind: history.Call, Route: createRoute, Status: 400, Text: `{"out":{"permitId":"pmt_2"}}`},
	} {
		e.WallNs = int64(i + 1)
		log = append(log, e)
	}
	k.from(log)
	for _, c := range []struct {
		days, want int
	}{{4, 6}, {30, 6}, {32, 2}, {36, 0}} {
		got := k.events(start.Add(time.Duration(c.days) * aDay))
		if len(got) != c.want {
			t.Errorf("after %d days: got %d events, want %d: %v", c.days, len(got), c.want, got)
		}
		for i := 1; i < len(got); i++ {
			if got[i].WallNs < got[i-1].WallNs {
				t.Errorf("after %d days: event %d comes before the one in front of it", c.days, i)
			}
		}
	}
}
