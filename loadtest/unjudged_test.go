package loadtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestNotJudgedReadsSo: a limit that wasn't broken isn't called kept in any report if the figures don't describe the system,
// and the reason stands beside it.
func TestNotJudgedReadsSo(t *testing.T) {
	t.Parallel()
	ok := []Threshold{{Name: "p99_all", Limit: "500ms", Value: "20 ms", OK: true}}
	apart := []Threshold{{Name: "rate_min", Limit: "5/s", Value: unjudged, OK: true}}
	found := []Step{{Rate: 1700, Verdict: Pass}, {Rate: 1800, Verdict: Invalid}}
	const limit = "above 1,700/s the generator was the limit"
	const lag, turns = "the generator lagged: p99 3 s behind the plan, allowed 100 ms", "rate_min can't be judged: the generators started 3 s apart, more than 1 s; see --start-at"
	for name, c := range map[string]struct {
		r    Result
		why  string
		word string
	}{
		"a run that counts":             {Result{Verdict: Pass, Thresholds: ok}, "", "ok"},
		"a generator that lagged":       {Result{Verdict: Invalid, Thresholds: ok, Doubts: []string{lag}, Reasons: []string{lag}}, lag, "not judged"},
		"also if something is broken":   {Result{Verdict: Fail, Thresholds: ok, Doubts: []string{lag}, Reasons: []string{lag}}, lag, "not judged"},
		"an older result":               {Result{Verdict: Invalid, Thresholds: ok, Reasons: []string{lag}}, lag, "not judged"},
		"a doubt about a guarantee":     {guaranteed("CMD-1: 3 of 4 boards couldn't be judged", ok), "", "ok"},
		"guarantees that aren't judged": {guaranteed("the guarantees are not judged: doorlab ended before that", ok), "", "ok"},
		"an unread history":             {guaranteed("the history could not be read: connection refused", ok), "", "ok"},
		"a guarantee of a shard":        {guaranteed("shard 2/4: CMD-1: 3 of 4 boards couldn't be judged", ok), "", "ok"},
		"an unread history of a part":   {guaranteed("part 2: the history could not be read: EOF", ok), "", "ok"},
		"a shard that lagged":           {guaranteed("shard 2/4: "+lag, ok), "shard 2/4: " + lag, "not judged"},
		"a guarantee and a lag":         {Result{Verdict: Invalid, Thresholds: ok, Doubts: []string{"CMD-1: none", lag}, Reasons: []string{lag}}, lag, "not judged"},
		"the best step of a search":     {Result{Verdict: Invalid, Thresholds: ok, Search: found, Doubts: []string{limit}, Reasons: []string{limit}}, "", "ok"},
		"the best step of an older one": {Result{Verdict: Invalid, Thresholds: ok, Search: found, Reasons: []string{limit}}, "", "ok"},
		"generators apart":              {Result{Verdict: Invalid, Thresholds: apart, Doubts: []string{lag, turns}, Reasons: []string{lag, turns}}, turns, "not judged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.r
			if got := r.Said(r.Thresholds[0]); got.Word != c.word || got.Why != c.why {
				t.Errorf("got %q %q, want %q %q", got.Word, got.Why, c.word, c.why)
			}
			dir := t.TempDir()
			must.OK(t, r.Write(dir))
			for _, file := range []string{"report.txt", "summary.md", "report.html", "junit.xml", "report.tap", "result.json"} {
				text := strings.NewReplacer("&#39;", "'", "&#34;", `"`).Replace(string(must.Get(os.ReadFile(filepath.Join(dir, file)))(t)))
				words := c.word
				switch {
				case file == "result.json" || file == "junit.xml" || file == "report.tap": // they have no word for ok
					words = c.why
				}
				if !strings.Contains(text, words) || !strings.Contains(text, c.why) || c.why != "" && strings.Contains(text, ">ok<") {
					t.Errorf("%s lacks %q or the reason %q:\n%.3000s", file, words, c.why, text)
				}
			}
			var kept struct{ Thresholds []Threshold }
			must.OK(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "result.json")))(t), &kept))
			if kept.Thresholds[0].NotJudged != c.why {
				t.Errorf("result.json: got notJudged %q, want %q", kept.Thresholds[0].NotJudged, c.why)
			}
		})
	}
}

// guaranteed is an INVALID result with one doubt.
func guaranteed(why string, limits []Threshold) Result {
	return Result{Verdict: Invalid, Thresholds: limits, Doubts: []string{why}, Reasons: []string{why}}
}

// TestLimitOfTheGenerator: a search that the generator ended is INVALID, and isn't compared with one that found the system's
// limit, although its best step kept its thresholds.
func TestLimitOfTheGenerator(t *testing.T) {
	t.Parallel()
	best := Result{Verdict: Pass, Thresholds: []Threshold{{Name: "p99_all", OK: true}}}
	r := settled(best, Result{Verdict: Invalid}, 1700, 1800)
	if r.Verdict != Invalid || r.Said(r.Thresholds[0]).Word != "ok" || sound(r) != "above 1,700/s the generator was the limit" {
		t.Errorf("got %s, %q, figures %q, want INVALID with a threshold that is ok and figures in doubt", r.Verdict, r.Said(r.Thresholds[0]), sound(r))
	}
}

// TestRateOfGeneratorsApart: the merge of generators that started apart says that their rate wasn't judged, and why.
func TestRateOfGeneratorsApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parts := generators(t, 4)
		parts[3].Started = parts[3].Started.Add(1200 * time.Millisecond)
		m := merge(parts, nil)
		for _, th := range m.Thresholds {
			if got := m.Said(th); got.Word != "not judged" || !strings.Contains(got.Why, "the generators started 1.2 s apart") {
				t.Errorf("%s: got %q %q, want that it isn't judged, because they started apart", th.Name, got.Word, got.Why)
			}
		}
	})
}

// TestShows: a threshold that wasn't judged, or that nothing could break, shows nothing; slow answers to a generator that
// lagged accuse nobody, too many wrong ones do.
func TestShows(t *testing.T) {
	t.Parallel()
	const lag = "the generator lagged: p99 2 s behind the plan, allowed 100 ms"
	sound, lagged := Result{Verdict: Fail, Sent: 10}, Result{Verdict: Fail, Sent: 10, Doubts: []string{lag}}
	for name, c := range map[string]struct {
		of   Result
		t    Threshold
		want judge.Status
	}{
		"met":                        {sound, Threshold{Name: "errors", Limit: "0", Value: "0", OK: true}, judge.Pass},
		"broken":                     {sound, Threshold{Name: "p99_all", Limit: "1ms", Value: "2 ms"}, judge.Fail},
		"nothing could break it":     {sound, Threshold{Name: "errors", Limit: "100%", Value: "0%", OK: true, Idle: true}, judge.Invalid},
		"met in doubt":               {lagged, Threshold{Name: "p99_all", Limit: "1s", Value: "2 ms", OK: true}, judge.Invalid},
		"slow in doubt":              {lagged, Threshold{Name: "calm: p99_all", Limit: "1ms", Value: "2 ms"}, judge.Invalid},
		"wrong in doubt":             {lagged, Threshold{Name: "calm: errors", Limit: "0", Value: "3"}, judge.Fail},
		"too few in doubt":           {lagged, Threshold{Name: "reported_min", Limit: "3", Value: "2"}, judge.Invalid},
		"nothing to measure, broken": {sound, Threshold{Name: "p99_offline", Limit: "1s", Value: none}, judge.Fail},
	} {
		if got, why := c.of.Shows(c.t); got != c.want || why == "" {
			t.Errorf("%s: got %s, %q, want %s and why", name, got, why, c.want)
		}
	}
}
