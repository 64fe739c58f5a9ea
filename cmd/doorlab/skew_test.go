package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/loadtest"
)

// skewedControl is a control listener on a machine whose clock is ahead. mute: its
// clock answer lacks what it could be measured by, as that of an older doorlab. late:
// everything there happened that much later than it did.
func skewedControl(t *testing.T, base string, ahead, late time.Duration, mute bool) string {
	t.Helper()
	to := must.Get(url.Parse(base))(t)
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Header.Del("Accept-Encoding") },
		ModifyResponse: func(r *http.Response) error {
			var out []byte
			var err error
			switch r.Request.URL.Path {
			case "/lab/v1/clock":
				out, err = skewClock(r.Body, ahead, mute)
			case "/lab/v1/history":
				out, err = skewHistory(r.Body, ahead+late)
			default:
				return nil
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(out)), int64(len(out))
			r.Header.Del("Content-Length")
			return err
		},
	}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL
}

func skewClock(from io.Reader, ahead time.Duration, mute bool) ([]byte, error) {
	var env struct {
		Success bool           `json:"success"`
		Data    map[string]any `json:"data"`
	}
	dec := json.NewDecoder(from)
	dec.UseNumber() // nanoseconds
	if err := dec.Decode(&env); err != nil {
		return nil, err
	}
	stamp, asked := env.Data["wallNs"].(json.Number)
	if !asked {
		return json.Marshal(env)
	}
	ns, err := stamp.Int64()
	if err != nil {
		return nil, err
	}
	env.Data["wallNs"] = ns + int64(ahead)
	if mute {
		delete(env.Data, "wallNs")
	}
	return json.Marshal(env)
}

func skewHistory(from io.Reader, ahead time.Duration) ([]byte, error) {
	var events []history.Event
	sum, err := history.Decode(from, func(e *history.Event) { events = append(events, *e) })
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i].WallNs += int64(ahead)
		events[i].At += ahead.Milliseconds()
	}
	var b bytes.Buffer
	w := history.NewWriter(&b)
	w.Recording = sum.Recording
	if err := w.Write(events); err != nil {
		return nil, err
	}
	_, err = w.Close()
	return b.Bytes(), err
}

const skewScenario = `
name: machines apart
setup:
  - cohort: {name: all, share: 100%}
steps:
  - command: {door: all, outcome: reported}
  - command: {door: all, command: hold, minutes: 1, outcome: reported}
  - command: {door: all, command: close, outcome: reported}
  - synced: {}
  - fault: {name: cut, fault: offline, of: all}
  - call: {place: all, path: "/device/v1/devices/${all.door}"} # the server knows it
    expect: data.health.state == "offline"
    within: 30s
  - command: {door: all, outcome: offline}
  - clear: cut
  - synced: {}
  - command: {door: all, outcome: reported}
`

// TestSkewedMachines: server and boards on machines whose clocks are 50 ms apart. A
// skew that is measured changes no verdict; one that can't be measured makes those
// that compare the clocks INVALID, and never FAIL [CMD-1].
func TestSkewedMachines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, scenario := filepath.Join(dir, "world.yaml"), filepath.Join(dir, "skew.yaml")
	for path, text := range map[string]string{file: killWorld, scenario: skewScenario} {
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	const any0 = "127.0.0.1:0"
	server := start(t, "serve", "--json", "--world", file, "--http", any0, "--mqtt", any0, "--control", any0, "--control-token", "t").server()
	fleet := start(t, "boards", "--json", "--world", file, "--broker", server.MQTT, "--control", any0, "--control-token", "t", "--data", filepath.Join(dir, "boards")).fleet()
	n := 0
	late := time.Duration(0)
	run := func(serverAhead, boardsAhead time.Duration, mute bool, args ...string) (code int, out, said string) {
		n++
		out = filepath.Join(dir, "run", string(rune('a'+n)))
		args = append(args, "--out", out, "--target", server.HTTP, "--control-token", "t",
			"--control", skewedControl(t, server.Control, serverAhead, 0, false), "--control", skewedControl(t, fleet.Control, boardsAhead, late, mute))
		if mute { // INVALID is what is wanted
			code, stdout, stderr := runQuietly(t.Context(), args...)
			return code, out, stdout + stderr
		}
		code, stdout, stderr := onceCalm(t, args...)
		return code, out, stdout + stderr
	}
	var want map[string]judge.Status
	for _, ahead := range [][2]time.Duration{{0, 0}, {0, 50 * time.Millisecond}, {0, -50 * time.Millisecond}, {50 * time.Millisecond, 0}, {-3 * time.Second, 2 * time.Second}} {
		code, out, said := run(ahead[0], ahead[1], false, "check", scenario)
		if code != codeOK {
			t.Errorf("server %v ahead, boards %v: exit code %d, want 0\n%s", ahead[0], ahead[1], code, said)
		}
		got := statusesIn(t, out)
		if want == nil {
			want = got
		}
		for clause, status := range want {
			if got[clause] != status {
				t.Errorf("server %v ahead, boards %v: %s is %s, want %s as without skew", ahead[0], ahead[1], clause, got[clause], status)
			}
		}
		checkClocks(t, out, ahead[0], ahead[1])
	}
	late = 300 * time.Millisecond // the relays really moved after the answers: no offset explains that
	code, out, said := run(0, 50*time.Millisecond, false, "check", scenario)
	if code != codeFailed || statusesIn(t, out)["CMD-1"] != judge.Fail {
		t.Errorf("actuations 300 ms late: exit code %d and CMD-1 %s, want %d and FAIL\n%s", code, statusesIn(t, out)["CMD-1"], codeFailed, said)
	}
	late = 0
	code, out, said = run(0, 50*time.Millisecond, true, "check", scenario)
	if code != codeInvalid {
		t.Errorf("a skew that can't be measured: exit code %d, want %d\n%s", code, codeInvalid, said)
	}
	for clause, status := range statusesIn(t, out) {
		if status == judge.Fail || clause == "CMD-1" && status != judge.Invalid || clause == "SYNC-1" && status == judge.Pass {
			t.Errorf("a skew that can't be measured: %s is %s", clause, status)
		}
	}
	if !strings.Contains(said, "not measured") {
		t.Errorf("the report doesn't say that a clock wasn't measured:\n%s", said)
	}
	skewedLoad(t, dir, run)
}

// skewedLoad: the same for a load.
func skewedLoad(t *testing.T, dir string, run func(_, _ time.Duration, mute bool, args ...string) (int, string, string)) {
	t.Helper()
	plan := filepath.Join(dir, "plan.yaml")
	must.OK(t, os.WriteFile(plan, []byte("name: skewed\nrate: 4\nduration: 10s\nmaxLag: 30s\n"), 0o600))
	for _, c := range []struct {
		mute bool
		code int
		cmd1 judge.Status
	}{{false, codeOK, judge.Pass}, {true, codeInvalid, judge.Invalid}} {
		code, out, said := run(0, 50*time.Millisecond, c.mute, "load", plan)
		res, err := loadtest.ReadResult(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		got := judge.Status("")
		for _, row := range res.Guarantees.Rows {
			if row.Clause == "CMD-1" {
				got = row.Status
			}
		}
		if code != c.code || got != c.cmd1 {
			t.Errorf("load, boards 50 ms ahead, mute %v: exit code %d and CMD-1 %s, want %d and %s\n%s", c.mute, code, got, c.code, c.cmd1, said)
		}
	}
}

func statusesIn(t *testing.T, dir string) map[string]judge.Status {
	t.Helper()
	res := must.Get(report.Judge(dir))(t)
	out := map[string]judge.Status{}
	for _, row := range res.Ledger {
		out[row.Clause] = row.Status
	}
	return out
}

// checkClocks holds clocks.json against what was planted: the true offset lies within ±.
func checkClocks(t *testing.T, dir string, ahead ...time.Duration) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(dir, "clocks.json")))(t)
	var clocks history.Clocks
	if err := json.Unmarshal(text, &clocks); err != nil || len(clocks) != len(ahead) {
		t.Fatalf("clocks.json: %v, %d clocks, want %d\n%s", err, len(clocks), len(ahead), text)
	}
	for i, c := range clocks {
		if off := c.OffsetNs - int64(ahead[i]); !c.Measured || off > c.ErrNs || -off > c.ErrNs {
			t.Errorf("clock %d: measured %v, %d ± %d ns ahead, want %d within that", i, c.Measured, c.OffsetNs, c.ErrNs, int64(ahead[i]))
		}
	}
}
