package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/doorlab/doorlab/internal/clock"
)

// subject is something that callers can be let loose on.
type subject struct {
	name string
	// call does one operation as the given caller and returns when it is answered.
	call    func(ctx context.Context, caller, n int) error
	commits func() int64 // commits so far; nil = it makes none
	alone   bool         // one caller at a time
	rate    int          // calls a second of all callers together; 0 = as many as they can
	beside  *subject     // goes on meanwhile; nil = nothing
	stop    func() error
}

// setup is what a subject is started with.
type setup struct {
	link, client    string
	boards, callers int
	rows            int      // of an import
	records         int      // that are stored
	permits         int      // that are stored
	only            []string // the subjects
}

// result of one turn. CPU is the whole process's: callers, server, broker, boards.
type result struct {
	PerSecond                   float64
	P50, P99                    time.Duration
	CPU                         time.Duration // per operation
	Allocations, Bytes, Commits float64       // per operation
}

// turn lets the callers work for a while. The first call that fails ends it with an error.
func (s *subject) turn(ctx context.Context, callers int, d time.Duration) (r result, err error) {
	ctx, cancel := context.WithTimeout(ctx, d+30*time.Second)
	defer cancel()
	if s.alone {
		callers = 1
	}
	lat := make([]*hdrhistogram.Histogram, callers)
	errs := make([]error, callers)
	before, wall := usage(s), clock.Mono()
	end := wall + d
	var wg sync.WaitGroup
	for i := range callers {
		lat[i] = hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
		wg.Go(func() {
			for n := 0; ; n++ {
				at, ok := s.due(ctx, callers, i, n, wall, end)
				if !ok {
					return
				}
				if errs[i] = s.call(ctx, i, n); errs[i] != nil {
					return
				}
				_ = lat[i].RecordValue(int64((clock.Mono() - at) / time.Microsecond))
			}
		})
	}
	wg.Wait()
	took, after := clock.Mono()-wall, usage(s)
	all := hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
	for _, h := range lat {
		all.Merge(h)
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return r, fmt.Errorf("a call failed, so this isn't measured: %w", errs[i])
	}
	n := float64(all.TotalCount())
	return result{
		PerSecond: n / took.Seconds(),
		P50:       time.Duration(all.ValueAtQuantile(50)) * time.Microsecond, P99: time.Duration(all.ValueAtQuantile(99)) * time.Microsecond,
		CPU: time.Duration(float64(after.cpu-before.cpu) / n), Commits: float64(after.commits-before.commits) / n,
		Allocations: float64(after.allocs-before.allocs) / n, Bytes: float64(after.bytes-before.bytes) / n,
	}, nil
}

// used is the resources that the process has used so far.
type used struct {
	cpu           time.Duration
	allocs, bytes uint64
	commits       int64
}

func usage(s *subject) (u used) {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil {
		u.cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	m := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(m)
	u.allocs, u.bytes = m[0].Value.Uint64(), m[1].Value.Uint64()
	if s.commits != nil {
		u.commits = s.commits()
	}
	return u
}

// resident is the process's memory now, in bytes, without what it could give back.
func resident() float64 {
	for range 4 { // each collection halves oversized stacks once
		debug.FreeOSMemory()
	}
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages float64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize())
}
