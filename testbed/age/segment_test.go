package age

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestAJumpThatGaveUp: a segment in which a jump gave up on a message proves nothing, unless it fails anyway. The next one
// isn't held responsible.
func TestAJumpThatGaveUp(t *testing.T) {
	t.Parallel()
	const why = "jumps of the clock gave up on 1 message that had not arrived"
	twice := history.Event{Kind: history.Actuation, BoardID: "brd_1", DoorID: "dor_1", Cause: "command", Action: "pulse", CommandID: "cmd_1"}
	for name, c := range map[string]struct {
		log    []history.Event
		status judge.Status
	}{"invalid": {nil, judge.Invalid}, "failed anyway": {[]history.Event{twice, twice}, judge.Fail}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flight := clock.NewFlight()
				v := clock.NewVirtual(time.Date(2027, 3, 26, 0, 0, 0, 0, time.UTC), flight)
				v.Freeze()
				r := &run{clk: v, from: v.Now()}
				for _, e := range c.log {
					r.tell(e)
				}
				flight.Sent("brd_1")
				for range 2 {
					from := v.Now()
					must.OK(t, v.Advance(from.Add(aDay)))
					r.judge(from)
				}
				w := worlds{runs: []*run{r}}
				res := w.result(t.Context(), time.Now(), Counts{Decisions: 1}, nil)
				if f := r.files[0]; f.Status != c.status || !strings.HasSuffix(f.Reason, why) || res.Status != c.status {
					t.Errorf("got %s (%s), and the run %s, want %s (... %s)", f.Status, f.Reason, res.Status, c.status, why)
				}
				if f := r.files[1]; f.Status != judge.Pass || f.Reason != "" {
					t.Errorf("the segment after it: got %s (%s), want PASS", f.Status, f.Reason)
				}
			})
		})
	}
}

// TestDayRange: a segment of one day has one day in its name.
func TestDayRange(t *testing.T) {
	t.Parallel()
	first := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := dayRange(first, first.Add(23*time.Hour)); got != "2027-01-01" {
		t.Errorf("one day: got %q", got)
	}
	if got := dayRange(first, first.AddDate(0, 0, 7)); got != "2027-01-01 to 2027-01-08" {
		t.Errorf("a week: got %q", got)
	}
}
