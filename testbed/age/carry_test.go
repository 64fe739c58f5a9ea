package age

import (
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// Events that no later segment can be checked against are dropped; the others are kept, in order.
func TestCarried(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	k := newCarried()
	k.again("k1", start)
	var log []history.Event
	for i, e := range []history.Event{
		{Kind: history.Call, Route: createRoute, Status: 200, Text: `{"in":{"endsAt":"2027-01-05T00:00:00Z"},"out":{"permitId":"pmt_1"}}`},
		{Kind: history.Attempt, Key: "k1"}, {Kind: history.Intent, Key: "k1"}, {Kind: history.Publish, Key: "k1"}, {Kind: history.Answer, Key: "k1"},
		{Kind: history.Answer, Key: "k1", Replayed: true}, {Kind: history.Attempt, Key: "another"},
		{Kind: history.Call, Route: createRoute + "/revoke", Status: 200, At: start.Add(4 * aDay).UnixMilli(), Text: `{"out":{"permitId":"pmt_1"}}`},
		{Kind: history.Call, Route: createRoute + "/revoke", Status: 200, At: start.Add(9 * aDay).UnixMilli(), Text: `{"out":{"permitId":"pmt_1"}}`},
		{Kind: history.Call, Route: createRoute, Status: 400, Text: `{"out":{"permitId":"pmt_2"}}`},
	} {
		e.WallNs = int64(i + 1)
		log = append(log, e)
	}
	k.from(log)
	for _, c := range []struct {
		days, want int
	}{{4, 6}, {30, 6}, {32, 2}, {36, 0}} {
		got := k.events(start.Add(time.Duration(c.days)*aDay), 30*aDay)
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

// A permit is carried for as long as the server is sure to know it, so that one that gets another id by then is noticed.
func TestPermitsAreCarried(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	v := clock.NewVirtual(start, nil)
	v.Freeze()
	r := &run{clk: v, c: Config{Segment: week}, kept: newCarried()}
	r.tell(history.Event{Kind: history.Call, Route: createRoute, Status: 200, Text: `{"in":{"endsAt":"2027-01-05T00:00:00Z"},"out":{"permitId":"pmt_1"}}`})
	for _, c := range []struct {
		days int
		want bool
	}{{7, true}, {300, true}, {392, true}, {395, false}} {
		must.OK(t, v.Advance(start.Add(time.Duration(c.days)*aDay)))
		r.cut()
		if got := slices.ContainsFunc(r.log, func(e history.Event) bool { return e.Kind == history.Call }); got != c.want {
			t.Errorf("after %d days: carried is %t, want %t", c.days, got, c.want)
		}
	}
}
