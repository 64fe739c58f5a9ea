package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/loadtest"
)

// shardsTest skips what is too slow for every change: make shards-test plays it.
func shardsTest(t *testing.T) {
	t.Helper()
	if os.Getenv("DOORLAB_SHARDS_TEST") == "" {
		t.Skip("set DOORLAB_SHARDS_TEST=1, or run make shards-test")
	}
}

// spent runs doorlab, which has to exit with want, and says what that took. It judges no time: the machine may be busy.
func spent(t *testing.T, want int, args ...string) (rssMB int64) {
	t.Helper()
	cmd := command(nil, args...)
	began := clock.Mono()
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("%v exits %d (%v), want %d\n%s", args, code, err, want, out)
	}
	rssMB = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("%s %s: %.1f s, %.1f s of a processor, %d MB", args[0], filepath.Base(args[len(args)-1]), (clock.Mono() - began).Seconds(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), rssMB)
	return rssMB
}

// latency is a distribution of n hits.
func latency(rng *rand.Rand, n int) loadtest.Latency {
	h := hdrhistogram.New(1, 600_000_000, 3)
	for range n {
		_ = h.RecordValue(int64(20_000 + rng.ExpFloat64()*15_000))
	}
	text, _ := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return loadtest.Latency{HDR: string(text)}
}

// million is the result of a shard that sent a million requests in 1,000 s.
func million(i, of int) loadtest.Result {
	const hits, seconds = 1_000_000, 1000
	rng := rand.New(rand.NewPCG(1, uint64(i)))
	plan := loadtest.Plan{Name: "million", Pacer: "constant", Rate: loadtest.Rate(of * hits / seconds), Duration: loadtest.Duration(seconds * time.Second),
		Thresholds: map[string]string{"p99_all": "200ms", "rate_min": strconv.Itoa(of*hits/seconds - 1), "errors": "0"}}
	r := loadtest.Result{Schema: loadtest.SchemaVersion, Plan: plan, Verdict: loadtest.Pass, Seed: 1, Planned: hits, Sent: hits, Attempts: hits, Seconds: seconds,
		PlannedRate: hits / seconds, SentRate: hits / seconds, Started: time.Unix(1_795_000_000, int64(i)*1e6).UTC(), Lag: latency(rng, hits), Statuses: map[string]int64{"200": hits},
		Shard: &loadtest.Shard{Index: i, Of: of, World: "w"}}
	for _, name := range []vocab.Outcome{"all", vocab.Reported} {
		r.Outcomes = append(r.Outcomes, loadtest.Outcome{Name: name, Count: hits, Service: latency(rng, hits), Scheduled: latency(rng, hits)})
	}
	for s := range seconds {
		r.Series = append(r.Series, loadtest.Point{Second: s, Planned: hits / seconds, Sent: hits / seconds, P50: 30, P99: 90, Max: 200, Outcomes: map[vocab.Outcome]int64{vocab.Reported: hits / seconds}})
	}
	for p := range 1000 {
		r.Shard.Places = append(r.Shard.Places, fmt.Sprintf("plc_%d_%d", i, p))
	}
	r.Guarantees = &loadtest.Guarantees{Verdicts: []judge.Verdict{{Clause: "CMD-1", Promise: judge.Promise("CMD-1"), Status: judge.Pass, Checked: hits, Number: "1,000,000 commands reported, one actuation each"}}}
	return r
}

// TestMergeOfTenMillion: ten shards of a million requests each.
func TestMergeOfTenMillion(t *testing.T) {
	shardsTest(t)
	root := t.TempDir()
	args := []string{"merge", "--quiet"}
	for i := 1; i <= 10; i++ {
		dir := filepath.Join(root, strconv.Itoa(i))
		must.OK(t, os.MkdirAll(dir, 0o755))
		must.OK(t, million(i, 10).Write(dir))
		args = append(args, dir)
	}
	out := filepath.Join(root, "merged")
	if rss := spent(t, codeOK, append(args, "--out", out)...); rss > 500 {
		t.Errorf("the merge took %d MB, want at most 500", rss)
	}
	res, err := loadtest.ReadResult(out)
	if err != nil || res.Sent != 10_000_000 || res.Outcomes[0].Count != 10_000_000 || res.Guarantees.Rows[0].Checked != 10_000_000 {
		t.Errorf("merged %d requests, %v, want 10,000,000", res.Sent, err)
	}
}

// TestShardsOfARealLoad: a load as one to four shards, each against its own server, has the
// counts of one generator, and one ledger.
func TestShardsOfARealLoad(t *testing.T) {
	shardsTest(t)
	root := t.TempDir()
	plan := filepath.Join(root, "plan.yaml")
	must.OK(t, os.WriteFile(plan, []byte("rate: 100/s\nduration: 10s\nrepeatedKeys: 10%\nmaxLag: 10s\nthresholds: {errors: 0, reported_min: 100%}\n"), 0o600))
	type counts struct {
		Verdict                                    string
		Planned, Sent, Attempts, Repeats, Replayed int64
		PlannedRate                                float64
		Statuses                                   map[string]int64
		Judged                                     int
	}
	of := func(dir string) counts {
		r := must.Get(loadtest.ReadResult(dir))(t)
		t.Logf("%s: p50 %.1f ms, p99 %.1f ms", filepath.Base(dir), r.Outcomes[0].Scheduled.P50, r.Outcomes[0].Scheduled.P99)
		c := counts{r.Verdict, r.Planned, r.Sent, r.Attempts, r.Repeats, r.Replayed, r.PlannedRate, r.Statuses, 0}
		for _, row := range r.Guarantees.Rows {
			if row.Clause == "CMD-1" {
				c.Judged = row.Checked
			}
		}
		return c
	}
	whole := filepath.Join(root, "whole")
	spent(t, codeOK, "load", plan, "--boards", "100", "--quiet", "--out", whole)
	want := of(whole)
	for n := 1; n <= 4; n++ {
		args := []string{"merge", "--quiet"}
		for i := 1; i <= n; i++ {
			dir := filepath.Join(root, fmt.Sprintf("%d-of-%d", i, n))
			spent(t, codeOK, "load", plan, "--boards", "100", "--quiet", "--shard", fmt.Sprintf("%d/%d", i, n), "--out", dir)
			args = append(args, dir)
		}
		out := filepath.Join(root, fmt.Sprintf("%d-merged", n))
		code := codeOK
		if n > 1 { // they took turns, so the planned rate was never sent
			want.Verdict, code = loadtest.Invalid, codeInvalid
		}
		spent(t, code, append(args, "--out", out)...)
		if diff := cmp.Diff(want, of(out)); diff != "" {
			t.Errorf("%d shards merged differ from one run (-one +merged)\n%s", n, diff)
		}
	}
}

// TestHundredThousandBoards: 100,000 boards as ten shards, one after another on one machine,
// in one ledger.
func TestHundredThousandBoards(t *testing.T) {
	shardsTest(t)
	root := t.TempDir()
	plan := filepath.Join(root, "plan.yaml")
	must.OK(t, os.WriteFile(plan, []byte("rate: 500/s\nduration: 20s\nrepeatedKeys: 10%\nmaxLag: 10s\n"), 0o600))
	args := []string{"merge", "--quiet"}
	for i := 1; i <= 10; i++ {
		dir := filepath.Join(root, strconv.Itoa(i))
		spent(t, codeOK, "load", plan, "--boards", "100000", "--quiet", "--shard", fmt.Sprintf("%d/10", i), "--out", dir)
		args = append(args, dir)
	}
	out := filepath.Join(root, "merged")
	spent(t, codeInvalid, append(args, "--out", out)...) // they took turns
	res, err := loadtest.ReadResult(out)
	if err != nil || res.Sent != 10_000 || res.Repeats != 1000 {
		t.Errorf("merged %d requests, %d repeats, %v, want 10,000 and 1,000", res.Sent, res.Repeats, err)
	}
	for _, row := range res.Guarantees.Rows {
		t.Log(row)
	}
}
