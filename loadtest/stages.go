package loadtest

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
)

// StageResult is the result of the requests that were due in one stage.
type StageResult struct {
	Name     string    `json:"name"`
	From     float64   `json:"from"` // seconds into the run
	Seconds  float64   `json:"seconds"`
	Sent     int64     `json:"sent"`
	Lag      Latency   `json:"lag"`
	Outcomes []Outcome `json:"outcomes"` // "all" first

	AnsweredBy float64 `json:"answeredBy,omitempty"` // seconds into the run by which 99% of the answers had come

	Interrupted int64 `json:"interrupted,omitempty"` // of those without an answer, how many an interruption cancelled or the generator couldn't send
}

// Latency is that of all its requests, from the scheduled send.
func (s StageResult) Latency() Latency { return named(s.Outcomes, everything).Scheduled }

// Errors are the requests that were rejected or got no answer.
func (s StageResult) Errors() int64 {
	return named(s.Outcomes, rejected).Count + named(s.Outcomes, noAnswer).Count
}

// answerRate is how many answers came per second of the whole run, see collector.answerRate.
func (r Result) answerRate() float64 {
	n := int64(0)
	for _, o := range r.Outcomes {
		if o.Name != everything && o.Name != rejected && o.Name != noAnswer {
			n += o.Count
		}
	}
	return roundRate(float64(n) / max(r.Seconds, r.AnsweredBy-promptly))
}

// Called is the i-th stage's name in reports, counted from 0.
func (s Stage) Called(i int) string { return cmp.Or(s.Name, fmt.Sprintf("stage %d", i+1)) }

// stage is the collector of the stage in which something is due; nil in a run without stages.
func (c *collector) stage(due time.Duration) *collector {
	if c.pacer == nil || len(c.pacer.legs) < 2 {
		return nil
	}
	legs := c.pacer.legs
	i := max(sort.Search(len(legs), func(i int) bool { return legs[i].start > due.Seconds()+1e-9 })-1, 0)
	return c.ofStage(i)
}

func (c *collector) ofStage(i int) *collector {
	for len(c.stages) <= i {
		c.stages = append(c.stages, newCollector())
	}
	return c.stages[i]
}

// stageResults are in the plan's order; nil for a plan without stages, or with a single one.
func (p Plan) stageResults(c *collector) (out []StageResult) {
	if len(p.Stages) < 2 {
		return nil
	}
	from := 0.0
	for i, s := range p.Stages {
		of, seconds := c.ofStage(i), time.Duration(s.Duration).Seconds()
		outcomes := of.outcomes()
		if outcomes == nil { // nothing was due
			outcomes = []Outcome{}
		}
		out = append(out, StageResult{s.Called(i), from, seconds, of.sent, summarize(of.lag), outcomes, of.answeredBy(), of.unsent()})
		from += seconds
	}
	return out
}

// mergeStages adds a finished result's stages.
func (c *collector) mergeStages(p Result) error {
	var errs []error
	for i, s := range p.Stages {
		if s.Sent > 0 {
			errs = append(errs, c.ofStage(i).merge(Result{Sent: s.Sent, AnsweredBy: s.AnsweredBy, Lag: s.Lag, Outcomes: s.Outcomes, Errors: map[string]int64{interrupted: s.Interrupted}}))
		}
	}
	return errors.Join(errs...)
}

// stretch is a part of a run with thresholds of its own: the whole, or one of its stages.
type stretch struct {
	prefix  string // of its thresholds' names in results, "" for the whole
	limits  map[string]string
	of      *collector
	from    float64 // seconds into the run
	seconds float64
}

// stretches lists what has thresholds, the whole first. seconds is how long the run took.
func (p Plan) stretches(c *collector, seconds float64) []stretch {
	out, from := []stretch{{"", p.Thresholds, c, 0, seconds}}, 0.0
	for i, s := range p.Stages {
		of, lasts := c, time.Duration(s.Duration).Seconds()
		if len(p.Stages) > 1 {
			of = c.ofStage(i)
		}
		out = append(out, stretch{s.Called(i) + ": ", s.Thresholds, of, from, lasts})
		from += lasts
	}
	return out
}

// Limits reports whether the plan has any thresholds.
func (p Plan) Limits() bool {
	for _, limits := range p.limits {
		if len(limits) > 0 {
			return true
		}
	}
	return false
}

// limits yields the thresholds of the whole run, then those of each stage, with the prefix of their names in results.
func (p Plan) limits(yield func(prefix string, limits map[string]string) bool) {
	if !yield("", p.Thresholds) {
		return
	}
	for i, s := range p.Stages {
		if !yield(s.Called(i)+": ", s.Thresholds) {
			return
		}
	}
}

// within is the part of the run, in seconds, that a threshold in a result is about, and its name in the plan.
func (r Result) within(name string) (from, to float64, plain string) {
	for _, s := range r.Stages {
		if plain, found := strings.CutPrefix(name, s.Name+": "); found {
			return s.From, s.From + s.Seconds, plain
		}
	}
	if i := strings.LastIndex(name, ": "); i >= 0 { // of the only stage
		name = name[i+2:]
	}
	return 0, r.Seconds + 1, name
}
