package loadtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/doorlab/doorlab/internal/amount"
)

// within is ms for "within ...", where less than a millisecond is one.
func within(v float64) string { return ms(max(v, 1)) }

// Sentence is what the run came to, for people. Its latencies are those of the answers: how soon a request was given up
// says nothing about how soon others were answered.
func (r Result) Sentence() string {
	if r.Sent == 0 {
		return "Nothing was sent."
	}
	out := fmt.Sprintf("Sent %s of %s requests at %s per second: ", amount.Number(r.Sent), amount.Number(r.Planned), inSecond(r.SentRate))
	silent := r.silent()
	switch l, known := r.answered(); {
	case silent == 0:
		out += fmt.Sprintf("half were answered within %s, 99%% within %s, all within %s.", within(l.P50), within(l.P99), within(l.Max))
	case silent >= r.Sent:
		out += fmt.Sprintf("none was answered (%s).", causes(r.Errors))
	default:
		switch n := r.Sent - silent; {
		case !known:
			out += amount.Number(n) + " got an answer"
		case n == 1:
			out += "1 was answered, within " + within(l.Max)
		default:
			out += fmt.Sprintf("%s were answered, half within %s, 99%% within %s, all within %s", amount.Number(n), within(l.P50), within(l.P99), within(l.Max))
		}
		out += fmt.Sprintf("; %s got no answer (%s).", amount.Number(silent), causes(r.Errors))
	}
	if r.Highest > 0 {
		out = fmt.Sprintf("Highest rate within the thresholds: %s; the figures are for that step. ", perSecond(r.Highest)) + out
	}
	return out
}

// Headline is what decided the verdict, if it isn't PASS, and then the sentence.
func (r Result) Headline() string {
	whys := r.Whys()
	if len(whys) == 0 {
		return r.Sentence()
	}
	why, _, _ := strings.Cut(whys[0], "\n")
	why = strings.TrimRight(why, ".:")
	if more := len(whys) - 1; more > 0 {
		why += fmt.Sprintf(" (and %s)", amount.Many(more, "more reason"))
	}
	return why + ". " + r.Sentence()
}

// silent is how many requests got no answer.
func (r Result) silent() int64 { return r.outcome(noAnswer).Count }

// answered is the latency of the requests that got an answer. known is false if the result lacks their histograms.
func (r Result) answered() (l Latency, known bool) {
	if r.silent() == 0 {
		return r.outcome(everything).Scheduled, true
	}
	sum := newHistogram()
	for _, o := range r.Outcomes {
		if o.Name == everything || o.Name == noAnswer {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(o.Scheduled.HDR))
		if err != nil {
			return Latency{}, false
		}
		sum.Merge(h)
	}
	return summarize(sum), sum.TotalCount() > 0
}

// causes says why requests got no answer, the most frequent first: "timeout 17, connection refused 3".
func causes(errors map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(errors), func(a, b string) int { return cmp.Or(cmp.Compare(errors[b], errors[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = name + " " + amount.Number(errors[name])
	}
	return strings.Join(names, ", ")
}

// included reminds readers of figures over all requests that some of them are no answers; "" if all were answered.
func (r Result) included() string {
	if n := r.silent(); n > 0 {
		return fmt.Sprintf("; all includes %s without an answer", amount.Many(int(n), "request"))
	}
	return ""
}

// mostSilent is the share of requests without an answer up to which a plan without a threshold on them may pass.
const mostSilent = 0.05

// limitsSilence reports whether a threshold of the plan limits requests without an answer: their number or share, a minimum
// of answers, or a latency of all requests.
func (p Plan) limitsSilence() bool {
	for _, limits := range p.limits {
		for name, text := range limits {
			l, err := parseThreshold(name, text)
			if err == nil && (l.measure == "errors" || l.outcome == noAnswer || l.atLeast || l.outcome == everything) {
				return true
			}
		}
	}
	return false
}

// judgeSilence keeps a load without a single answer from PASS: it is evidence of nothing. What makes the run FAIL says more
// to its readers.
//
// strict: more than a few silent requests that no threshold limits do so, too. A scenario has expectations of its own.
func (r *Result) judgeSilence(strict bool) {
	switch silent := r.silent(); {
	case r.Sent == 0:
		return
	case silent < r.Sent:
		if strict && r.Verdict == Pass && float64(silent) > mostSilent*float64(r.Sent) && !r.Plan.limitsSilence() {
			r.doubt(fmt.Sprintf("%s of %s requests weren't answered (%s), and the plan has no threshold for that, such as errors: 1%%",
				amount.Number(silent), amount.Number(r.Sent), causes(r.Errors)))
		}
		return
	}
	none := fmt.Sprintf("none of the %s requests was answered", amount.Number(r.Sent))
	if r.Sent == 1 {
		none = "the only request wasn't answered"
	}
	none += ": " + causes(r.Errors)
	if r.Verdict == Fail {
		r.Doubts = append(r.Doubts, none)
		return
	}
	r.doubt(none)
}
