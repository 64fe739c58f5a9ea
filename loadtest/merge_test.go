package loadtest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := goldenRun(t, t.TempDir(), "")
		b := goldenRun(t, t.TempDir(), "")
		b.Started = a.Started.Add(900 * time.Millisecond)
		m, err := Merge(b, a)
		if err != nil {
			t.Fatal(err)
		}
		if m.Sent != 1000 || m.PlannedRate != 200 || m.Repeats != 100 || m.Statuses["200"] != 992 || !m.Started.Equal(a.Started) {
			t.Errorf("merged %+v, want 1000 sent at 200/s with 100 repeats and 992 answers of 200, from the first start", m)
		}
		all := m.outcome(everything)
		if all.Count != 1000 || all.Scheduled.P99 != a.outcome(everything).Scheduled.P99 || all.Scheduled.Max != a.outcome(everything).Scheduled.Max {
			t.Errorf("merged %+v, want 1000 calls with the latencies of one run", all)
		}
		if m.Verdict != Fail || len(m.Thresholds) != 3 || m.Thresholds[1].OK || !m.Thresholds[2].OK {
			t.Errorf("%s %+v", m.Verdict, m.Thresholds)
		}
		b.Verdict, b.Reasons = Invalid, []string{"lagged"}
		if m, err = Merge(a, b); err != nil || m.Verdict != Invalid || m.Reasons[0] != "part 2: lagged" {
			t.Errorf("%v %s %v", err, m.Verdict, m.Reasons)
		}
		b.Plan.Thresholds = nil
		if m, err = Merge(a, b); err != nil || m.Verdict != Invalid || !slices.Contains(m.Reasons, "part 1 and part 2 ran different plans") {
			t.Errorf("%v %s %q, want INVALID: different plans", err, m.Verdict, m.Reasons)
		}
	})
	if _, err := Merge(); err == nil {
		t.Error("nothing merged")
	}
	if _, err := Merge(Result{}); err == nil {
		t.Error("a result without histograms merged")
	}
}
