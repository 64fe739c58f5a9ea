package loadtest

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// partly is a run of a plan at 20/s against a server that doesn't answer some commands within the second of the plan's
// timeout.
func partly(t *testing.T, dir, more string, silent func(n int) bool) Result {
	t.Helper()
	f := newFake()
	f.work = func(n int) (int, string) {
		time.Sleep(20 * time.Millisecond)
		if silent(n) {
			time.Sleep(3 * time.Second)
		}
		return 200, ""
	}
	target, o := bubble(f)
	o.OutDir, o.Judge = dir, true
	return must.Get(Run(t.Context(), target, mustParse(t, "name: p\nrate: 20/s\nduration: 2s\ntimeout: 1s\n"+more), o))(t)
}

// TestNoAnswerIsNoEvidence: a load without a single answer is INVALID in every format, unless it is FAIL, and so is one with
// more than a few silent requests that no threshold limits; a threshold that allows them is enough.
func TestNoAnswerIsNoEvidence(t *testing.T) {
	t.Parallel()
	const none = "none of the 40 requests was answered: timeout 40"
	all := func(int) bool { return true }
	for name, c := range map[string]struct {
		plan          string
		silent        func(n int) bool
		verdict, want string
		code          int
	}{
		"no answer":                       {"", all, Invalid, none, 6},
		"thresholds that hold":            {"thresholds: {p99_all: 1m, refused_max: 0}", all, Invalid, none, 6},
		"a threshold on errors is broken": {"thresholds: {errors: 0}", all, Fail, "errors is 40; the limit is 0", 99},
		"one answer": {"", func(n int) bool { return n > 0 }, Invalid,
			"39 of 40 requests weren't answered (timeout 39), and the plan has no threshold for that, such as errors: 1%", 6},
		"one silent request":              {"", func(n int) bool { return n == 7 }, Pass, "", 0},
		"silence that a threshold allows": {"thresholds: {errors: 100%}", func(n int) bool { return n > 0 }, Pass, "", 0},
		"silence that doesn't slow answers": {"thresholds: {p99_reported: 1m}", func(n int) bool { return n > 0 }, Invalid,
			"39 of 40 requests weren't answered (timeout 39), and the plan has no threshold for that, such as errors: 1%", 6},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			r := partly(t, dir, c.plan, c.silent)
			if r.Verdict != c.verdict || r.ExitCode() != c.code || strings.Join(r.Reasons, "; ") != c.want {
				t.Errorf("%s: %s, exit %d, %q; want %s, exit %d, %q", name, r.Verdict, r.ExitCode(), r.Reasons, c.verdict, c.code, c.want)
			}
			for _, file := range []string{"result.json", "report.txt", "report.html", "summary.md", "junit.xml", "report.tap"} {
				if text := string(must.Get(os.ReadFile(filepath.Join(dir, file)))(t)); !strings.Contains(html.UnescapeString(text), c.want) {
					t.Errorf("%s: %s lacks %q", name, file, c.want)
				}
			}
			again := merge([]Result{r, partly(t, t.TempDir(), c.plan, c.silent)}, nil)
			if again.Verdict != Invalid && c.verdict == Invalid || again.Verdict == Pass && c.verdict != Pass {
				t.Errorf("%s: merged with another like it: %s, want %s", name, again.Verdict, c.verdict)
			}
			if r.Verdict == Invalid { // as a result of an older version says it
				r.Verdict, r.Reasons, r.Doubts = Pass, nil, nil
				if m := merge([]Result{r}, nil); m.Verdict != Invalid || m.Reasons[0] != c.want {
					t.Errorf("%s: merged as PASS: %s, %q, want %s, %q", name, m.Verdict, m.Reasons, Invalid, c.want)
				}
			}
		})
	}
}

// TestSentence: what got no answer isn't counted as answered, and its time isn't that of the answers.
func TestSentence(t *testing.T) {
	t.Parallel()
	for want, silent := range map[string]func(n int) bool{
		"Sent 40 of 40 requests at 20 per second: half were answered within 20 ms, 99% within 20 ms, all within 20 ms.":                                  func(int) bool { return false },
		"Sent 40 of 40 requests at 20 per second: 37 were answered, half within 20 ms, 99% within 20 ms, all within 20 ms; 3 got no answer (timeout 3).": func(n int) bool { return n < 3 },
		"Sent 40 of 40 requests at 20 per second: 1 was answered, within 20 ms; 39 got no answer (timeout 39).":                                          func(n int) bool { return n < 39 },
		"Sent 40 of 40 requests at 20 per second: none was answered (timeout 40).":                                                                       func(int) bool { return true },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := partly(t, t.TempDir(), "", silent)
			if got := r.Sentence(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			for name, text := range map[string]string{"the page": r.HTML(), "the text": r.Text()} {
				if said := strings.Contains(text, "without an answer"); said != (r.silent() > 0) {
					t.Errorf("%s says which figures include requests without an answer: %v, want %v", name, said, r.silent() > 0)
				}
			}
		})
	}
	if got := causes(map[string]int64{"timeout": 3, "connection refused": 1200, "no token": 3}); got != "connection refused 1,200, no token 3, timeout 3" {
		t.Errorf("got %s, want the most frequent first", got)
	}
	if got := (Result{Planned: 5}).Sentence(); got != "Nothing was sent." {
		t.Errorf("got %s, want that nothing was sent", got)
	}
}

// TestHeadline: what broke comes first.
func TestHeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := goldenRun(t, "", "")
		const want = "p99_reported is 79 ms; the limit is 50 ms. Sent 500 of 500"
		if got := r.Headline(); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		var md strings.Builder
		must.OK(t, r.WriteSummary(&md))
		for name, text := range map[string]string{"the page": r.HTML(), "the summary": md.String()} {
			if !strings.Contains(text, r.Headline()) {
				t.Errorf("%s doesn't begin with %s", name, r.Headline())
			}
		}
		for _, column := range []string{"mean", "p50", "p90", "p95", "p99", "p99.9", "max"} {
			if !strings.Contains(r.latencies(), " "+column+" ") || !strings.Contains(r.HTML(), `data-l="`+column+`"`) {
				t.Errorf("the tables of latencies lack %s in the text or on the page", column)
			}
		}
	})
}

// TestOneOutcome: the figures of the only outcome are those of all requests, and are told once.
func TestOneOutcome(t *testing.T) {
	t.Parallel()
	one := Outcome{Name: "reported", Count: 9, Scheduled: Latency{P50: 3}}
	all := one
	all.Name = everything
	other := one
	other.Name = "offline"
	for want, list := range map[string][]Outcome{"[]": nil, "[all (reported)]": {all, one}, "[all reported offline]": {all, one, other}} {
		var names []vocab.Outcome
		for _, o := range (Result{Outcomes: list}).rows() {
			names = append(names, o.Name)
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("got rows %s, want %s", got, want)
		}
	}
}
