package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/testbed"
)

// liar passes requests on to a server, but answers every tenth command with a success of
// its own: the door stays shut.
func liar(t *testing.T, server string) string {
	t.Helper()
	to := must.Get(url.Parse(server))(t)
	proxy, commands := httputil.NewSingleHostReverseProxy(to), atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/commands") && commands.Add(1)%10 == 0 {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"success":true,"data":{"commandId":"cmd_invented` + r.Header.Get("Idempotency-Key") + `","outcome":"reported"}}`))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// mergeRuns merges loads; the text is what was printed, or the error of a wrong usage.
func mergeRuns(t *testing.T, want int, dirs ...string) (res loadtest.Result, said string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "merged")
	args := append([]string{"merge", "--out", out}, dirs...)
	code, stdout, stderr := runQuietly(t.Context(), args...)
	if code != want {
		t.Fatalf("%v exits %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	if want == codeUsage {
		return res, stderr
	}
	res = must.Get(loadtest.ReadResult(out))(t)
	return res, stdout
}

// reported tells whether CMD-1 was judged on so many commands. Checked counts pulses, too, where the run was long enough
// for one to end.
func reported(r judge.Row, commands int64) bool {
	return strings.HasPrefix(r.Number, fmt.Sprintf("%d commands reported, ", commands))
}

// TestLoadWithItsBoards: generators that run the boards of their shard themselves prove the
// commands by what these did, without a control API of the server; and they find a server
// that says that a door opened which didn't.
func TestLoadWithItsBoards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := must.Get(testbed.Start(t.Context(), testbed.Config{World: world.Default(5, 40), Seeded: true, DataDir: t.TempDir()}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	plan := filepath.Join(dir, "plan.yaml")
	// Ten seconds, because a generator that is 2% late makes a run INVALID: 40 ms of two seconds, which a busy machine takes.
	must.OK(t, os.WriteFile(plan, []byte("rate: 8\nduration: 10s\nrepeatedKeys: 10%\nmaxLag: 10s\n"), 0o600))
	load := func(name, target string, want int, more ...string) loadtest.Result {
		t.Helper()
		out := filepath.Join(dir, name)
		args := append([]string{"load", plan, "--out", out, "--quiet", "--seed", "5", "--boards", "40", "--target", target, "--broker", tb.Ready.MQTT}, more...)
		if code, stdout, stderr := onceCalm(t, args...); code != want {
			t.Fatalf("%v exits %d, want %d\n%s%s", args, code, want, stdout, stderr)
		}
		res := must.Get(loadtest.ReadResult(out))(t)
		return res
	}
	row := func(res loadtest.Result, clause string) (out judge.Row) {
		for _, r := range res.Guarantees.Rows {
			if r.Clause == clause {
				return r
			}
		}
		return out
	}
	sent := int64(0)
	for _, part := range []string{"1/2", "2/2"} {
		res := load("part"+part[:1], tb.Ready.HTTP, codeOK, "--shard", part)
		if r := row(res, "CMD-1"); r.Status != judge.Pass || !reported(r, res.Sent-res.Repeats) {
			t.Errorf("shard %s: CMD-1 is %s, %s, want PASS on all %d", part, r.Status, r.Number, res.Sent-res.Repeats)
		}
		sent += res.Sent
	}
	if sent != 80 {
		t.Errorf("both shards sent %d requests, want 80", sent)
	}
	first, second := filepath.Join(dir, "part1"), filepath.Join(dir, "part2")
	m, said := mergeRuns(t, codeInvalid, first, second) // one after the other, they don't send the plan's rate
	if r := row(m, "CMD-1"); m.Sent != 80 || r.Status != judge.Pass || !reported(r, 72) || m.Repeats != 8 {
		t.Errorf("merged: %d sent, %d repeats, CMD-1 %s, %s, want 80, 8, PASS of 72 commands", m.Sent, m.Repeats, r.Status, r.Number)
	}
	if len(m.Reasons) != 1 || !strings.Contains(said, "the rate can't be judged: the generators started ") {
		t.Errorf("merged: %q, want only that the generators didn't start together", m.Reasons)
	}
	if _, out := mergeRuns(t, codeInvalid, second); !strings.Contains(out, "shard 1/2 is missing") {
		t.Errorf("a merge of one shard says\n%s\nwant that the other is missing", out)
	}
	other := filepath.Join(dir, "check")
	must.OK(t, report.WriteDir(other, report.Result{}))
	if _, errs := mergeRuns(t, codeUsage, first, other); !strings.Contains(errs, first+" was written by load and "+other+" by check") {
		t.Errorf("a merge of load and check says %s, want which is which", errs)
	}
	res := load("lied", liar(t, tb.Ready.HTTP), codeFailed, "--shard", "2/2")
	if r := row(res, "CMD-1"); r.Status != judge.Fail || !strings.Contains(r.Number, "reported without an actuation") {
		t.Errorf("a server that lies: CMD-1 is %s, %s, want FAIL, reported without an actuation", r.Status, r.Number)
	}
	for run, want := range map[string]int{first: codeOK, filepath.Join(dir, "lied"): codeFailed} {
		if code, out, errs := runQuietly(t.Context(), "judge", run, "--quiet"); code != want {
			t.Errorf("judge %s: exit %d, want %d as when it ran\n%s%s", run, code, want, out, errs)
		}
	}
}

func TestStartAtFlag(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"":                          "0001-01-01T00:00:00Z",
		"09:00:01Z":                 "2026-11-22T09:00:01Z",
		"2026-11-22T18:30:00+09:00": "2026-11-22T09:30:00Z",
		"09:00:00Z":                 "has passed: it is 2026-11-22T09:00:00Z",
		"21:00:00Z":                 "2026-11-22T21:00:00Z",
		"2026-11-21T23:00:00Z":      "has passed",
		"9 o'clock":                 "must be a time such as",
		"09:00:01":                  "must be a time such as",
	} {
		at, err := startAt(text, now)
		got := at.UTC().Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("--start-at %q: got %s, want %s", text, got, want)
		}
	}
}

// TestStartAroundMidnight: two minutes from now is tomorrow if it is 23:59.
func TestStartAroundMidnight(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC)
	if at, err := startAt("00:01:00Z", now); err != nil || !at.Equal(now.Add(2*time.Minute)) {
		t.Errorf("got %s, %v, want two minutes later", at, err)
	}
	for text, now := range map[string]time.Time{"23:58:00Z": now, "23:59:59Z": now.Add(65 * time.Second)} {
		if at, err := startAt(text, now); err == nil {
			t.Errorf("got %s for %s, a minute ago, want an error", at, text)
		}
	}
}

// TestBoardsOverTCP: how many boards there may be follows from the descriptors that they need.
func TestBoardsOverTCP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		boards, descriptors int
		server, ok          bool
	}{
		{9968, 20000, true, true}, {9969, 20000, true, false}, {19936, 20000, false, true}, {19937, 20000, false, false}, {100000, 1 << 20, true, true}, {1, 10, false, false},
	} {
		if err := overTCP(c.boards, c.descriptors, c.server); (err == nil) != c.ok {
			t.Errorf("%d boards with %d descriptors, server in the same process %v: got %v, want ok %v", c.boards, c.descriptors, c.server, err, c.ok)
		}
	}
}

// TestReportOf: the boards' time to report is named only if it is the same in every live place.
func TestReportOf(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	of := func(p50 ...time.Duration) *world.World {
		w := &world.World{Places: []world.Place{{Kind: world.Test}}}
		for _, d := range p50 {
			w.Places = append(w.Places, world.Place{Kind: world.Live, Report: &world.Report{P50: d, P99: d}})
		}
		return w
	}
	for name, c := range map[string]struct {
		world *world.World
		want  time.Duration
	}{"one": {of(ms), ms}, "two alike": {of(ms, ms), ms}, "two that differ": {of(ms, 2*ms), 0}, "none": {of(), 0}} {
		if got := reportOf(c.world); (got == nil) != (c.want == 0) || got != nil && time.Duration(got.P50) != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}
