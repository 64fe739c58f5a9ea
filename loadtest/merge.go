package loadtest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/vocab"
)

// MergeDirs reads the results in several directories and writes the merged one into out.
// One that can't be read makes the result INVALID, but never hides a FAIL. Error: ErrOut, or none can be read.
func MergeDirs(out string, dirs ...string) (Result, error) {
	var parts []Result
	var lost []Shard
	var wrong []string
	var first error
	failed := 0
	for _, dir := range dirs {
		p, err := ReadResult(dir)
		if err == nil && len(p.Shards) > 0 {
			err = report.ErrMerged
		}
		if err == nil {
			err = newCollector().merge(p)
		}
		if err != nil {
			if first = cmp.Or(first, fmt.Errorf("%s can't be merged: %w", dir, err)); p.Verdict == Fail && failed != 4 {
				failed = p.ExitCode()
			}
			lost, wrong = append(lost, Shard{Dir: dir}), append(wrong, fmt.Sprintf("%s can't be merged: %s", dir, err))
			continue
		}
		p.dir = dir
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return Result{}, first
	}
	m := merge(parts, wrong)
	m.Shards = append(m.Shards, lost...)
	if m.lost = failed; failed > 0 {
		m.Verdict = Fail
	}
	err := report.MakeDir(out)
	if err == nil {
		err = m.Write(out)
	}
	return m, unwritten(err)
}

// MergedFrom lists the shards' directories of a merged load; nothing for any other directory.
func MergedFrom(dir string) (dirs []string) {
	res, _ := ReadResult(dir) // what can't be read says so when it is merged
	for _, s := range res.Shards {
		if at, err := report.KeptAt(dir, s.Dir); err == nil {
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// merge combines what several generators measured at the same time on the same plan, whether or not they are its
// shards: counts are summed, histograms added, thresholds judged again; verdicts on guarantees are joined, as each
// generator judged its own history. Whatever keeps the parts from being one load, wrong included, makes the result
// INVALID, and never hides a FAIL. In the series, the p50 is the weighted mean and the p99 the worst of the parts. The
// parts' histograms must be readable.
func merge(parts []Result, wrong []string) Result {
	parts, twice := distinct(parts)
	f := parts[0]
	m := Result{Schema: SchemaVersion, Plan: f.Plan, Verdict: Pass, Seed: f.Seed, Run: f.Run, World: f.World, Version: f.Version, Environment: f.Environment, Started: f.Started, Statuses: map[string]int64{}}
	c := newCollector()
	for i, p := range parts {
		_ = c.merge(p) // they were readable before
		m.add(p)
		m.Shards = append(m.Shards, p.ended())
		for _, why := range p.doubted() {
			m.doubt(p.name(i) + ": " + why)
		}
		for _, t := range p.Thresholds {
			if !t.OK {
				m.Notes = append(m.Notes, p.name(i)+" by itself: "+t.why())
			}
		}
		for _, n := range p.Notes {
			m.Notes = append(m.Notes, p.name(i)+": "+n)
		}
		for k, process := range p.Processes {
			if k == 0 || i == 0 { // each generator, and the target's processes once
				process.Name = p.name(i) + ": " + process.Name
				m.Processes = append(m.Processes, process)
			}
		}
	}
	m.AnsweredBy = c.answeredBy()
	m.PlannedRate, m.SentRate = round(m.PlannedRate, 4), round(m.SentRate, 4)
	m.doubt(slices.Concat(wrong, twice, unlike(parts))...)
	begun := slices.DeleteFunc(slices.Clone(parts), func(p Result) bool { return !p.began() })
	m.Lag, m.Outcomes, m.Codes, m.Errors = summarize(c.lag), c.outcomes(), c.codes, c.errors
	m.Stages = m.Plan.stageResults(c)
	m.Series, m.Phases, m.Lab, m.Samples = mergeSeries(m.Started, begun), mergePhases(begun), mergeLabs(m.Started, begun), mergeSamples(begun)
	m.Faults = mergeFaults(parts)
	m.startedApart(begun)
	judgeThresholds(&m, c)
	if m.Plan.Abort && m.Sent < m.Planned { // it doesn't excuse a broken limit, and keeping all of them proves nothing
		m.doubt(fmt.Sprintf("stopped early: %s of %s were sent", amount.Number(m.Sent), amount.Many(int(m.Planned), "request")))
	}
	m.judgeBreaches()
	if m.Verdict == Pass {
		m.judgeSilence(true)
	}
	m.joinGuarantees(parts)
	m.settleGone()
	return m
}

// doubted says why the part's figures don't describe the system. A part without Doubts that is INVALID never began, or is of
// an older version.
func (r Result) doubted() []string {
	if len(r.Doubts) == 0 && r.Verdict == Invalid {
		return r.Reasons
	}
	return r.Doubts
}

// add adds a part's counts.
func (m *Result) add(p Result) {
	m.Planned, m.Sent, m.Attempts, m.Renewed = m.Planned+p.Planned, m.Sent+p.Sent, m.Attempts+p.Attempts, m.Renewed+p.Renewed
	m.Repeats, m.Replayed, m.Seconds = m.Repeats+p.Repeats, m.Replayed+p.Replayed, max(m.Seconds, p.Seconds)
	m.PlannedRate, m.SentRate = m.PlannedRate+p.PlannedRate, m.SentRate+p.SentRate
	m.Validated, m.Breaches, m.FirstBreach = m.Validated+p.Validated, m.Breaches+p.Breaches, cmp.Or(m.FirstBreach, p.FirstBreach)
	addAll(m.Statuses, p.Statuses)
	m.Gone = cmp.Or(m.Gone, p.Gone)
	if p.began() && (!m.began() || p.Started.Before(m.Started)) {
		m.Started = p.Started
	}
}

// began is false for a part that was interrupted before its first request: it has no time.
func (r Result) began() bool { return !r.Started.IsZero() }

// index orders parts.
func (r Result) index() int {
	if r.Shard == nil {
		return 0
	}
	return r.Shard.Index
}

// name is how readers know the i-th part.
func (r Result) name(i int) string {
	if r.Shard == nil {
		return fmt.Sprintf("part %d", i+1)
	}
	return "shard " + r.Shard.String()
}

// ended is what the merged result says about a part.
func (r Result) ended() Shard {
	s := Shard{Started: r.Started, Sent: r.Sent, Verdict: r.Verdict, Dir: r.dir}
	if r.Shard != nil {
		s.Index, s.Of, s.World, s.Places = r.Shard.Index, r.Shard.Of, r.Shard.World, r.Shard.Places
	}
	return s
}

// together is how far apart generators may start and still count as one load.
const together = time.Second

// startedApart: generators that didn't run at the same time sent at no common rate, which every load claims.
func (m *Result) startedApart(parts []Result) {
	last, end := m.Started, m.Started
	for _, p := range parts {
		if p.Started.After(last) {
			last = p.Started
		}
		if done := p.Started.Add(time.Duration(p.Seconds * 1e9)); done.After(end) {
			end = done
		}
	}
	if m.apart = last.Sub(m.Started); m.apart <= together {
		return
	}
	m.Seconds = round(end.Sub(m.Started).Seconds(), 3)
	m.SentRate = roundRate(float64(m.Sent) / m.Seconds) // a sum of rates was never sent
	what := "the rate"
	for prefix, limits := range m.Plan.limits {
		if _, limited := limits["rate_min"]; limited {
			what = prefix + "rate_min"
			break
		}
	}
	m.doubt(fmt.Sprintf("%s%sthe generators started %s apart, more than %s; see --start-at", what, unjudgedRate, amount.Duration(round(m.apart.Seconds(), 1)), amount.Duration(together.Seconds())))
}

// mergePhases adds the histograms of each phase.
func mergePhases(parts []Result) (out []Phase) {
	for _, name := range phaseNames {
		sum := newHistogram()
		for _, p := range parts {
			for _, ph := range p.Phases {
				if h, err := hdrhistogram.Decode([]byte(ph.HDR)); err == nil && ph.Name == name.name {
					sum.Merge(h)
				}
			}
		}
		if n := sum.TotalCount(); n > 0 {
			out = append(out, Phase{Name: name.name, Who: name.who, N: n, Latency: summarize(sum)})
		}
	}
	return out
}

// merge adds a finished result's distributions.
func (c *collector) merge(p Result) error {
	if p.Sent == 0 && p.Verdict == Invalid { // it measured nothing, and says why
		return nil
	}
	add := func(to *hdrhistogram.Histogram, l Latency) error {
		h, err := hdrhistogram.Decode([]byte(l.HDR))
		if err != nil {
			return fmt.Errorf("cannot read its histogram: %w", err)
		}
		to.Merge(h)
		return nil
	}
	errs := []error{add(c.lag, p.Lag)}
	for _, o := range p.Outcomes {
		errs = append(errs, add(c.of(c.service, o.Name), o.Service), add(c.of(c.since, o.Name), o.Scheduled))
	}
	errs = append(errs, c.mergeStages(p))
	c.sent, c.by = c.sent+p.Sent, max(c.by, p.AnsweredBy)
	addAll(c.codes, p.Codes)
	addAll(c.errors, p.Errors)
	return errors.Join(errs...)
}

func addAll[K comparable](to, from map[K]int64) {
	for k, n := range from {
		to[k] += n
	}
}

// mergeSeries lays the parts over each other by the machine's time.
func mergeSeries(start time.Time, parts []Result) []Point {
	all := map[int]*Point{}
	for _, part := range parts {
		shift := int(math.Round(part.Started.Sub(start).Seconds()))
		for _, p := range part.Series {
			second := p.Second + shift
			to := each.Made(all, second, func() *Point { return &Point{Second: second, Outcomes: map[vocab.Outcome]int64{}} })
			if n := float64(to.Planned + p.Planned); n > 0 {
				to.P50 = round((to.P50*float64(to.Planned)+p.P50*float64(p.Planned))/n, 3)
			}
			to.Planned, to.Sent = to.Planned+p.Planned, to.Sent+p.Sent
			to.P99, to.Max, to.Lag = max(to.P99, p.P99), max(to.Max, p.Max), max(to.Lag, p.Lag)
			addAll(to.Outcomes, p.Outcomes)
		}
	}
	return inOrder(all)
}
