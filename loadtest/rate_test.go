package loadtest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestPlannedRate: the planned rate is the plan's own, also of a run that is too short for one request at that rate.
func TestPlannedRate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		rate  float64
		words string
	}{
		"rate: 10/h\nduration: 1s":                    {0.002778, "(0.0028/s as planned)"},
		"rate: 0.5/s\nduration: 1s":                   {0.5, "(0.5/s as planned)"},
		"rate: 20\nduration: 2s":                      {20, "(20/s as planned)"},
		"pacer: ramp\nrate: 10\nto: 20\nduration: 2s": {15, "(15/s as planned)"},
		"pacer: stages\nstages: [{rate: 10, duration: 1s}, {rate: 0, duration: 1s}]":                  {5, "(5/s as planned)"},
		"pacer: sine\nrate: 100\namplitude: 50\nperiod: 4s\nduration: 8s\nthresholds: {max_all: 10s}": {100, "(100/s as planned)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			target, o := bubble(newFake())
			res, err := Run(t.Context(), target, mustParse(t, text), o)
			if err != nil || res.PlannedRate != want.rate || res.Verdict != Pass {
				t.Errorf("%s: planned %g/s, %s, %v; want PASS and %g", text, res.PlannedRate, res.Verdict, err, want.rate)
			}
			if !strings.Contains(res.Text(), want.words) {
				t.Errorf("%s: it doesn't say %q:\n%s", text, want.words, res.Text())
			}
		})
	}
}

// TestLateAnswers: answers that come long after everything was sent don't count for the time in which it was sent.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slower  time.Duration // with each request: a backlog
		verdict string
	}{
		"a slow board":          {0, Pass},
		"half the rate at most": {10 * time.Millisecond, Fail},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.work = func(n int) (int, string) {
				time.Sleep(800*time.Millisecond + time.Duration(n)*c.slower)
				return 200, ""
			}
			target, o := bubble(f)
			plan := "rate: 100\nduration: 10s\ntimeout: 30s\nthresholds: {rate_min: 99/s}"
			res, err := Run(t.Context(), target, mustParse(t, plan), o)
			if err != nil || res.Verdict != c.verdict {
				t.Errorf("%s: %s %q, %v, want %s", name, res.Verdict, res.Reasons, err, c.verdict)
			}
			if m := merge([]Result{res}, nil); m.Verdict != c.verdict {
				t.Errorf("%s, merged: %s %q, want %s", name, m.Verdict, m.Reasons, c.verdict)
			}
		})
	}
}

// TestLagOfAStage: a generator that lags in one stage can't judge that stage, however short it is.
func TestLagOfAStage(t *testing.T) {
	t.Parallel()
	c := newCollector()
	c.sent, c.pacer = 10_000, nil
	for range 10_000 {
		record(c.lag, time.Millisecond)
	}
	for range 50 {
		record(c.ofStage(1).lag, time.Second)
		record(c.ofStage(0).lag, time.Second)
	}
	plan := mustParse(t, "pacer: stages\nmaxLag: 50ms\nstages: [{rate: 10, duration: 1s}, {name: spike, rate: 10, duration: 1s, thresholds: {p99_all: 1s}}]")
	got := (&runner{plan: plan}).invalid(c, 0, Result{Lag: summarize(c.lag)})
	if want := "spike: the generator lagged: p99 1 s behind the plan, allowed 50 ms"; len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("got %q, want only %q, because the other stage has no thresholds", got, want)
	}
}

// TestDoubtsAreNoPass: where a CI reads only test results, it sees that the figures mean nothing, and that a lost part was
// a FAIL.
func TestDoubtsAreNoPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		res  Result
		want judge.Status
	}{
		"sound":                {Result{Verdict: Pass}, judge.Pass},
		"a broken threshold":   {Result{Verdict: Fail, Reasons: []string{"p99"}}, judge.Pass}, // which has a case of its own
		"and a lagging client": {Result{Verdict: Fail, Reasons: []string{"p99", "lag"}, Doubts: []string{"lag"}}, judge.Invalid},
		"never begun":          {Result{Verdict: Invalid, Reasons: []string{"interrupted"}}, judge.Invalid},
		"a lost FAIL":          {Result{Verdict: Fail, Doubts: []string{"b can't be merged"}, Reasons: []string{"b can't be merged"}, lost: 4}, judge.Fail},
	} {
		if run := c.res.suites()[0].Cases[0]; run.Status != c.want || c.want != judge.Pass && run.Why == "" {
			t.Errorf("%s: the run is %s %q, want %s with a reason", name, run.Status, run.Why, c.want)
		}
	}
}
