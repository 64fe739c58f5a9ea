package loadtest

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Ten hits: eight reported, one rejected, one without an answer. Each took 20 ms and was due 10 ms before it was sent.
func tenHits() *collector {
	c := newCollector()
	for i := range 10 {
		outcome := vocab.Reported
		switch i {
		case 8:
			outcome = rejected
		case 9:
			outcome = noAnswer
		}
		c.record(outcome, 20*time.Millisecond, 30*time.Millisecond, 10*time.Millisecond)
		c.sent++
	}
	return c
}

func TestWhatThresholdsMeasure(t *testing.T) {
	t.Parallel()
	c := tenHits()
	for name, want := range map[string]string{
		"p50_all": "30 ms", "service_p50_all": "20 ms", "mean_all": "30 ms", "service_mean_all": "20 ms", "max_all": "30 ms",
		"service_max_all": "20 ms", "service_max_reported": "20 ms", "lag_p99": "10 ms",
	} {
		l := must.Get(parseThreshold(name, "1s"))(t)
		if got := l.judge(name, "1s", c, 0, 2); got.Value != want {
			t.Errorf("%s: got %s, want %s", name, got.Value, want)
		}
	}
	for _, w := range []struct{ name, limit, want string }{
		{"rate_min", "1/s", "4/s"}, {"errors", "2", "2"}, {"errors", "20%", "20%"}, {"reported_min", "80%", "80%"}, {"rejected_max", "1", "1"},
	} {
		l := must.Get(parseThreshold(w.name, w.limit))(t)
		if got := l.judge(w.name, w.limit, c, 0, 2); got.Value != w.want || !got.OK {
			t.Errorf("%s of %s: got %s, holds: %t, want %s, which holds", w.name, w.limit, got.Value, got.OK, w.want)
		}
	}
}

// Slow answers of minutes are neither capped nor left out.
func TestSlowAnswersCount(t *testing.T) {
	t.Parallel()
	c := newCollector()
	c.record(vocab.Reported, 5*time.Minute, 6*time.Minute, time.Minute)
	if got, want := float64(c.dist(everything, false).Max())/1e6, 360.0; got < want || got > want*1.001 {
		t.Errorf("slowest: got %g s, want %g", got, want)
	}
	s := newSeries()
	for _, due := range []time.Duration{100, 1, 100} { // in seconds; the answer to the second took 99 s
		due *= time.Second
		s.add(due, due, 100*time.Second-due+time.Millisecond, 0, vocab.Reported)
	}
	points := s.finish()
	if len(points) != 2 || points[0].Second != 1 || points[0].Planned != 1 || points[0].Outcomes[vocab.Reported] != 1 || points[0].Max != 99_001 {
		t.Errorf("got %+v, want second 1 with one hit of 99,001 ms first", points)
	}
}

// Errors are compared by their number too: going from none to a few is a regression.
func TestComparedErrors(t *testing.T) {
	t.Parallel()
	with := func(errors int64) Result {
		return Result{Series: []Point{{Planned: 1000, Outcomes: map[vocab.Outcome]int64{rejected: errors}}}}
	}
	for _, w := range []struct {
		before, now int64
		want        string
	}{{0, 0, "same"}, {0, 3, "worse"}, {100, 125, "same"}, {100, 135, "worse"}, {100, 75, "same"}, {100, 65, "better"}, {10, 0, "better"}} {
		changes := compare("", with(w.before), with(w.now)).Changes
		if got := changes[len(changes)-1]; got.Verdict != w.want {
			t.Errorf("from %d errors to %d: got %s, want %s", w.before, w.now, got.Verdict, w.want)
		}
	}
}

// If a generator ran out of something, the run is INVALID.
func TestStarvedGeneratorIsInvalid(t *testing.T) {
	t.Parallel()
	c := tenHits()
	r := &runner{}
	if why := r.invalid(c, 0, Result{}); len(why) > 0 {
		t.Errorf("got %q, want nothing against the generator", why)
	}
	c.starved["out of ports"] = 3
	if why := r.invalid(c, 0, Result{}); len(why) != 1 || why[0] != "the generator ran out of ports 3 times" {
		t.Errorf("got %q, want that the generator ran out of ports 3 times", why)
	}
}

// If a generator doesn't keep up with its plan, the run is INVALID, unless it is too short to tell.
func TestSlowGeneratorIsInvalid(t *testing.T) {
	t.Parallel()
	r := &runner{plan: Plan{MaxLag: Duration(time.Hour)}}
	for _, c := range []struct {
		sent, late float64
		want       string
	}{
		{97.9, 1, "the generator sent 97.9/s of 100/s planned"},
		{98, 1, ""},
		{97.9, 0.05, ""},
	} {
		if why := strings.Join(r.invalid(tenHits(), c.late, Result{SentRate: c.sent, PlannedRate: 100}), "; "); why != c.want {
			t.Errorf("%v/s of 100/s sent, the last %v s late: got %q, want %q", c.sent, c.late, why, c.want)
		}
	}
}

// A breach that one generator found stays one, whatever the others could measure.
func TestBreachesOfOneGenerator(t *testing.T) {
	t.Parallel()
	breached := Result{Verdict: Pass, Guarantees: &Guarantees{}}
	breached.Guarantees.settle([]judge.Verdict{{Clause: "CMD-1", Status: judge.Fail, Checked: 1, Bad: 1, Number: "1 of 1 broke it"}})
	deaf := Result{Verdict: Pass, Guarantees: &Guarantees{NotJudged: "no control listener"}}
	for name, parts := range map[string][]Result{"first": {breached, deaf}, "last": {deaf, breached}, "between": {deaf, breached, {Verdict: Pass}}} {
		all := Result{Verdict: Pass}
		all.joinGuarantees(parts)
		if all.Verdict != Fail || all.Guarantees.NotJudged != "" {
			t.Errorf("%s: got %s, not judged: %q, want FAIL", name, all.Verdict, all.Guarantees.NotJudged)
		}
	}
}

// Above the highest rate that holds lies either the system's limit or the generator's.
func TestSearchThatTheGeneratorLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lo, hi float64
		worst  string
		want   string
	}{
		"the system's limit":     {100, 200, Fail, Pass},
		"the generator's":        {100, 200, Invalid, Invalid},
		"no limit was found":     {200, 0, Pass, Pass},
		"no rate held":           {0, 100, Fail, Fail},
		"no rate could be tried": {0, 100, Invalid, Invalid},
	} {
		if got := settled(Result{Verdict: Pass}, Result{Verdict: c.worst}, c.lo, c.hi); got.Verdict != c.want || got.Highest != c.lo {
			t.Errorf("%s: got %s at %g/s, want %s at %g/s", name, got.Verdict, got.Highest, c.want, c.lo)
		} else if (len(got.Notes) > 0) != (c.hi == 0) {
			t.Errorf("%s: got the notes %q, want one only if the plan ended the search", name, got.Notes)
		}
	}
}
