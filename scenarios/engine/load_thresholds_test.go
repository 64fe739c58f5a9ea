package engine

import (
	"context"
	"maps"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/scenarios/evidence"
)

// TestThresholdsWithClauses: a broken threshold accuses the clauses that it names, and no other of its step.
func TestThresholdsWithClauses(t *testing.T) {
	t.Parallel()
	ok := func(name, limit string) loadtest.Threshold {
		return loadtest.Threshold{Name: name, Limit: limit, Value: "0", OK: true}
	}
	broken := func(name, limit string) loadtest.Threshold {
		return loadtest.Threshold{Name: name, Limit: limit, Value: "838"}
	}
	idle := func(name, limit string) loadtest.Threshold {
		return loadtest.Threshold{Name: name, Limit: limit, Value: "0", OK: true, Idle: true}
	}
	const lag, slow = "the generator lagged", "p99_all is 900ms, allowed 100ms"
	const two = "pacer: constant, rate: 10/s, duration: 1s, thresholds: {rejected_max: {that: 0, clauses: [CMD-5]}, "
	for name, c := range map[string]struct {
		load   string
		result loadtest.Result
		status judge.Status
		want   map[string]judge.Status
	}{
		"none is broken": {two + "errors: 0}", loadtest.Result{Verdict: loadtest.Pass, Thresholds: []loadtest.Threshold{ok("rejected_max", "0"), ok("errors", "0")}},
			judge.Pass, map[string]judge.Status{"CMD-5": judge.Pass, "AUTH-4": judge.Pass, "CMD-1": judge.Pass}},
		"the one that names a clause": {two + "errors: 0}", loadtest.Result{Verdict: loadtest.Fail, Reasons: []string{"838"}, Thresholds: []loadtest.Threshold{broken("rejected_max", "0"), ok("errors", "0")}},
			judge.Fail, map[string]judge.Status{"CMD-5": judge.Fail, "AUTH-4": judge.Pass, "CMD-1": judge.Pass}},
		"the other one": {two + "errors: 0}", loadtest.Result{Verdict: loadtest.Fail, Reasons: []string{"838"}, Thresholds: []loadtest.Threshold{ok("rejected_max", "0"), broken("errors", "0")}},
			judge.Fail, map[string]judge.Status{"CMD-5": judge.Pass, "AUTH-4": judge.Fail}},
		"answers that violate the documents": {two + "errors: 0}", loadtest.Result{Verdict: loadtest.Fail, Reasons: []string{"bad"}, Breaches: 1, Thresholds: []loadtest.Threshold{broken("rejected_max", "0"), ok("errors", "0")}},
			judge.Fail, map[string]judge.Status{"CMD-5": judge.Fail, "AUTH-4": judge.Fail}},
		"one of a stage": {"pacer: stages, stages: [{rate: 1/s, duration: 1s}, {rate: 1/s, duration: 1s, thresholds: {errors: {that: 0, clauses: CMD-5}}}]", loadtest.Result{Verdict: loadtest.Fail, Reasons: []string{"838"}, Thresholds: []loadtest.Threshold{broken("stage 2: errors", "0")}},
			judge.Fail, map[string]judge.Status{"CMD-5": judge.Fail, "AUTH-4": judge.Pass, "CMD-1": judge.Pass}},
		"one that nothing could break": {two + "errors: 0}", loadtest.Result{Verdict: loadtest.Pass, Thresholds: []loadtest.Threshold{idle("rejected_max", "0"), ok("errors", "0")}},
			judge.Invalid, map[string]judge.Status{"CMD-5": judge.Invalid, "AUTH-4": judge.Invalid}},
		"slow answers to a generator that lagged": {two + "p99_all: {that: 100ms, clauses: [CMD-4]}}", loadtest.Result{Verdict: loadtest.Fail, Reasons: []string{lag, slow}, Doubts: []string{lag}, Thresholds: []loadtest.Threshold{broken("rejected_max", "0"), broken("p99_all", "100ms")}},
			judge.Fail, map[string]judge.Status{"CMD-5": judge.Fail, "CMD-4": judge.Invalid, "AUTH-4": judge.Invalid, "CMD-1": judge.Pass}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.result.Sent, c.result.SentRate = 10, 10
			loader := func(_ context.Context, _ loadtest.Target, p loadtest.Plan, _ loadtest.Options) (loadtest.Result, error) {
				if len(p.Thresholds) == 0 && len(p.Stages) == 0 || p.Thresholds["rejected_max"] != "0" && len(p.Stages) == 0 || len(p.Stages) == 2 && p.Stages[1].Thresholds["errors"] != "0" {
					t.Errorf("the plan has the thresholds %v and stages %v, want those of the step", p.Thresholds, p.Stages)
				}
				return c.result, nil
			}
			res, out := play(t, newFake(t), "steps: [{load: {"+c.load+"}, clauses: [AUTH-4], expect: [{that: outcomes.offline == 0, clauses: [CMD-1]}]}]", Options{Loader: loader})
			got := map[string]judge.Status{}
			for _, p := range evidence.Proofs(res.Files[0].Steps, "one") {
				got[p.Clause] = p.Status
			}
			if res.Files[0].Status != c.status || !maps.Equal(got, c.want) {
				t.Errorf("got %s, %v, want %s, %v\n%s", res.Files[0].Status, got, c.status, c.want, out)
			}
		})
	}
}
