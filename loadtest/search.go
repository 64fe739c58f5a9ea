package loadtest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/vocab"
)

// search looks for the highest rate that keeps the thresholds: it doubles the rate until one breaks, then bisects. Each
// step is a run of its own, so that a slow one can't affect the next. The result is that of the best step.
func (r *runner) search(ctx context.Context) (Result, error) {
	var best, worst, all Result // all: what was checked in all steps
	var steps []Step
	lo, hi, top := 0.0, 0.0, float64(r.plan.To)
	for rate := float64(r.plan.Rate); ; {
		res, err := r.try(ctx, rate)
		all.Validated, all.Breaches, all.FirstBreach = all.Validated+res.Validated, all.Breaches+res.Breaches, cmp.Or(all.FirstBreach, res.FirstBreach)
		if err != nil || ctx.Err() != nil || res.Gone != "" {
			if lo > 0 { // the headline is about that step
				best.Verdict, best.Gone, best.Reasons = res.Verdict, res.Gone, []string{fmt.Sprintf("the step at %s was %s", perSecond(rate), strings.Join(res.Reasons, "; "))}
				res = best
			}
			res.Search, res.Highest = steps, round(lo, 1)
			res.judgeSteps(all)
			return res, err
		}
		steps = append(steps, Step{Rate: round(rate, 1), Verdict: res.Verdict, P50: res.Outcomes[0].Scheduled.P50, P99: res.Outcomes[0].Scheduled.P99,
			Reasons: res.Reasons, Outcomes: res.counts()})
		if res.Verdict == Pass {
			lo, best = rate, res
		} else {
			hi, worst = rate, res
		}
		next := nextRate(lo, hi, top, float64(r.plan.Precision))
		if next == 0 {
			break
		}
		rate = next
	}
	best = settled(best, worst, lo, hi)
	best.Plan, best.Search = r.plan, steps
	best.judgeSteps(all)
	return best, nil
}

// judgeSteps takes over what was checked in all steps of a search: a contract is broken by the whole of it, as a guarantee is,
// although the figures are those of a step that kept it.
func (res *Result) judgeSteps(all Result) {
	told := res.Breaches > 0
	if res.Validated, res.Breaches, res.FirstBreach = all.Validated, all.Breaches, all.FirstBreach; !told {
		res.judgeBreaches()
	}
}

// settled is a search's result: best at rate lo, the highest that held, and worst at hi, the lowest that didn't; 0 = none.
func settled(best, worst Result, lo, hi float64) Result {
	if lo == 0 {
		best = worst
	}
	best.Highest = round(lo, 1)
	if hi == 0 {
		best.Notes = append(best.Notes, fmt.Sprintf("even the highest rate of the plan, %s, met the thresholds: more may be possible", perSecond(lo)))
	}
	if hi > 0 && lo > 0 && worst.Verdict == Invalid {
		best.doubt(fmt.Sprintf("above %s%s", perSecond(lo), generatorLimit))
	}
	return best
}

// counts are how often each outcome occurred.
func (r Result) counts() map[vocab.Outcome]int64 {
	out := map[vocab.Outcome]int64{}
	for _, o := range r.Outcomes {
		if o.Name != everything {
			out[o.Name] = o.Count
		}
	}
	return out
}

// Ends says how often each outcome occurred in a step.
func (s Step) Ends() string {
	var out []string
	for _, name := range outcomes {
		if n := s.Outcomes[name]; n > 0 {
			out = append(out, amount.Number(n)+" "+string(name))
		}
	}
	return strings.Join(out, ", ")
}

func (r *runner) try(ctx context.Context, rate float64) (Result, error) {
	s := &schedule{}
	s.add(rate, rate, time.Duration(r.plan.Duration).Seconds())
	s.close()
	r.tried++ // rates may look alike, and the step's keys come from its name
	return r.step(ctx, s, fmt.Sprintf("%s-%d-%s", r.plan.Name, r.tried, number(round(rate, 1))))
}

// nextRate is the rate to try between the best that held and the lowest that
// did not (0: none yet); 0 when the search is over.
func nextRate(lo, hi, top, precision float64) float64 {
	switch {
	case hi == 0 && lo >= top:
		return 0
	case hi == 0:
		return min(lo*2, top)
	case lo == 0 && hi <= 1:
		return 0
	case lo == 0:
		return hi / 2
	case hi/lo-1 <= precision:
		return 0
	}
	if mid := (lo + hi) / 2; lo < mid && mid < hi {
		return mid
	}
	return 0 // no number lies between them
}
