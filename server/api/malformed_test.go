package api

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMalformed sends randomly corrupted requests: methods, paths, queries, headers, bodies. As the boards are fine,
// none may end in a 5xx; each answer must be documented, and memory must not grow. DOORLAB_MALFORMED sets the number
// (default 10,000), DOORLAB_SEED the seed.
func TestMalformed(t *testing.T) {
	t.Parallel()
	n, seed := number("DOORLAB_MALFORMED", 10_000), uint64(number("DOORLAB_SEED", 1))
	if testing.Short() {
		n /= 10
	}
	codes := map[string][]string{}
	var bad atomic.Int64
	h := newPatientHouse(t, time.Minute, func(c *Config) {
		c.Log = quietLog
		c.Ready = func() error { return nil } // /readyz answers 503 when this machine's disk takes more than 2 s, whatever the request
		c.Observe = func(o Observation) {
			known := o.Code == "" || o.Code == "method_not_allowed" || o.Code == "endpoint_removed" || o.Route == Other && o.Code == "not_found" ||
				slices.Contains(codes[o.Route], o.Code)
			if (o.Status >= 500 || !known) && bad.Add(1) < 20 {
				t.Errorf("%s %s: got %d %s, want a documented code under 500", o.Method, o.Route, o.Status, o.Code)
			}
		}
	})
	for _, d := range h.api.docs {
		for _, op := range d.Ops {
			codes[op.Path] = append(codes[op.Path], op.Codes...)
		}
	}
	m := &bender{fill: h.fixtures(), h: h}
	for _, d := range h.api.docs {
		m.ops = append(m.ops, d.Ops...)
	}
	seen := &tally{status: map[int]int{}}
	const batch = 1000
	var start runtime.MemStats
	goroutines := 0
	for done := 0; done < n; done += batch {
		if done == n/10/batch*batch { // warmed up
			goroutines = runtime.NumGoroutine()
			runtime.GC()
			runtime.ReadMemStats(&start)
		}
		var wg sync.WaitGroup
		const workers = 20
		for w := range workers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(done+w)))
				for range batch / workers {
					m.send(t, r, seen)
				}
			})
		}
		wg.Wait()
		h.tick(time.Second) // so that rate limit windows move on
		if done/batch%600 == 599 {
			for id := range h.tokens {
				h.tokens[id] = h.exchange(id)
			}
		}
	}
	var end runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&end)
	t.Logf("%d requests, answers %v, heap %.1f -> %.1f MiB, goroutines %d -> %d", seen.n, seen.status,
		mib(start.HeapAlloc), mib(end.HeapAlloc), goroutines, runtime.NumGoroutine())
	if grown := int64(end.HeapAlloc) - int64(start.HeapAlloc); n >= 200_000 && grown > 16<<20 {
		t.Errorf("the heap grew by %.1f MiB, want at most 16", mib(uint64(grown)))
	}
	if n >= 200_000 && runtime.NumGoroutine() > goroutines+20 { // only when it runs alone in its process
		t.Errorf("%d goroutines, want at most 20 more than the %d at first", runtime.NumGoroutine(), goroutines)
	}
	if seen.status[200] == 0 || seen.status[400] < seen.n/10 {
		t.Errorf("the requests are too tame: %v, want some 200s and 10%% 400s", seen.status)
	}
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }

func number(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

type tally struct {
	mu     sync.Mutex
	n      int
	status map[int]int
}
