package loadtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
)

// judge makes the result of one attack. Interrupted runs are judged, too; the caller adds ctx's error.
func (r *runner) judge(s *schedule, c *collector, src *source, w *wire, interrupted bool) Result {
	res := Result{
		Plan: r.plan, Verdict: Pass, Seed: r.seed, Run: r.api.run, World: r.world(), Shard: r.shard.after(c),
		Started: c.pacer.began.UTC(), Planned: s.total, Sent: c.sent,
		Attempts: w.sent.Load(), Renewed: w.renewed.Load(), Repeats: src.repeats, Replayed: c.replayed,
		Lag: summarize(c.lag), Outcomes: c.outcomes(), Statuses: map[string]int64{}, Codes: c.codes, Errors: c.errors,
		AnsweredBy: c.answeredBy(), Series: c.series.finish(), Samples: c.samples.list(), Stages: r.plan.stageResults(c),
	}
	for status, n := range c.statuses {
		res.Statuses[strconv.Itoa(status)] = n
	}
	// The last planned moment against the last real one: over the same hits.
	planned := s.at(max(c.sent-1, 0)).Seconds()
	real := max(c.lastSent.Seconds(), planned)
	res.Seconds = round(max(real, s.seconds), 3)
	if interrupted || c.aborted != nil {
		res.Seconds = round(real, 3)
	}
	res.PlannedRate = roundRate(s.mean())
	res.SentRate = res.PlannedRate
	if planned > 0 { // one request alone has no rate
		res.SentRate = roundRate(res.PlannedRate * planned / real)
	}
	weak := r.invalid(c, real-planned, res)
	res.doubt(weak...)
	if why := late(res.Started, r.opts.StartAt); why != "" {
		res.doubt(why)
	}
	if interrupted {
		res.doubt(fmt.Sprintf("interrupted after %s of %s", amount.Number(c.sent), amount.Many(int(s.total), "request")))
	}
	if c.aborted != nil {
		res.Notes = append(res.Notes, fmt.Sprintf("stopped after %s of %s, because %s was broken", amount.Number(c.sent), amount.Many(int(s.total), "request"), c.aborted.Name))
	}
	if unread := r.api.promise.unread; unread != nil {
		res.doubt("answers were not checked: " + strings.ReplaceAll(unread.Error(), "\n", "; "))
	}
	if res.Faults = c.faults; len(r.plan.Faults) > len(c.faults) {
		res.Notes = append(res.Notes, "the generator of the first shard arms the faults, because all share the control listener")
	}
	res.judgeFaults(c)
	judgeThresholds(&res, c)
	r.judgeContract(&res)
	res.judgeSilence(r.opts.Judge && (r.shard == nil || r.shard.Of == 1)) // shards are judged together
	if len(weak) > 0 && res.Verdict == Fail {
		res.Notes = append(res.Notes, "the generator couldn't keep up, so the latencies say nothing about the system; how requests were answered does")
	}
	return res
}

// doubt adds reasons why the figures don't describe the system, which makes the run INVALID. A FAIL stays one, but a merge
// must know them: its other parts may make up for what failed, never for these.
func (res *Result) doubt(why ...string) {
	res.Doubts, res.Reasons = append(res.Doubts, why...), append(res.Reasons, why...)
	if len(why) > 0 && res.Verdict == Pass {
		res.Verdict = Invalid
	}
}

// invalid says why the generator, and not the system, was the bottleneck.
func (r *runner) invalid(c *collector, late float64, res Result) (why []string) {
	if c.sent == 0 {
		return []string{"nothing was sent"}
	}
	if lag := res.Lag.P99; lag > float64(time.Duration(r.plan.MaxLag))/1e6 {
		why = append(why, fmt.Sprintf("the generator lagged: p99 %s behind the plan, allowed %s", ms(lag), span(r.plan.MaxLag)))
	}
	for _, j := range r.plan.stretches(c, res.Seconds)[1:] { // a stage may be too short to show in the whole run's lag
		if lag := time.Duration(j.of.lag.ValueAtPercentile(99)) * time.Microsecond; len(j.limits) > 0 && j.of != c && lag > time.Duration(r.plan.MaxLag) {
			why = append(why, fmt.Sprintf("%sthe generator lagged: p99 %s behind the plan, allowed %s", j.prefix, ms(millis(lag)), span(r.plan.MaxLag)))
		}
	}
	if res.SentRate < 0.98*res.PlannedRate && late > 0.05 { // below 50 ms a run is too short to tell
		why = append(why, fmt.Sprintf("the generator sent %s of %s planned", perSecond(res.SentRate), perSecond(res.PlannedRate)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.starved)) {
		why = append(why, fmt.Sprintf("the generator ran %s %s times", name, amount.Number(c.starved[name])))
	}
	return why
}

// settling is how long times and shares are left alone: the first answers of a load, or of a stage, say little about them.
const settling = 5 * time.Second

// broken is an upper limit that the answers so far break, for a plan that stops then; nil = none. It is looked for once a
// second; a number of answers can be broken for good at any time.
func (r *runner) broken(c *collector) *Threshold {
	if second := int(c.lastSent / time.Second); second != c.looked {
		c.looked = second
	} else {
		return nil
	}
	for _, j := range r.plan.stretches(c, c.lastSent.Seconds()) {
		young := c.lastSent.Seconds()-j.from < settling.Seconds()
		for _, name := range slices.Sorted(maps.Keys(j.limits)) {
			l, err := parseThreshold(name, j.limits[name])
			if err != nil || l.atLeast || r.shard != nil && r.shard.Of > 1 && l.waits() {
				continue
			}
			if counted := l.answers() && !l.share; !counted && young {
				continue
			}
			if t := l.judge(name, j.limits[name], j.of, j.from, j.seconds); !t.OK && t.Value != none {
				t.Name = j.prefix + name
				return &t
			}
		}
	}
	return nil
}

// judgeContract fails a run with an answer that doesn't match the documents.
func (r *runner) judgeContract(res *Result) {
	c := &r.api.promise
	res.Validated, res.Breaches = c.checked.Load(), c.bad.Load()
	if why := c.first.Load(); why != nil {
		res.FirstBreach = *why
	}
	res.judgeBreaches()
}

func (res *Result) judgeBreaches() {
	if res.Breaches == 0 {
		return
	}
	res.Reasons = append(res.Reasons, fmt.Sprintf("%s of %s answers violate the OpenAPI documents: %s", amount.Number(res.Breaches), amount.Number(res.Validated), res.FirstBreach))
	res.Verdict = Fail
}

// judgeThresholds judges the thresholds. A generator that lagged excuses slow answers, never wrong ones.
func judgeThresholds(res *Result, c *collector) {
	for _, j := range res.Plan.stretches(c, max(res.Seconds, 1e-3)) {
		for _, name := range slices.Sorted(maps.Keys(j.limits)) {
			if l, err := parseThreshold(name, j.limits[name]); err == nil { // can't fail because the plan was checked
				res.judgeThreshold(l, name, j, c)
			}
		}
	}
}

func (r *Result) judgeThreshold(l limit, name string, j stretch, c *collector) {
	t := Threshold{Name: j.prefix + name, Limit: j.limits[name]}
	switch {
	case r.Shard != nil && r.Shard.Of > 1 && (l.waits() || j.of.sent == 0):
		t.Value, t.OK, t.Idle = waiting, true, true
	case l.measure == "rate" && r.apart > together: // INVALID anyway, whatever the rate
		t.Value, t.OK, t.Idle = unjudged, true, true
	default:
		t = l.judge(name, t.Limit, j.of, j.from, j.seconds)
		t.Name = j.prefix + name
		t.Idle = t.Value != none && l.idle(float64(j.of.sent), cmp.Or(time.Duration(r.Plan.Timeout), answerWait))
		if c.aborted != nil && c.aborted.Name == t.Name && t.OK { // the answers that were still on their way don't make up for what wasn't sent
			t = *c.aborted
		}
		if t.OK {
			break
		}
		r.Reasons = append(r.Reasons, t.why())
		if r.Verdict == Pass || l.answers() && t.Value != none {
			r.Verdict = Fail
		}
	}
	r.Thresholds = append(r.Thresholds, t)
}
