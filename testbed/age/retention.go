package age

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// Sweeping is hourly and in batches, so whatever is two days too old must be gone.
const (
	overdue = 2 * 24 * time.Hour
	window  = 30 * 24 * time.Hour // the longest period that events are listed for
)

// retention checks at the end of a run for events that should have been deleted, and for those that should still exist.
// A run that is too short has none to check.
func (r *run) retention() {
	keep := r.c.Retention.WithDefaults().Records
	if r.played() < keep+overdue+24*time.Hour {
		return
	}
	gone, here := r.clk.Now().Add(-keep-overdue), r.clk.Now().Add(-keep+overdue/8)
	old, kept := r.events(gone.Add(-window), gone), r.events(here, here.Add(window))
	f := report.FileResult{Path: "retention" + r.of(), Name: "retention" + r.of(), Status: judge.Pass, Started: clock.WallNow(),
		Description: fmt.Sprintf("records are kept for %s: %d events that are over two days older than that are left, and %d are there from the %s just within it", days(keep), old, kept, days(window)), Source: []byte("the end of the run\n")}
	switch {
	case old > 0:
		f.Status, f.Reason = judge.Fail, fmt.Sprintf("still there: %s from before %s, although they are kept only for %s", amount.Many(old, "event"), stamp(gone), days(keep))
	case kept == 0:
		f.Status, f.Reason = judge.Fail, fmt.Sprintf("no event from after %s is there, although they are kept for %s", stamp(here), days(keep))
	}
	r.judging.Wait()
	r.files = append(r.files, f)
}

// grantsKept is how long the server knows a grant after its end.
func (r *run) grantsKept() time.Duration { return r.c.Retention.WithDefaults().Grants }

func days(d time.Duration) string { return amount.Many(int(d/(24*time.Hour)), "day") }

// events counts those of all places in a period.
func (r *run) events(from, to time.Time) (n int) {
	if now := r.clk.Now(); to.After(now) {
		to = now
	}
	for _, p := range r.places {
		r.signIn(p)
		a := r.ask(call{method: http.MethodGet, place: p, path: "/core/v1/places/" + p.id + "/events?limit=1&from=" + stamp(from) + "&to=" + stamp(to)})
		r.want(a, "listing events")
		var list struct{ Total int }
		_ = json.Unmarshal(a.Body, &list)
		n += list.Total
	}
	return n
}
