package loadtest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestComparable: runs are compared if they sent the same on the same machine; names, thresholds and what a run doesn't know
// don't matter. Otherwise every change says that it isn't comparable, and the reports say why.
func TestComparable(t *testing.T) {
	t.Parallel()
	base := func() Result {
		return Result{Plan: Plan{Name: "a", Pacer: "constant", Rate: 600, Duration: Duration(8 * time.Second), Stages: []Stage{{Rate: 1}}, Thresholds: map[string]string{"errors": "0"}},
			Environment: &Environment{Go: "go1", Platform: "linux/amd64", CPUs: 2, MaxProcs: 2, Boards: 201}, Series: []Point{{Planned: 600, P50: 20}}}
	}
	for name, c := range map[string]struct {
		change func(*Result)
		want   []string
	}{
		"the same": {func(*Result) {}, nil},
		"other names and limits": {func(r *Result) {
			r.Plan.Name, r.Plan.Thresholds, r.Plan.Seed, r.Plan.Stages[0].Name = "b", nil, 7, "calm"
		}, nil},
		"another Go, boards not known": {func(r *Result) { r.Environment.Go, r.Environment.Boards = "go2", 0 }, nil},
		"of an older version":          {func(r *Result) { r.Environment = nil }, nil},
		"another rate and duration":    {func(r *Result) { r.Plan.Rate, r.Plan.Duration = 300, Duration(3*time.Second) }, []string{"duration 8s, now 3s", "rate 600/s, now 300/s"}},
		"another machine":              {func(r *Result) { r.Environment.CPUs = 8 }, []string{"cpus 2, now 8"}},
		"another mix":                  {func(r *Result) { r.Plan.Legacy = 0.1 }, []string{"legacy left out, now 10%"}},
	} {
		now := base()
		c.change(&now)
		now.Compare = compare("before.json", base(), now)
		if !slices.Equal(now.Compare.Unlike, c.want) {
			t.Errorf("%s: got %q, want %q", name, now.Compare.Unlike, c.want)
		}
		for _, x := range now.Compare.Changes {
			if (x.Verdict == unlikeRuns) != (c.want != nil) {
				t.Errorf("%s: %s is %s", name, x.Name, x.Verdict)
			}
		}
		for _, text := range []string{now.Text(), now.HTML()} {
			if strings.Contains(text, "not comparable with the baseline: "+strings.Join(c.want, "; ")) != (c.want != nil) || !strings.Contains(text, "20 ms") {
				t.Errorf("%s: a report doesn't say whether the runs are comparable, or lacks a unit:\n%s", name, now.Text())
			}
		}
	}
}

// TestComparedSearches: searches are compared by the rate that they found. Their latencies are those of different rates.
func TestComparedSearches(t *testing.T) {
	t.Parallel()
	before := Result{Plan: Plan{Precision: 0.1}, Search: make([]Step, 2), Highest: 1000}
	for highest, want := range map[float64]string{1050: "same", 1300: "better", 800: "worse"} {
		now := before
		now.Highest = highest
		if c := compare("", before, now); len(c.Changes) != 1 || c.Changes[0].Verdict != want || c.Changes[0].Within() != "±100/s" {
			t.Errorf("%g/s after 1,000/s: got %+v, want only that it is %s", highest, c.Changes, want)
		}
	}
}

// TestSearchesThatJudgeOtherwise: a search with other thresholds, or one that endures more lag, finds another rate on the same system.
func TestSearchesThatJudgeOtherwise(t *testing.T) {
	t.Parallel()
	of := func(limit string, lag time.Duration) Result {
		return Result{Plan: Plan{Pacer: "search", Thresholds: map[string]string{"p99_all": limit}, MaxLag: Duration(lag)}, Search: make([]Step, 2), Highest: 1000}
	}
	before := of("500ms", time.Second)
	for name, c := range map[string]struct {
		now  Result
		want string
	}{
		"the same":      {of("500ms", time.Second), ""},
		"another limit": {of("5s", time.Second), `thresholds {"p99_all":"500ms"}, now {"p99_all":"5s"}`},
		"another lag":   {of("500ms", time.Minute), "maxLag 1s, now 1m0s"},
	} {
		if got := strings.Join(compare("", before, c.now).Unlike, "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
