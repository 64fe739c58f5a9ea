package loadtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestProcessor: what a process used is divided by the time in which it used it, answers that came after the last
// request included.
func TestProcessor(t *testing.T) {
	t.Parallel()
	p := Process{Name: "server", CPUSeconds: 30, MemoryBytes: 2e9, Collections: 1, CollectionMs: 1.5}
	for seconds, want := range map[float64]string{0: "server: CPU 3.00 cores, memory 2,000 MB, ", 20: "server: CPU 1.50 cores, memory 2,000 MB, "} {
		p.Seconds = seconds
		if got := p.said(10); !strings.HasPrefix(got, want) {
			t.Errorf("watched for %g s: got %q, want %q", seconds, got, want)
		}
	}
}

// TestRefusedConnections: connections that the server's listener refused meanwhile are noted, those of before and of other
// listeners aren't.
func TestRefusedConnections(t *testing.T) {
	t.Parallel()
	var refused atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "# TYPE doorlab_listener_refused_total counter\ndoorlab_listener_refused_total{listener=\"broker\"} %d\ndoorlab_listener_refused_total{listener=\"public\"} %d\n",
			3*refused.Load(), refused.Load())
	}))
	defer server.Close()
	r := &runner{target: Target{Control: []string{server.URL}}}
	for _, more := range []int64{7, 0, 19_197} {
		before := countAll(t.Context(), r.target)
		refused.Add(more)
		var res Result
		r.used(t.Context(), before, 1, &res)
		if got := strings.Join(res.Notes, "\n"); strings.Contains(got, "closed") != (more > 0) || more == 19_197 && !strings.Contains(got, "closed 19,197 connections at once") {
			t.Errorf("%d refused: got the notes %q", more, got)
		}
	}
}

// TestBoardsTime: a report says how much of the latency is the simulated boards'.
func TestBoardsTime(t *testing.T) {
	t.Parallel()
	r := Result{Environment: &Environment{Report: &Report{P50: Duration(80 * time.Millisecond), P99: Duration(400 * time.Millisecond)}}}
	const want = "simulated boards take 80 ms (p50) and 400 ms (p99) to report, and every command waits for that; fleet.report in a plan changes it"
	if got := strings.Join(r.Setting(), "\n"); !strings.Contains(got, want) {
		t.Errorf("got %q, want it to contain %q", got, want)
	}
}

// TestWhoseProcess: what shares the generator's process is named, the server only if its listener is there.
func TestWhoseProcess(t *testing.T) {
	t.Parallel()
	own := countAll(t.Context(), Target{})[0].began
	listener := func(began float64, server bool) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %f\n", began)
			if server {
				_, _ = fmt.Fprint(w, "# TYPE doorlab_boards gauge\ndoorlab_boards{state=\"online\"} 1\n")
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for want, control := range map[string][]string{
		"generator":                             nil,
		"generator, server and boards":          {listener(own, true)},
		"generator and boards, server":          {listener(1, true), listener(own, false)},
		"generator and boards":                  {listener(own, false)},
		"generator, server, boards 1, boards 2": {listener(1, true), listener(2, false), listener(3, false)},
	} {
		var names []string
		for _, c := range countAll(t.Context(), Target{Control: control}) {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
