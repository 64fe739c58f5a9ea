package loadtest

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

var update = flag.Bool("update", false, "write the golden files")

// goldenRun is a run in fake time, so every number in its report is exact.
func goldenRun(t *testing.T, dir, baseline string) Result {
	t.Helper()
	f := newFake()
	f.work = func(n int) (int, string) {
		time.Sleep(time.Duration(20+n%60) * time.Millisecond)
		if n%100 == 99 {
			return 409, "offline"
		}
		return 200, ""
	}
	target, o := bubble(f)
	o.OutDir, o.Baseline = dir, baseline
	p := mustParse(t, "name: evening\nrate: 100/s\nduration: 5s\nrepeatedKeys: 10%\nrepeatedAtOnce: 0%\nthresholds: {p99_reported: 50ms, errors: 0, rate_min: 99/s}")
	res := must.Get(Run(t.Context(), target, p, o))(t)
	return res
}

// ofThisMachine matches the lines that differ between machines or runs.
var ofThisMachine = regexp.MustCompile(`(?m)^(go1\.[0-9.]+, \w+/\w+, \d+ CPUs?, GOMAXPROCS \d+|generator: CPU [0-9.]+ cores, memory [0-9,]+ MB, [0-9,]+ garbage collections? \([0-9., a-z]+ in total\))\n`)

func TestTextGolden(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "report.txt")
	want, _ := os.ReadFile(golden) // if absent, the comparison fails
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		whole := goldenRun(t, dir, "").Text()
		if n := len(ofThisMachine.FindAllString(whole, -1)); n != 2 {
			t.Errorf("%d lines about machine and generator, want 2, in\n%s", n, whole)
		}
		got := ofThisMachine.ReplaceAllString(whole, "")
		if *update {
			want = []byte(got)
			must.OK(t, os.WriteFile(golden, want, 0o600))
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("run with -update to accept; -want +got\n%s", diff)
		}
		if same, _ := os.ReadFile(filepath.Join(dir, "report.txt")); string(same) != whole {
			t.Error("report.txt differs")
		}
	})
}

func TestResultFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		res := goldenRun(t, dir, "")
		read := must.Get(ReadResult(dir))(t)
		a, _ := json.Marshal(res)
		b, _ := json.Marshal(read)
		if string(a) != string(b) {
			t.Error("result.json does not read back")
		}
		h, err := hdrhistogram.Decode([]byte(read.Outcomes[0].Scheduled.HDR))
		if err != nil || h.TotalCount() != 500 {
			t.Errorf("histogram: %v, want 500 values", err)
		}
		page := must.Get(os.ReadFile(filepath.Join(dir, "report.html")))(t)
		html := string(page)
		for _, want := range []string{"evening: ", "FAIL", `class="l c1"`, "p99_reported", "Distribution"} {
			if !strings.Contains(html, want) {
				t.Errorf("page lacks %q", want)
			}
		}
		if m := regexp.MustCompile(`\bsrc\s*=|href="[^#]|\burl\(|ZgotmplZ|NaN`).FindString(html); m != "" {
			t.Errorf("page has %q: it must load nothing and show numbers", m)
		}
	})
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		before := goldenRun(t, dir, "")
		again := goldenRun(t, t.TempDir(), dir)
		for _, c := range again.Compare.Changes {
			if c.Verdict != "same" {
				t.Errorf("the same run is %+v, want Verdict same", c)
			}
		}
		slower := before
		slower.Series = slices.Clone(before.Series)
		for i := range slower.Series {
			slower.Series[i].P99 *= 1.5
			slower.Series[i].P50 /= 2
		}
		c := compare(dir, before, slower)
		if c.Changes[1].Verdict != "better" || c.Changes[2].Verdict != "worse" {
			t.Errorf("compared: %+v, want the p50 better and the p99 worse", c)
		}
		silent, late := before, before
		silent.Outcomes = slices.Clone(before.Outcomes)
		for i := range silent.Outcomes {
			silent.Outcomes[i].Count /= 2
		}
		late.AnsweredBy = 2*before.Seconds + promptly
		for name, r := range map[string]Result{"half of the answers": silent, "answers that come until twice the time": late} {
			if c := compare(dir, before, r).Changes[0]; c.Verdict != "worse" || c.Is() != "50/s" {
				t.Errorf("%s: %+v, want 50/s, which is worse", name, c)
			}
		}
		for name, change := range map[string]func(*Result){
			"shard all, now 1/2":                      func(r *Result) { r.Shard = &Shard{Index: 1, Of: 2} },
			"requests sent all, now 50 of":            func(r *Result) { r.Sent = 50 },
			"figures sound, now the generator lagged": func(r *Result) { r.Doubts = []string{"the generator lagged"} },
			"figures sound, now interrupted after 10": func(r *Result) { r.Verdict, r.Reasons = Invalid, []string{"interrupted after 10"} },
		} {
			other := before
			change(&other)
			c := compare(dir, before, other)
			if !strings.Contains(strings.Join(c.Unlike, "\n"), name) || slices.ContainsFunc(c.Changes, func(c Change) bool { return c.Verdict != unlikeRuns }) {
				t.Errorf("want nothing comparable because of %q, got %v\n%v", name, c.Unlike, c.Changes)
			}
		}
		target, o := bubble(newFake())
		o.Baseline = filepath.Join(dir, "none.json")
		if res, err := Run(t.Context(), target, mustParse(t, "rate: 1\nduration: 1s"), o); err == nil || res.Sent > 0 {
			t.Error("it ran without its baseline")
		}
	})
}

func TestThresholdForms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.work = func(int) (int, string) { time.Sleep(40 * time.Millisecond); return 200, "" }
		target, o := bubble(f)
		p := mustParse(t, "rate: 100\nduration: 1s")
		p.Thresholds = map[string]string{
			"p50_all": "41ms", "service_p99.9_reported": "41ms", "mean_reported": "39ms", "max_reported": "39ms", "errors": "0",
			"reported_min": "101", "reported_max": "100%", "offline_max": "0", "p99_offline": "1ms", "rate_min": "6000/m", "lag_p99": "1ms",
		}
		res := must.Get(Run(t.Context(), target, p, o))(t)
		broken := map[string]bool{"mean_reported": true, "max_reported": true, "reported_min": true, "p99_offline": true}
		for _, h := range res.Thresholds {
			if h.OK == broken[h.Name] {
				t.Errorf("%s holds: %t, want %t", h.Name, h.OK, !broken[h.Name])
			}
		}
		if len(res.Reasons) != 4 || res.Verdict != Fail {
			t.Errorf("%s for %q, want FAIL for four reasons", res.Verdict, res.Reasons)
		}
	})
}

// A server that handles 700/s and drops the rest.
func TestSearchFindsTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var free time.Time // one worker, 1/700 s per command
		f.work = func(int) (int, string) {
			f.mu.Lock()
			now := time.Now()
			if free.Before(now) {
				free = now
			}
			free = free.Add(time.Second / 700)
			wait := free.Sub(now)
			f.mu.Unlock()
			time.Sleep(wait)
			return 200, ""
		}
		target, o := bubble(f)
		o.OutDir = t.TempDir()
		res, err := Run(t.Context(), target, mustParse(t, "pacer: search\nrate: 300\nto: 1200\nduration: 1s\nprecision: 5%\nthresholds: {p99_reported: 20ms}"), o)
		if err != nil || res.Verdict != Pass {
			t.Fatalf("want PASS, got %s, %v\n%s", res.Verdict, err, res.Text())
		}
		if res.Highest < 660 || res.Highest > 740 || len(res.Search) < 5 {
			t.Errorf("highest rate %g of %v, want 660 to 740 after at least 5 steps", res.Highest, res.Search)
		}
		if p := res.Processes; len(p) != 1 || p[0].Seconds < 0.9 || p[0].Seconds > 2 {
			t.Errorf("used: %+v, want what the generator used in one step of a second", p)
		}
	})
}

// TestInterruptedSearch: its figures are those of the highest rate that met the thresholds so far, as the headline says.
func TestInterruptedSearch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		target, o := bubble(newFake())
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		res, err := Run(ctx, target, mustParse(t, "pacer: search\nrate: 100\nto: 400\nduration: 1s\nthresholds: {errors: 0}"), o)
		if err == nil || res.Verdict != Invalid || res.Highest != 100 || res.Sent != 100 || len(res.Reasons) != 1 || !strings.HasPrefix(res.Reasons[0], "the step at 200/s was interrupted after ") {
			t.Errorf("got %v, %s, %q, %d sent, highest %g; want INVALID for the step at 200/s, and the 100 requests of that before", err, res.Verdict, res.Reasons, res.Sent, res.Highest)
		}
	})
}

func TestNextRate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ lo, hi, top, want float64 }{
		"doubles":               {100, 0, 1000, 200},
		"stops at the top":      {800, 0, 1000, 1000},
		"top held":              {1000, 0, 1000, 0},
		"first broke":           {0, 100, 1000, 50},
		"nothing holds":         {0, 1, 1000, 0},
		"halves":                {100, 200, 1000, 150},
		"close enough":          {100, 104, 1000, 0},
		"still too far between": {100, 106, 1000, 103},
	} {
		if got := nextRate(tt.lo, tt.hi, tt.top, 0.05); got != tt.want {
			t.Errorf("%s: %g, want %g", name, got, tt.want)
		}
	}
}

// TestSends: what was sent, and only what there was of the rest.
func TestSends(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Result{
		"sent 150 of 150 requests in 3 s (50/s as planned)":                                                     {Sent: 150, Planned: 150, Seconds: 3, SentRate: 50, PlannedRate: 50},
		"sent 90 of 100 requests in 2.5 s (40/s of 50/s); 9 with repeated keys, 1 sent again after a new token": {Sent: 90, Planned: 100, Seconds: 2.5, SentRate: 40, PlannedRate: 50, Repeats: 9, Renewed: 1},
	} {
		if got := r.Sends(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
