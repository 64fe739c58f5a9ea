package loadtest

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/mask"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Sample is one request of the run, to show what a broken threshold looks like; secrets are masked.
type Sample struct {
	Seq     uint64        `json:"seq"`
	Outcome vocab.Outcome `json:"outcome"`
	At      float64       `json:"at"`    // planned for this second of the run
	Since   float64       `json:"since"` // ms from then to the answer
	report.Exchange
}

// Kept per outcome: its first requests and its slowest.
const (
	firstKept   = 2
	slowestKept = 3
	sampleBytes = 2000 // of a body
)

// samples keeps a few requests of each outcome.
type samples map[vocab.Outcome]*sampled

type sampled struct{ first, slow []Sample }

// slower orders the slowest first.
func slower(a, b Sample) int { return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(a.Seq, b.Seq)) }

// take keeps the request if it is among the first or the slowest of its outcome; make is called only then.
func (s samples) take(outcome vocab.Outcome, since float64, make func() Sample) {
	of := each.Made(s, outcome, func() *sampled { return &sampled{} })
	early, late := len(of.first) < firstKept, len(of.slow) < slowestKept || since > of.slow[len(of.slow)-1].Since
	if !early && !late {
		return
	}
	one := make()
	if early {
		of.first = append(of.first, one)
	}
	if late {
		of.slow = append(of.slow, one)
		slices.SortFunc(of.slow, slower)
		of.slow = of.slow[:min(len(of.slow), slowestKept)]
	}
}

// list has all of them, each once, by the outcomes' usual order, the slowest first.
func (s samples) list() (out []Sample) {
	for _, name := range outcomes {
		of := s[name]
		if of == nil {
			continue
		}
		both := append(slices.Clone(of.slow), of.first...)
		slices.SortFunc(both, slower)
		out = append(out, slices.CompactFunc(both, func(a, b Sample) bool { return a.Seq == b.Seq && a.At == b.At })...)
	}
	return out
}

// sample is a result as a report may show it.
func sample(r *vegeta.Result, outcome vocab.Outcome, due time.Duration, since time.Duration) Sample {
	s := Sample{Seq: r.Seq, Outcome: outcome, At: round(due.Seconds(), 3), Since: millis(since),
		Exchange: report.Exchange{Method: r.Method, URL: mask.Text(pathOf(r.URL)), Request: mask.Text(r.Headers.Get(bodyHeader)), Status: int(r.Code), Ms: millis(r.Latency)}}
	ended := "answered after " + ms(s.Since)
	if outcome == noAnswer {
		s.Error, ended = mask.Text(r.Error), "failed after "+ms(s.Since)+" without an answer"
	}
	if s.Answer = mask.Text(string(r.Body)); len(s.Answer) > sampleBytes {
		s.Answer = s.Answer[:sampleBytes] + " … (cut)"
	}
	s.Note = fmt.Sprintf("%s: due at %s s, %s", outcome, amount.Number(s.At), ended)
	return s
}

// showing are the requests that a broken threshold is about: those of its outcome, or the worst of all.
func (r Result) showing(t Threshold) (out []report.Exchange) {
	from, to, name := r.within(t.Name)
	l, err := parseThreshold(name, t.Limit)
	if err != nil {
		return nil
	}
	late := func(s Sample) bool { return l.service && s.Ms > l.value || !l.service && s.Since > l.value }
	about := late
	switch {
	case l.measure == "errors":
		about = func(s Sample) bool { return s.Outcome == rejected || s.Outcome == noAnswer }
	case l.measure == "lag", l.measure == "rate":
		return nil // about the generator, or about all requests
	case l.atLeast:
		about = func(s Sample) bool { return s.Outcome != l.outcome }
	case l.measure == "count":
		about = func(s Sample) bool { return s.Outcome == l.outcome }
	case l.outcome != everything:
		about = func(s Sample) bool { return s.Outcome == l.outcome && late(s) }
	}
	return r.shown(func(s Sample) bool { return s.At >= from && s.At < to && about(s) })
}

// shown are a few requests, the slowest last, because reports open the last.
func (r Result) shown(about func(Sample) bool) (out []report.Exchange) {
	some := each.If(r.Samples, about)
	slices.SortStableFunc(some, slower)
	out = each.Of(some[:min(len(some), 2*slowestKept)], func(s Sample) report.Exchange { return s.Exchange })
	slices.Reverse(out)
	return out
}

// Shown are a few requests that illustrate what keeps a run from PASS: those of the broken thresholds, or else the
// worst that weren't reported.
func (r Result) Shown() (out []report.Exchange) {
	for _, t := range r.Thresholds {
		if !t.OK {
			out = append(out, r.showing(t)...)
		}
	}
	if len(out) == 0 {
		out = r.shown(func(s Sample) bool { return s.Outcome != vocab.Reported })
	}
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(x report.Exchange) bool {
		k := x.URL + x.Note
		defer func() { seen[k] = true }()
		return seen[k]
	})
	return out[max(0, len(out)-2*slowestKept):]
}

// mergeSamples selects again among the parts' samples.
func mergeSamples(parts []Result) []Sample {
	all := samples{}
	for _, p := range parts {
		for _, s := range p.Samples {
			all.take(s.Outcome, s.Since, func() Sample { return s })
		}
	}
	return all.list()
}

// pathOf is an address without the host, which is the target's.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.RequestURI()
}
