package loadtest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Outcomes of a hit besides a command's, of which each is a right answer.
const (
	rejected   vocab.Outcome = "rejected" // any other answer; of a request that is neither command nor link, any but a success
	noAnswer   vocab.Outcome = "error"    // none at all
	everything vocab.Outcome = "all"      // only in reports and thresholds
)

var outcomes = append([]vocab.Outcome{vocab.Reported, vocab.Offline, vocab.Refused, vocab.NoResponse, rejected, noAnswer}, kinds...)

// limit is a parsed threshold: a time, a count or a share of the hits, a rate.
type limit struct {
	measure  string // p, mean, max, errors, rate, count, lag
	quantile float64
	outcome  vocab.Outcome
	service  bool // service time instead of since scheduled
	atLeast  bool
	value    float64 // milliseconds, count, or per second
	share    bool
}

var (
	latencyName = regexp.MustCompile(`^(service_)?(p\d+(?:\.\d+)?|mean|max)_([A-Za-z]+)$`)
	countName   = regexp.MustCompile(`^([A-Za-z]+)_(min|max)$`)
)

// parseThreshold reads one threshold; docs/load-testing.md lists the names.
func parseThreshold(name, text string) (limit, error) {
	text = strings.TrimSpace(text)
	if m := latencyName.FindStringSubmatch(name); m != nil && (slices.Contains(outcomes, vocab.Outcome(m[3])) || m[3] == string(everything)) {
		l := limit{measure: m[2], outcome: vocab.Outcome(m[3]), service: m[1] != ""}
		if m[2][0] == 'p' {
			l.measure = "p"
			l.quantile, _ = strconv.ParseFloat(m[2][1:], 64) // digits by the pattern
			if l.quantile <= 0 || l.quantile > 100 {
				return limit{}, fmt.Errorf("%s is not a percentile: write p and a number above 0, at most 100", m[2])
			}
		}
		return l.time(text)
	}
	if name == "errors" {
		return limit{measure: "errors"}.count(text)
	}
	if name == "rate_min" {
		var r Rate
		err := r.UnmarshalText([]byte(text))
		return limit{measure: "rate", atLeast: true, value: float64(r)}, err
	}
	if name == "lag_p99" {
		return limit{measure: "lag"}.time(text)
	}
	if m := countName.FindStringSubmatch(name); m != nil && slices.Contains(outcomes, vocab.Outcome(m[1])) {
		return limit{measure: "count", outcome: vocab.Outcome(m[1]), atLeast: m[2] == "min"}.count(text)
	}
	hint := near.Hint(name, thresholdNames())
	if meant := elsewhere(name); meant != "" {
		hint = fmt.Sprintf(", did you mean %q?", meant)
	}
	hint = cmp.Or(hint, "; thresholds are a time of an outcome (p99_all, mean_reported, max_offline, service_p50_all), reported_min, refused_max, errors, rate_min and lag_p99")
	return limit{}, fmt.Errorf("unknown threshold %q%s", name, hint)
}

var (
	percentile = regexp.MustCompile(`^(?:http_req_duration[:_ ]?)?[pP]\(?(\d+(?:\.\d+)?)\)?$`)
	k6Names    = map[string]string{"http_req_failed": "errors", "http_req_duration": "p95_all", "http_reqs": "rate_min", "avg": "mean_all", "med": "p50_all", "max": "max_all"}
)

// elsewhere is the threshold that k6 and others call by another name; "" if nobody does.
func elsewhere(name string) string {
	if m := percentile.FindStringSubmatch(name); m != nil {
		return "p" + m[1] + "_" + string(everything)
	}
	return k6Names[name]
}

// thresholdNames are examples of every form, for the hint.
func thresholdNames() []string {
	names := []string{"errors", "rate_min", "lag_p99"}
	for _, o := range append([]vocab.Outcome{everything}, outcomes...) {
		name := string(o)
		for _, q := range []string{"p50_", "p90_", "p95_", "p99_", "p99.9_", "mean_", "max_"} {
			names = append(names, q+name, "service_"+q+name)
		}
		if o != everything {
			names = append(names, name+"_min", name+"_max")
		}
	}
	return names
}

func (l limit) time(text string) (limit, error) {
	var d Duration
	err := d.UnmarshalText([]byte(text))
	l.value = float64(d) / float64(time.Millisecond)
	return l, err
}

func (l limit) count(text string) (limit, error) {
	if strings.HasSuffix(text, "%") {
		var s Share
		err := s.UnmarshalText([]byte(text))
		l.share, l.value = true, float64(s)
		return l, err
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return l, fmt.Errorf("%q is neither a count nor a share like 1%%", text)
	}
	l.value = float64(n)
	return l, nil
}

// none is the value of a threshold that had nothing to measure.
const none = "none"

// judge measures one threshold on what was collected in a stretch of the load.
func (l limit) judge(name, text string, c *collector, from, seconds float64) Threshold {
	t := Threshold{Name: name, Limit: text}
	if c.sent == 0 { // such as a stage that is a pause, or that the load didn't reach: no figure is evidence
		t.Value = none
		return t
	}
	var v float64
	switch l.measure {
	case "p", "mean", "max":
		d := c.dist(l.outcome, l.service)
		if d.TotalCount() == 0 { // a limit on nothing is a mistake, or the outcome's failure
			return Threshold{Name: name, Limit: text, Value: none}
		}
		v = l.of(d)
	case "lag":
		v = float64(c.lag.ValueAtPercentile(99)) / 1000
	case "rate":
		v = c.answerRate(from, seconds)
	default:
		v = l.hits(c)
		if l.share {
			v /= float64(c.sent)
		}
	}
	t.OK = v <= l.value
	if l.atLeast {
		t.OK = v >= l.value
	}
	if t.Value = l.said(v); !t.OK {
		t.Value = l.broken(v)
	}
	return t
}

// idle reports whether no answers to so many requests break the limit.
func (l limit) idle(sent float64, timeout time.Duration) bool {
	switch {
	case l.atLeast:
		return l.value <= 0
	case l.share:
		return l.value >= 1
	case l.measure == "errors" || l.measure == "count":
		return l.value >= sent
	case l.measure == "lag": // the generator's own
		return true
	case l.measure != "rate":
		return l.value >= timeout.Seconds()*1000
	}
	return false
}

// answers reports whether the limit is on what came back, which a generator that
// lags can't have caused: too many errors or too many of one outcome.
func (l limit) answers() bool {
	return !l.atLeast && (l.measure == "errors" || l.measure == "count")
}

// hits are how many of the requests the limit counts. What the generator couldn't send, or an interruption cancelled, is no error of
// the system.
func (l limit) hits(c *collector) float64 {
	silent := c.count(noAnswer) - c.unsent()
	switch {
	case l.measure == "errors":
		return float64(c.count(rejected) + silent)
	case l.outcome == noAnswer:
		return float64(silent)
	}
	return float64(c.count(l.outcome))
}

// unsent counts the requests that have no answer because of the generator.
func (c *collector) unsent() (n int64) {
	for _, name := range own {
		n += c.errors[name]
	}
	return n
}

// latency reports whether the limit is one of how long requests take.
func (l limit) latency() bool { return l.measure == "p" || l.measure == "mean" || l.measure == "max" }

// of reads a histogram, in milliseconds.
func (l limit) of(h *hdrhistogram.Histogram) float64 {
	switch l.measure {
	case "mean":
		return h.Mean() / 1000
	case "max":
		return float64(h.Max()) / 1000
	}
	return float64(h.ValueAtPercentile(l.quantile)) / 1000
}
