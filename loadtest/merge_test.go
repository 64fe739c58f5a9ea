package loadtest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := goldenRun(t, t.TempDir(), "")
		b := goldenRun(t, t.TempDir(), "")
		b.Started = a.Started.Add(900 * time.Millisecond)
		b.Seconds = a.Seconds / 2
		for _, parts := range [][]Result{{a, b}, {b, a}} {
			if m := merge(parts, nil); m.Seconds != a.Seconds {
				t.Errorf("parts of %g and %g s took %g together, want the longer", parts[0].Seconds, parts[1].Seconds, m.Seconds)
			}
		}
		m := merge([]Result{b, a}, nil)
		if m.Sent != 1000 || m.PlannedRate != 200 || m.Repeats != 100 || m.Statuses["200"] != 992 || !m.Started.Equal(a.Started) {
			t.Errorf("merged %+v, want 1000 sent at 200/s with 100 repeats and 992 answers of 200, from the first start", m)
		}
		all := m.outcome(everything)
		if all.Count != 1000 || all.Scheduled.P99 != a.outcome(everything).Scheduled.P99 || all.Scheduled.Max != a.outcome(everything).Scheduled.Max {
			t.Errorf("merged %+v, want 1000 calls with the latencies of one run", all)
		}
		if m.Verdict != Fail || len(m.Thresholds) != 3 || m.Thresholds[1].OK || !m.Thresholds[2].OK {
			t.Errorf("verdict %s with thresholds %+v, want FAIL by the second of three", m.Verdict, m.Thresholds)
		}
		b.Verdict, b.Reasons = Invalid, []string{"lagged"}
		if m = merge([]Result{a, b}, nil); m.Verdict != Invalid || m.Reasons[0] != "part 2: lagged" {
			t.Errorf("%s %q, want INVALID because part 2 lagged", m.Verdict, m.Reasons)
		}
		b.Plan.Thresholds = nil
		if m = merge([]Result{a, b}, nil); m.Verdict != Invalid || !slices.Contains(m.Reasons, "part 1 and part 2 ran different plans") {
			t.Errorf("%s %q, want INVALID because of different plans", m.Verdict, m.Reasons)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a, b := partly(t, t.TempDir(), "", func(int) bool { return false }), partly(t, t.TempDir(), "", func(int) bool { return false })
		b.Started = a.Started
		if m := merge([]Result{a, b}, nil); m.Verdict != Pass || m.Sent != 80 || m.SentRate != 40 {
			t.Errorf("two generators: %s %q, %d sent at %g/s, want PASS, 80, 40/s", m.Verdict, m.Reasons, m.Sent, m.SentRate)
		}
		for name, c := range map[string]struct {
			change func(b *Result)
			want   string
			sent   int64
			rate   float64
		}{
			"the same run":                {func(r *Result) { *r = a }, "part 1 and part 2 are the same run, which counts once", 40, 20},
			"the same run, under no name": {func(r *Result) { a.Run = ""; *r = a }, "part 1 and part 2 are the same run, which counts once", 40, 20},
			"another world":               {func(r *Result) { r.World = "other" }, "part 1 and part 2 had different worlds", 80, 40},
			"generators that ran in turn": {func(r *Result) { r.Started = a.Started.Add(158 * time.Second) }, "the rate can't be judged: the generators started 2 m 38 s apart", 80, 0.5},
		} {
			b := b
			c.change(&b)
			m := merge([]Result{a, b}, nil)
			if m.Verdict != Invalid || m.ExitCode() != 6 || !strings.Contains(strings.Join(m.Reasons, "\n"), c.want) || m.Sent != c.sent || m.SentRate != c.rate {
				t.Errorf("%s: %s, %q, %d sent at %g/s; want INVALID, %q, %d, %g/s", name, m.Verdict, m.Reasons, m.Sent, m.SentRate, c.want, c.sent, c.rate)
			}
		}
	})
	out, empty := t.TempDir(), t.TempDir()
	must.OK(t, (Result{}).Write(empty))
	if _, err := MergeDirs(out, empty); err == nil {
		t.Error("merging a result without histograms succeeded, want an error")
	}
}
