package loadtest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/doorlab/doorlab/internal/vocab"
)

// MergeDirs reads the results in several directories and writes the merged one
// into out.
func MergeDirs(out string, dirs ...string) (Result, error) {
	parts := make([]Result, len(dirs))
	for i, dir := range dirs {
		var err error
		if parts[i], err = ReadResult(dir); err != nil {
			return Result{}, err
		}
	}
	m, err := Merge(parts...)
	if err != nil {
		return m, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return m, err
	}
	return m, m.Write(out)
}

// Merge makes one result of what several generators measured at the same time
// on the same plan: histograms are added, thresholds judged again. It fails on
// results of a search, of different thresholds, or without histograms. In the
// series the p50 is the weighted mean and the p99 the worst of the parts.
func Merge(parts ...Result) (Result, error) {
	if len(parts) == 0 {
		return Result{}, errors.New("nothing to merge")
	}
	m := parts[0]
	m.Verdict, m.Reasons, m.Thresholds, m.Compare, m.Phases, m.Shard = Pass, nil, nil, nil, nil, nil
	m.Planned, m.Sent, m.Attempts, m.Renewed, m.Repeats, m.Replayed, m.PlannedRate, m.SentRate = 0, 0, 0, 0, 0, 0, 0, 0
	m.Guarantees = &Guarantees{NotJudged: "each part judged its own history"}
	m.Validated, m.Breaches, m.FirstBreach = 0, 0, ""
	c := newCollector()
	statuses := map[string]int64{}
	for i, p := range parts {
		if p.Highest > 0 || len(p.Search) > 0 || !maps.Equal(p.Plan.Thresholds, m.Plan.Thresholds) {
			return Result{}, fmt.Errorf("part %d: not a run of the same plan", i+1)
		}
		if err := c.merge(p); err != nil {
			return Result{}, fmt.Errorf("part %d: %w", i+1, err)
		}
		m.Planned, m.Sent, m.Attempts, m.Renewed = m.Planned+p.Planned, m.Sent+p.Sent, m.Attempts+p.Attempts, m.Renewed+p.Renewed
		m.Repeats, m.Replayed, m.Seconds = m.Repeats+p.Repeats, m.Replayed+p.Replayed, max(m.Seconds, p.Seconds)
		m.PlannedRate, m.SentRate = round(m.PlannedRate+p.PlannedRate, 2), round(m.SentRate+p.SentRate, 2)
		m.Validated, m.Breaches = m.Validated+p.Validated, m.Breaches+p.Breaches
		if m.FirstBreach == "" {
			m.FirstBreach = p.FirstBreach
		}
		addAll(statuses, p.Statuses)
		for _, row := range p.Guarantees.breached() {
			m.Guarantees.Rows, m.Guarantees.NotJudged = append(m.Guarantees.Rows, row), ""
			m.Reasons = append(m.Reasons, "part "+strconv.Itoa(i+1)+": "+row.Clause+": "+row.Number)
		}
		if p.Started.Before(m.Started) {
			m.Started = p.Started
		}
		if p.Verdict == Invalid {
			m.Verdict = Invalid
			for _, why := range p.Reasons {
				m.Reasons = append(m.Reasons, "part "+strconv.Itoa(i+1)+": "+why)
			}
		}
	}
	m.Lag, m.Outcomes, m.Statuses, m.Codes, m.Errors = summarize(c.lag), c.outcomes(), statuses, c.codes, c.errors
	m.Series = mergeSeries(m.Started, parts)
	judgeThresholds(&m, c)
	m.judgeBreaches()
	if len(m.Guarantees.Rows) > 0 {
		m.Verdict = Fail
	}
	return m, nil
}

// merge adds a finished result's distributions.
func (c *collector) merge(p Result) error {
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
	c.sent += p.Sent
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
			to := all[p.Second+shift]
			if to == nil {
				to = &Point{Second: p.Second + shift, Outcomes: map[vocab.Outcome]int64{}}
				all[p.Second+shift] = to
			}
			if n := float64(to.Planned + p.Planned); n > 0 {
				to.P50 = round((to.P50*float64(to.Planned)+p.P50*float64(p.Planned))/n, 3)
			}
			to.Planned, to.Sent = to.Planned+p.Planned, to.Sent+p.Sent
			to.P99, to.Max, to.Lag = max(to.P99, p.P99), max(to.Max, p.Max), max(to.Lag, p.Lag)
			addAll(to.Outcomes, p.Outcomes)
		}
	}
	list := make([]Point, 0, len(all))
	for _, p := range all {
		list = append(list, *p)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Second < list[j].Second })
	return list
}
