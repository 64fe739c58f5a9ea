package loadtest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

func TestRepeatsAreExactAndEqual(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.work = func(int) (int, string) { time.Sleep(50 * time.Millisecond); return 200, "" }
		target, o := bubble(f)
		var l log
		o.History = l.add
		o.OutDir = t.TempDir()
		res, err := Run(t.Context(), target, mustParse(t, `
rate: 300/s
duration: 5s
commands: {open: 50%, hold: 30%, close: 20%}
legacy: 20%
repeatedKeys: 10%
thresholds: {errors: 0, p99_reported: 100ms, rate_min: 299, reported_min: 100%}
`), o)
		if err != nil || res.Verdict != Pass || res.ExitCode() != 0 {
			t.Fatalf("want PASS, got %s, %v, %v\n%s", res.Verdict, res.Reasons, err, res.Text())
		}
		if f.requests != 1500 || res.Sent != 1500 || res.Attempts != 1500 || res.Repeats != 150 || len(f.answers) != 1350 {
			t.Errorf("server saw %d requests of %d keys, generator %d hits, %d attempts, %d repeats, want 1500, 1350, 1500, 1500 and 150", f.requests, len(f.answers), res.Sent, res.Attempts, res.Repeats)
		}
		if res.Replayed != 150 || len(f.breaches) > 0 {
			t.Errorf("%d replayed, breaches %v; want 150 and none", res.Replayed, f.breaches)
		}
		if a, b := len(l.of(history.Attempt)), len(l.of(history.Answer)); a != 1500 || b != 1500 {
			t.Errorf("history: got %d attempts, %d answers, want 1500 and 1500", a, b)
		}
		near := 0
		for i, key := range f.order[1:] {
			if key == f.order[i] {
				near++
			}
		}
		if near < 65 || near > 85 { // workers may overtake each other by one position
			t.Errorf("%d repeats right behind their first, want about 75", near)
		}
		checkBinary(t, filepath.Join(o.OutDir, "results.bin"), 1500)
	})
}

func checkBinary(t *testing.T, path string, want int) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	dec, n := vegeta.DecoderFor(bytes.NewReader(text)), 0
	for r := new(vegeta.Result); dec.Decode(r) == nil; n++ {
		if r.Latency < 0 || r.Code != 200 {
			t.Fatalf("bad result %+v, want Latency at least 0 and Code 200", r)
		}
	}
	if n != want {
		t.Errorf("vegeta reads %d results, want %d", n, want)
	}
}

// A server that stalls for two seconds: requests that were due meanwhile waited, and the open model keeps sending, so
// the stall shows in the latency and not in the rate.
func TestStallIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		began := time.Now()
		f.work = func(int) (int, string) {
			if at := time.Since(began); at > time.Second && at < 3*time.Second {
				time.Sleep(3*time.Second - at)
			}
			return 200, ""
		}
		target, o := bubble(f)
		res, err := Run(t.Context(), target, mustParse(t, "rate: 100\nduration: 10s\nthresholds: {p90_reported: 500ms}"), o)
		if err != nil || res.Verdict != Fail || res.ExitCode() != 99 {
			t.Fatalf("want FAIL, exit 99, got %s, exit %d, %v\n%s", res.Verdict, res.ExitCode(), err, res.Text())
		}
		all := res.Outcomes[0].Scheduled
		if all.Max < 1900 || all.P90 < 900 || all.P50 > 10 || res.Sent != 1000 || res.SentRate < 99.9 {
			t.Errorf("the stall doesn't show as it should:\n%s", res.Text())
		}
	})
}

// A generator that can't keep up: the time that requests wait counts in the time since scheduled but not in the
// service time, and the run is INVALID.
func TestLaggingGeneratorIsInvalid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		target, o := bubble(f)
		slow := 0
		r := must.Get(prepare(t.Context(), target, mustParse(t, "rate: 100\nduration: 5s"), o))(t)
		c, src, w, err := r.attackBy(t.Context(), newSchedule(r.plan), "lag", 4, func(*vegeta.Result) {
			if slow++; slow == 100 {
				time.Sleep(3 * time.Second) // holds up every worker
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		res := r.judge(newSchedule(r.plan), c, src, w, false)
		if res.Verdict != Invalid || res.ExitCode() != 6 || !strings.Contains(res.Reasons[0], "lagged") {
			t.Errorf("%s, exit %d: %q, want INVALID, exit 6, as the generator lagged", res.Verdict, res.ExitCode(), res.Reasons)
		}
		// A lagging generator excuses slow answers, but never wrong ones.
		for threshold, want := range map[string]struct {
			verdict string
			exit    int
		}{"reported_max": {Fail, 99}, "p99_all": {Invalid, 6}} {
			r.plan.Thresholds = map[string]string{threshold: map[string]string{"reported_max": "0", "p99_all": "1ms"}[threshold]}
			if got := r.judge(newSchedule(r.plan), c, src, w, false); got.Verdict != want.verdict || got.ExitCode() != want.exit {
				t.Errorf("lag and %s broken: %s exit %d, want %s exit %d", threshold, got.Verdict, got.ExitCode(), want.verdict, want.exit)
			} else if why := got.Whys(); len(why) < 2 || strings.HasPrefix(why[0], threshold) != (want.verdict == Fail) || strings.Contains(why[0], "lagged") != (want.verdict == Invalid) || (len(got.Notes) > 0) != (want.verdict == Fail) {
				t.Errorf("lag and %s broken: got %q, notes %q; want what decided the verdict first, and a note about the latencies of a FAIL", threshold, why, got.Notes)
			}
		}
		if res.Outcomes[0].Scheduled.Max < 2800 || res.Outcomes[0].Service.Max > 100 {
			t.Errorf("the lag doesn't show in the time since scheduled, or shows in the service time:\n%s", res.Text())
		}
	})
}

func TestOutcomesAreNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.work = func(n int) (int, string) {
			switch n % 5 {
			case 1:
				return 409, "offline"
			case 2:
				return 502, "refused"
			case 3:
				time.Sleep(8 * time.Second)
				return 504, "noResponse"
			case 4:
				return 429, "too_many_in_flight"
			}
			return 200, ""
		}
		target, o := bubble(f)
		res := must.Get(Run(t.Context(), target, mustParse(t, "rate: 50\nduration: 2s\nthresholds: {errors: 19%, noResponse_max: 20}"), o))(t)
		for _, o := range []vocab.Outcome{vocab.Reported, vocab.Offline, vocab.Refused, vocab.NoResponse, rejected} {
			if n := res.outcome(o).Count; n != 20 {
				t.Errorf("%s: %d, want 20", o, n)
			}
		}
		if res.Verdict != Fail || len(res.Reasons) != 1 || !strings.HasPrefix(res.Reasons[0], "errors is 20%") {
			t.Errorf("%s: %q, want FAIL for errors of 20%% alone", res.Verdict, res.Reasons)
		}
	})
}

// Tokens last fifteen minutes and are renewed in the background. When the server's clock jumps, each affected request
// gets a 401 and is visibly retried once.
func TestTokensAreRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		target, o := bubble(f)
		res, err := Run(t.Context(), target, mustParse(t, "rate: 2\nduration: 25m\nthresholds: {errors: 0}"), o)
		if err != nil || res.Verdict != Pass || res.Renewed != 0 || len(f.exchanges) != 3 {
			t.Errorf("got %v %s, %d exchanges, %d renewed, want no error, %s, 3 and 0", err, res.Verdict, len(f.exchanges), res.Renewed, Pass)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.work = func(n int) (int, string) {
			if n == 50 {
				f.mu.Lock()
				f.ahead = 36 * time.Hour
				f.mu.Unlock()
			}
			return 200, ""
		}
		target, o := bubble(f)
		var l log
		o.History = l.add
		res, err := Run(t.Context(), target, mustParse(t, "rate: 100\nduration: 1s\nthresholds: {errors: 0}"), o)
		if err != nil || res.Verdict != Pass || res.Renewed < 1 || len(f.exchanges) != 2 || res.Attempts != 100+res.Renewed {
			t.Errorf("got %v %s, %d exchanges, %d renewed, %d attempts, want no error, %s, 2, at least 1 and %d", err, res.Verdict, len(f.exchanges), res.Renewed, res.Attempts, Pass, 100+res.Renewed)
		}
		if got := int64(len(l.of(history.Attempt))); got != res.Attempts {
			t.Errorf("the history has %d attempts, want %d", got, res.Attempts)
		}
	})
}

// [CMD-5] for the generator: when a connection breaks during a command, that is an error. The request is never
// resent.
func TestNothingIsResent(t *testing.T) {
	t.Parallel()
	f := newFake()
	var d dropper
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path != tokenPath {
			f.mu.Lock()
			cut := len(f.order)%3 == 2
			if cut { // take the request and break the line
				f.requests++
				f.order = append(f.order, r.Header.Get("Idempotency-Key"))
			}
			f.mu.Unlock()
			if cut {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					_ = conn.Close()
				}
				return
			}
		}
		f.ServeHTTP(w, r)
	}))
	d.Listener = srv.Listener
	srv.Listener = &d
	srv.Start()
	defer srv.Close()
	var l log
	places := []Place{{PlaceID: "plc_1", Name: "A", Kind: "live", APIKey: "sacl_x"}, {PlaceID: "plc_2", Name: "B", Kind: "live", APIKey: "sacl_y"}, {PlaceID: "plc_3", Name: "C", Kind: "test", APIKey: "sact_z"}}
	res := must.Get(Run(t.Context(), Target{HTTP: srv.URL, Places: places}, mustParse(t, "rate: 200\nduration: 500ms\nmaxLag: 10s"), Options{History: l.add}))(t)
	if int64(f.requests) != res.Attempts || res.Attempts != 100 {
		t.Errorf("the server saw %d requests, the generator made %d attempts; want 100 each", f.requests, res.Attempts)
	}
	if n := res.outcome(noAnswer).Count; n < 30 || res.Errors["connection closed"]+res.Errors["connection reset"] != n {
		t.Errorf("%d without an answer, by error %v; want at least 30, all because the connection broke", n, res.Errors)
	}
	slices.Sort(f.order)
	if n := len(slices.Compact(f.order)); n != 100 {
		t.Errorf("%d keys, want 100: some came twice", n)
	}
	if got := hosts(f.exchanges); !slices.Equal(got, []string{"127.101.0.1", "127.101.1.1"}) {
		t.Errorf("tokens exchanged from %v, want an address each of the live places [AUTH-3]", got)
	}
	if a, b := len(l.of(history.Attempt)), len(l.of(history.Answer)); a != 100 || b != 100-int(res.outcome(noAnswer).Count) {
		t.Errorf("history: %d attempts, %d answers; want 100 and %d", a, b, 100-int(res.outcome(noAnswer).Count))
	}
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	p := mustParse(t, "rate: 1\nduration: 1s")
	t.Run("ErrHost", func(t *testing.T) {
		t.Parallel()
		for _, host := range []string{"http://10.1.2.3:8080", "https://api.example.com"} {
			if _, err := Run(t.Context(), Target{HTTP: host}, p, Options{}); !errors.Is(err, ErrHost) {
				t.Errorf("%s: got %v, want %v", host, err, ErrHost)
			}
		}
	})
	t.Run("ErrNoDoors", func(t *testing.T) {
		t.Parallel()
		f := newFake()
		f.doors = 0
		target, o := bubble(f)
		if _, err := Run(t.Context(), target, p, o); !errors.Is(err, ErrNoDoors) {
			t.Errorf("got %v, want %v", err, ErrNoDoors)
		}
	})
	t.Run("bad plan", func(t *testing.T) {
		t.Parallel()
		if _, err := Run(t.Context(), Target{HTTP: "http://127.0.0.1:1"}, Plan{}, Options{}); err == nil {
			t.Error("an empty plan ran")
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.work = func(int) (int, string) { time.Sleep(time.Second); return 200, "" }
			target, o := bubble(f)
			ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
			defer cancel()
			res, err := Run(ctx, target, mustParse(t, "rate: 10\nduration: 1h"), o)
			if !errors.Is(err, context.DeadlineExceeded) || res.Sent < 50 || res.Sent > 60 || res.Verdict != Invalid {
				t.Errorf("got %v, %d sent, %s, want %v, 50 to 60 and %s", err, res.Sent, res.Verdict, context.DeadlineExceeded, Invalid)
			}
			if last := res.Reasons[len(res.Reasons)-1]; !strings.HasSuffix(last, " of 36,000 requests") {
				t.Errorf("got the reason %q, want it to end with 36,000 requests", last)
			}
		})
	})
}

// A pause in the plan doesn't delay an interruption.
func TestInterruptedInAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		target, o := bubble(newFake())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err := Run(ctx, target, mustParse(t, "pacer: stages\nstages: [{rate: 10, duration: 1s}, {rate: 0, duration: 1h}, {rate: 10, duration: 1s}]"), o)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 6*time.Second {
			t.Errorf("got %v after %s, want %v and at most %s", err, took, context.DeadlineExceeded, 6*time.Second)
		}
	})
}

// TestAbort: a load stops at its first broken limit and is judged by it; what it didn't send doesn't make it INVALID.
func TestAbort(t *testing.T) {
	t.Parallel()
	for limit, after := range map[string]float64{"offline_max: 20": 3, "offline_max: 5%": 8, "p99_reported: 1ms": 8, "offline_max: 100%": 60} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.work = func(n int) (int, string) {
				time.Sleep(5 * time.Millisecond)
				if n%4 == 0 {
					return 409, "offline"
				}
				return 200, ""
			}
			target, o := bubble(f)
			o.OutDir = t.TempDir()
			res := must.Get(Run(t.Context(), target, mustParse(t, "rate: 100/s\nduration: 1m\nabort: true\nthresholds: {"+limit+"}"), o))(t)
			want := Fail
			if after == 60 {
				want = Pass
			}
			if res.Verdict != want || res.Seconds > after || (len(res.Notes) > 0) != (want == Fail) {
				t.Errorf("%s: %s after %v s, %q, %q; want %s after at most %v s", limit, res.Verdict, res.Seconds, res.Reasons, res.Notes, want, after)
			}
		})
	}
}
