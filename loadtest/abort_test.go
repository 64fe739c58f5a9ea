package loadtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestAbortInAPause: a broken limit stops a load that is waiting for its next request, however long that takes.
func TestAbortInAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.work = func(int) (int, string) { time.Sleep(6 * time.Second); return 429, "too_many_in_flight" }
		target, o := bubble(f)
		began := time.Now()
		res, err := Run(t.Context(), target, mustParse(t, `
pacer: stages
abort: true
thresholds: {errors: 0}
stages: [{rate: 10, duration: 5s}, {rate: 0, duration: 1h}, {rate: 10, duration: 1s}]
`), o)
		if took := time.Since(began); err != nil || res.Verdict != Fail || res.Sent != 50 || took > 12*time.Second {
			t.Errorf("got %v, %s, %d sent after %s; want FAIL with 50 sent, after at most 12 s", err, res.Verdict, res.Sent, took)
		}
	})
}

// TestAbortSparesYoungStages: times and shares of a stage are looked at when it is five seconds old, as those of a load
// are, whether or not it is the only one and however many requests it has sent by then.
func TestAbortSparesYoungStages(t *testing.T) {
	t.Parallel()
	const stage = "{name: x, rate: 100, duration: 30s, thresholds: {p95_all: 1s, offline_max: 5%}}"
	for name, c := range map[string]struct {
		stages string
		before int // requests
		bad    int // requests of the stage that are slow and offline
		want   string
	}{
		"the only stage begins badly":    {stage, 0, 12, Pass},
		"the second of two begins badly": {"{rate: 100, duration: 6s}, " + stage, 600, 12, Pass},
		"the only stage stays bad":       {stage, 0, 3000, Fail},
		"the second of two stays bad":    {"{rate: 100, duration: 6s}, " + stage, 600, 3000, Fail},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.work = func(n int) (int, string) {
				if n >= c.before && n < c.before+c.bad {
					time.Sleep(1500 * time.Millisecond)
					return 409, "offline"
				}
				time.Sleep(time.Millisecond)
				return 200, ""
			}
			target, o := bubble(f)
			res, err := Run(t.Context(), target, mustParse(t, "pacer: stages\nabort: true\nstages: ["+c.stages+"]"), o)
			sent := int64(c.before + 3000)
			if c.want == Fail {
				sent = int64(c.before + 700) // seconds five and six, and what is on its way
			}
			if err != nil || res.Verdict != c.want || res.Sent > sent || c.want == Pass && res.Sent < sent || c.want == Fail && res.Sent < int64(c.before+500) {
				t.Errorf("%s: got %v, %s %q, %d sent; want %s and %d", name, err, res.Verdict, res.Notes, res.Sent, c.want, sent)
			}
		})
	}
}

// TestOneRequest: a request alone is sent at its planned rate.
func TestOneRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		target, o := bubble(newFake())
		r := must.Get(prepare(t.Context(), target, mustParse(t, "rate: 1\nduration: 1s"), o))(t)
		s := newSchedule(r.plan)
		c, src, w, err := r.attack(t.Context(), s, "one")
		c.lastSent = 100 * time.Microsecond // on a real clock nothing is sent at once
		res := r.judge(s, c, src, w, false)
		if err != nil || res.Verdict != Pass || res.Sent != 1 || res.SentRate != 1 {
			t.Errorf("got %v, %s, %d sent at %g/s; want PASS, 1, 1/s", err, res.Verdict, res.Sent, res.SentRate)
		}
	})
}

// TestProgressLine: once nothing more is sent, the line neither counts down nor repeats the last second's figures.
func TestProgressLine(t *testing.T) {
	t.Parallel()
	s := &schedule{seconds: 60, total: 6000}
	c := newCollector()
	c.sent, c.series.newest = 400, 4
	c.series.points[3], c.series.open[3] = &Point{Sent: 99}, []float64{}
	for want, change := range map[string]func() float64{
		"x: 4 s of 60 s, 400 of 6,000 answered, 56 s left; last second: 99 sent, p99 0 ms, slowest 0 ms, lag 0 ms": func() float64 { return 4 },
		"x: 60 s of 60 s, 400 of 6,000 answered, waiting for the last answers":                                     func() float64 { return 61 },
		"x: 4 s of 60 s, 400 of 6,000 answered, stopped because errors is broken, waiting for the last answers":    func() float64 { c.aborted = &Threshold{Name: "errors"}; return 4 },
	} {
		c.aborted = nil
		if got := c.line("x", s, change()); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
