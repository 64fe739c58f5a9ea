package loadtest

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/vocab"
)

// collector turns vegeta's results into counts, histograms and a series. Each outcome has two histograms: service time,
// and time since scheduled, which reveals a stalled generator or server.
type collector struct {
	pacer   *pacer
	metrics *Metrics

	sent     int64
	replayed int64
	starved  map[string]int64 // requests that this machine couldn't send
	service  map[vocab.Outcome]*hdrhistogram.Histogram
	since    map[vocab.Outcome]*hdrhistogram.Histogram
	lag      *hdrhistogram.Histogram
	lastSent time.Duration
	came     *hdrhistogram.Histogram // when answers came, in ms since the load began
	by       float64                 // of results that were merged: AnsweredBy
	statuses map[int]int64
	codes    map[string]int64
	errors   map[string]int64
	samples  samples
	faults   []FaultUse
	stages   []*collector // of what was due in each; nothing without stages
	looked   int          // second of the load at which limits were last looked at, see Plan.Abort
	aborted  *Threshold   // the one that ended the load early, as it was then

	mu     sync.Mutex // of what the progress lines read
	silent int64      // of what was sent, without an answer
	series *series
}

func newCollector() *collector {
	return &collector{
		starved: map[string]int64{}, service: map[vocab.Outcome]*hdrhistogram.Histogram{}, since: map[vocab.Outcome]*hdrhistogram.Histogram{},
		lag: newHistogram(), came: hdrhistogram.New(1, 400*24*3600*1000, 3), statuses: map[int]int64{}, codes: map[string]int64{}, errors: map[string]int64{}, samples: samples{}, series: newSeries(),
	}
}

// newHistogram counts microseconds up to ten minutes, to three digits.
func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 600_000_000, 3) }

func record(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(d.Microseconds(), 0), 600_000_000)) // clamped to the histogram's range
}

// add processes a result.
func (c *collector) add(r *vegeta.Result) {
	outcome, name, ours := vocab.Outcome(r.Headers.Get(outcomeHeader)), "", false
	if outcome == "" {
		outcome = noAnswer
		name, ours = cause(r.Error)
		c.errors[name]++
		if ours {
			c.starved[name]++
			c.metrics.unsent.Inc()
		}
	}
	c.statuses[int(r.Code)]++
	if code := r.Headers.Get(codeHeader); code != "" {
		c.codes[code]++
	}
	if r.Headers.Get(replayHeader) != "" {
		c.replayed++
		c.metrics.replayed.Inc()
	}
	due := c.pacer.due(r.Seq)
	lag := max(r.Timestamp.Sub(due), 0)
	since := lag + r.Latency
	c.samples.take(outcome, millis(since), func() Sample { return sample(r, outcome, due.Sub(c.pacer.began), since) })
	r.Headers, r.Body = nil, nil

	offset := r.Timestamp.Sub(c.pacer.began)
	c.record(outcome, r.Latency, since, lag)
	c.arrived(outcome, offset+r.Latency)
	if of := c.stage(due.Sub(c.pacer.began)); of != nil {
		of.record(outcome, r.Latency, since, lag)
		of.arrived(outcome, offset+r.Latency)
		of.sent++
		if slices.Contains(own, name) {
			of.errors[name]++
		}
	}
	c.metrics.answered(outcome, r.Latency, since, lag)
	c.lastSent = max(c.lastSent, offset)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	if outcome == noAnswer {
		c.silent++
	}
	c.series.add(due.Sub(c.pacer.began), offset, since, lag, outcome)
}

func (c *collector) record(outcome vocab.Outcome, took, since, lag time.Duration) {
	for _, name := range []vocab.Outcome{outcome, everything} {
		record(c.of(c.service, name), took)
		record(c.of(c.since, name), since)
	}
	record(c.lag, lag)
}

// arrived notes when an answer came. What wasn't served isn't counted, and a 504 is due late.
func (c *collector) arrived(outcome vocab.Outcome, at time.Duration) {
	if outcome != rejected && outcome != noAnswer && outcome != vocab.NoResponse {
		_ = c.came.RecordValue(max(at.Milliseconds(), 1)) // no load takes longer than the histogram's range
	}
}

// fewAnswers are too few to tell a system that falls behind from one slow answer.
const fewAnswers = 100

// answeredBy is when 99% of the answers had come, in seconds since the load began; 0 for a few. The last ones would tell of
// their own slowness, not of how many the system answers per second.
func (c *collector) answeredBy() float64 {
	if c.came.TotalCount() < fewAnswers {
		return c.by
	}
	return max(c.by, float64(c.came.ValueAtPercentile(99))/1000)
}

// promptly is how long after a stretch its last answers may come without making its rate lower.
const promptly = 1.0

// answerRate is how many answers came per second of a stretch that was to take so long: a system that answers late, after
// everything was sent, has answered fewer.
func (c *collector) answerRate(from, seconds float64) float64 {
	return float64(c.sent-c.count(rejected)-c.count(noAnswer)) / max(seconds, c.answeredBy()-from-promptly)
}

func (c *collector) of(m map[vocab.Outcome]*hdrhistogram.Histogram, name vocab.Outcome) *hdrhistogram.Histogram {
	return each.Made(m, name, newHistogram)
}

func (c *collector) dist(outcome vocab.Outcome, service bool) *hdrhistogram.Histogram {
	if service {
		return c.of(c.service, outcome)
	}
	return c.of(c.since, outcome)
}

func (c *collector) count(outcome vocab.Outcome) int64 {
	if h := c.since[outcome]; h != nil {
		return h.TotalCount()
	}
	return 0
}

// outcomes lists "all" and what was seen, in the usual order.
func (c *collector) outcomes() []Outcome {
	var list []Outcome
	for _, name := range append([]vocab.Outcome{everything}, outcomes...) {
		if n := c.count(name); n > 0 {
			list = append(list, Outcome{name, n, summarize(c.service[name]), summarize(c.since[name])})
		}
	}
	return list
}

func summarize(h *hdrhistogram.Histogram) Latency {
	if h.TotalCount() == 0 {
		return Latency{}
	}
	q := func(p float64) float64 { return float64(h.ValueAtPercentile(p)) / 1000 }
	l := Latency{Mean: round(h.Mean()/1000, 3), P50: q(50), P90: q(90), P95: q(95), P99: q(99), P999: q(99.9), Max: float64(h.Max()) / 1000}
	if text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err == nil {
		l.HDR = string(text)
	}
	return l
}

// series keeps a second's latencies until hardly any of its answers can be missing, then only their summary.
type series struct {
	open   map[int][]float64
	points map[int]*Point
	newest int
}

const keepSeconds = 60

func newSeries() *series { return &series{open: map[int][]float64{}, points: map[int]*Point{}} }

func (s *series) add(due, sent, since, lag time.Duration, outcome vocab.Outcome) {
	i := int(due / time.Second)
	p := s.point(i)
	p.Planned++
	p.Outcomes[outcome]++
	p.Lag = max(p.Lag, millis(lag))
	p.Max = max(p.Max, millis(since))
	s.point(int(sent/time.Second)).Sent++
	if s.open[i] != nil || i > s.newest-keepSeconds {
		s.open[i] = append(s.open[i], millis(since))
	}
	if i > s.newest {
		s.newest = i
		for old := range s.open {
			if old <= i-keepSeconds {
				s.settle(old)
			}
		}
	}
}

func (s *series) point(i int) *Point {
	return each.Made(s.points, i, func() *Point { return &Point{Second: i, Outcomes: map[vocab.Outcome]int64{}} })
}

func (s *series) settle(i int) {
	slices.Sort(s.open[i])
	p := s.point(i)
	p.P50, p.P99 = plot.Quantile(s.open[i], 0.50), plot.Quantile(s.open[i], 0.99)
	delete(s.open, i)
}

// finish returns all points in order.
func (s *series) finish() []Point {
	for i := range s.open {
		s.settle(i)
	}
	return inOrder(s.points)
}

// inOrder returns the points of a series by their second.
func inOrder(points map[int]*Point) []Point {
	return each.Of(slices.Sorted(maps.Keys(points)), func(second int) Point { return *points[second] })
}

func millis(d time.Duration) float64 { return round(float64(d)/float64(time.Millisecond), 3) }

func round(v float64, digits int) float64 {
	f := math.Pow10(digits)
	return math.Round(v*f) / f
}
