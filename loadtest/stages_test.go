package loadtest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStageThresholds: a stage's thresholds apply to the requests due in it, in a run, in its reports and in a merge.
func TestStageThresholds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.work = func(n int) (int, string) {
			if n >= 200 && n < 600 { // in the spike stage
				time.Sleep(300 * time.Millisecond)
			}
			return 200, ""
		}
		target, o := bubble(f)
		o.OutDir = t.TempDir()
		plan := mustParse(t, `
pacer: stages
stages:
  - {name: calm, rate: 100/s, duration: 2s, thresholds: {p99_reported: 50ms, reported_min: 200, offline_min: 1}}
  - {name: spike, rate: 200/s, duration: 2s, thresholds: {p50_reported: 50ms, errors: 0}}
  - {rate: 100/s, duration: 1s, thresholds: {max_all: 50ms, rate_min: 99/s}}
thresholds: {p50_all: 1s}
`)
		res, err := Run(t.Context(), target, plan, o)
		if err != nil || res.Verdict != Fail || len(res.Stages) != 3 {
			t.Fatalf("%s %v, %d stages, %v; want FAIL and 3 stages", res.Verdict, res.Reasons, len(res.Stages), err)
		}
		for i, want := range []int64{200, 400, 100} {
			if s := res.Stages[i]; s.Sent != want || s.Latency().P50 > 400 || (s.Latency().P50 > 250) != (i == 1) {
				t.Errorf("stage %s: %d sent, p50 %v; want %d, and 300 ms in the spike only", s.Name, s.Sent, s.Latency().P50, want)
			}
		}
		ok := map[string]bool{"p50_all": true, "calm: p99_reported": true, "calm: reported_min": true, "calm: offline_min": false, "spike: p50_reported": false,
			"spike: errors": true, "stage 3: max_all": true, "stage 3: rate_min": true}
		judged := func(r Result) {
			t.Helper()
			for _, th := range r.Thresholds {
				if want, known := ok[th.Name]; !known || th.OK != want {
					t.Errorf("%s is %s, ok %v; want %v", th.Name, th.Value, th.OK, want)
				}
			}
			if len(r.Thresholds) != len(ok) {
				t.Errorf("%d thresholds judged, want %d", len(r.Thresholds), len(ok))
			}
		}
		judged(res)
		for _, x := range res.showing(Threshold{Name: "spike: p50_reported", Limit: "50ms"}) {
			if x.Ms < 250 {
				t.Errorf("a request of %v ms is shown for the spike, want slow ones", x.Ms)
			}
		}
		if text := res.Text(); !strings.Contains(text, "spike") || !strings.Contains(text, "stage 3: rate_min") {
			t.Errorf("want the stages in\n%s", text)
		}
		other := res // with the same figures
		other.Run = "another"
		m := merge([]Result{res, other}, nil)
		if len(m.Stages) != 3 || m.Stages[1].Sent != 800 {
			t.Fatalf("merged are %v, want twice as many in each of 3 stages", m.Stages)
		}
		judged(m)
	})
}

// TestNothingToMeasure: in a stage without requests, every threshold is broken. A load that sent nothing at all is INVALID, and a
// shard leaves it to the others.
func TestNothingToMeasure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		target, o := bubble(newFake())
		plan := mustParse(t, `
pacer: stages
stages:
  - {rate: 10/s, duration: 1s}
  - {name: pause, rate: 0, duration: 1s, thresholds: {errors: 0, lag_p99: 1s, offline_max: 5%, p99_all: 1s, rate_min: 0/s}}
`)
		res, err := Run(t.Context(), target, plan, o)
		if err != nil || res.Verdict != Fail || len(res.Thresholds) != 5 {
			t.Fatalf("got %s, %v, %d thresholds, want FAIL for 5 thresholds", res.Verdict, err, len(res.Thresholds))
		}
		for _, th := range res.Thresholds {
			if th.OK || th.Value != none {
				t.Errorf("%s is %q, ok %v; want that it had nothing to measure", th.Name, th.Value, th.OK)
			}
		}
		part := Result{Plan: plan, Verdict: Pass, Shard: &Shard{Index: 1, Of: 2}}
		judgeThresholds(&part, newCollector())
		for _, th := range part.Thresholds {
			if !th.Waits() {
				t.Errorf("%s of a shard is %q, want it left to the merge", th.Name, th.Value)
			}
		}
		silent := Result{Plan: Plan{Thresholds: map[string]string{"errors": "0"}}, Verdict: Invalid}
		if judgeThresholds(&silent, newCollector()); silent.Verdict != Invalid || silent.Thresholds[0].OK {
			t.Errorf("got %s, %+v, want INVALID with a broken threshold", silent.Verdict, silent.Thresholds)
		}
	})
}

// TestStageAborts: an upper limit of a stage also aborts the load.
func TestStageAborts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.work = func(n int) (int, string) {
			if n > 300 {
				return 409, "offline"
			}
			return 200, ""
		}
		target, o := bubble(f)
		plan := mustParse(t, `
pacer: stages
abort: true
stages:
  - {name: calm, rate: 100/s, duration: 2s}
  - {name: spike, rate: 200/s, duration: 60s, thresholds: {offline_max: 10}}
`)
		res, err := Run(t.Context(), target, plan, o)
		if err != nil || res.Verdict != Fail || res.Sent > 2000 || !strings.Contains(strings.Join(res.Notes, "\n"), "because spike: offline_max was broken") {
			t.Errorf("%s after %d, %v, %v; want FAIL within seconds, by the spike's limit", res.Verdict, res.Sent, res.Notes, err)
		}
	})
}
