package loadtest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// tooManyOffline answers 4% at once, with offline, and the others after three seconds: among the answers of the first seconds, more
// than 5% are offline.
func tooManyOffline(n int) (int, string) {
	if n%25 == 0 {
		return 409, "offline"
	}
	time.Sleep(3 * time.Second)
	return 200, ""
}

// TestAbortedIsFailed: the limit that stopped a load stays broken, although the answers that were on their way then make up for
// it. In a merge, the part that wasn't sent is missing, whatever the others kept.
func TestAbortedIsFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plan := mustParse(t, "rate: 100\nduration: 60s\nabort: true\nthresholds: {offline_max: 5%, errors: 0}")
		var parts []Result
		for _, work := range []func(int) (int, string){nil, tooManyOffline} {
			f := newFake()
			f.work = work
			target, o := bubble(f)
			parts = append(parts, must.Get(Run(t.Context(), target, plan, o))(t))
		}
		parts[1].Started = parts[0].Started // as if they had run at the same time
		res := parts[1]
		if res.Verdict != Fail || res.ExitCode() != 99 || res.Sent > 1000 || len(res.Reasons) != 1 || !strings.HasPrefix(res.Reasons[0], "offline_max is ") {
			t.Errorf("got %s, exit %d, %d sent, %q; want FAIL, 99, at most 1,000, because of offline_max", res.Verdict, res.ExitCode(), res.Sent, res.Reasons)
		}
		if m := merge(parts, nil); m.Verdict != Invalid || m.ExitCode() != 6 || !strings.Contains(strings.Join(m.Reasons, "\n"), "stopped early") {
			t.Errorf("merged: %s, exit %d, %q; want INVALID, 6, because it stopped early", m.Verdict, m.ExitCode(), m.Reasons)
		}
	})
}

// TestAbortBeforeAFault: a load that stops because of a broken limit doesn't need the faults that weren't due yet.
func TestAbortBeforeAFault(t *testing.T) {
	t.Parallel()
	for at, want := range map[time.Duration]string{time.Hour: Fail, 0: Invalid} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.work = func(int) (int, string) { time.Sleep(time.Second); return 200, "" }
			target, o := bubble(f)
			r := must.Get(prepare(t.Context(), target, mustParse(t, "rate: 10\nduration: 2h\nabort: true\nthresholds: {p95_all: 500ms}"), o))(t)
			r.plan.Faults = []PlannedFault{{At: Duration(at), Fault: "refuse", Share: 1}}
			r.control = []listener{(&armory{armed: map[string]bool{}, idle: true}).listener()}
			s := newSchedule(r.plan)
			c, src, w, err := r.attack(t.Context(), s, "x")
			if res := r.judge(s, c, src, w, false); err != nil || res.Verdict != want {
				t.Errorf("a fault at %s: got %v, %s %q; want %s", at, err, res.Verdict, res.Reasons, want)
			}
		})
	}
}
