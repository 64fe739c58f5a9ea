package engine

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// apart plays each source in its own world and returns the largest number of worlds open at once.
func apart(t *testing.T, opt Options, sources ...string) (res Result, most int64) {
	t.Helper()
	var files []*File
	for _, s := range sources {
		files = append(files, parse(t, s))
	}
	var open, top atomic.Int64
	res = must.Get(RunApart(t.Context(), func(context.Context, *File) (World, error) {
		n := open.Add(1)
		for old := top.Load(); n > old && !top.CompareAndSwap(old, n); old = top.Load() {
		}
		return World{Target: newFake(t).target(), Stop: func() error { open.Add(-1); return nil }}, nil
	}, files, opt))(t)
	if n := open.Load(); n != 0 {
		t.Errorf("%d worlds are still open, want 0", n)
	}
	return res, top.Load()
}

const (
	passes = `steps: [{call: {path: /echo}}]`
	fails  = `steps: [{call: {path: /echo, status: 201}}]`
	hangs  = `steps: [{call: {path: /echo}}, {pause: 1h}]`
)

// TestWorldsAtATime: no more than Parallel worlds are open at once, and results come in the given order.
func TestWorldsAtATime(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2} {
		res, most := apart(t, Options{Parallel: n}, passes, fails, passes, passes, fails)
		if most > int64(n) {
			t.Errorf("%d worlds were open at a time, want at most %d", most, n)
		}
		got := ""
		for _, f := range res.Files {
			got += string(f.Status) + " "
		}
		if got != "PASS FAIL PASS PASS FAIL " {
			t.Errorf("got %s, want the results in the order given", got)
		}
	}
}

// TestFailFast: nothing is played after the first failure, and the remaining files say so.
func TestFailFast(t *testing.T) {
	t.Parallel()
	res, _ := apart(t, Options{Parallel: 1, FailFast: true}, passes, fails, passes)
	last := res.Files[2]
	if res.Files[0].Status != judge.Pass || res.Files[1].Status != judge.Fail || last.Status != judge.Skipped || !strings.Contains(last.Reason, "not run: stopped at the first failure") {
		t.Errorf("got %s, %s and %s %q, want PASS, FAIL and SKIPPED as not run", res.Files[0].Status, res.Files[1].Status, last.Status, last.Reason)
	}
	if res, _ = apart(t, Options{Parallel: 1}, fails, passes); res.Files[1].Status != judge.Pass {
		t.Errorf("without it the next file is %s, want PASS", res.Files[1].Status)
	}
}

// TestTimeout: a file that doesn't end is BLOCKED and says how long it was given.
func TestTimeout(t *testing.T) {
	t.Parallel()
	res, _ := apart(t, Options{Timeout: 5 * time.Second}, hangs) // a slow machine needs a second or two for the first step
	if f := res.Files[0]; f.Status != judge.Blocked || !strings.Contains(f.Reason, "the file did not end within 5s (--timeout)") {
		t.Errorf("got %s %q, want BLOCKED and the time", f.Status, f.Reason)
	}
	if steps := res.Files[0].Steps; steps[len(steps)-1].Detail != "out of time" {
		t.Errorf("the step says %q, want in plain words that it ran out of time", steps[len(steps)-1].Detail)
	}
}

// TestWorldDoesNotOpen: if a world doesn't open, its file is BLOCKED and says why.
func TestWorldDoesNotOpen(t *testing.T) {
	t.Parallel()
	res, err := RunApart(t.Context(), func(context.Context, *File) (World, error) { return World{}, errors.New("no port is free") }, []*File{parse(t, passes)}, Options{})
	if err != nil || res.Files[0].Status != judge.Blocked || !strings.Contains(res.Files[0].Reason, "its world did not start: no port is free") {
		t.Errorf("got %v, %s %q, want BLOCKED and the reason", err, res.Files[0].Status, res.Files[0].Reason)
	}
}

// A world that is stuck doesn't keep the run from reaching a verdict.
func TestWorldThatDoesNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		stuck := make(chan struct{})
		err := inTime(func() error { <-stuck; return nil })
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "still busy") || took != stopTime {
			t.Errorf("got %v after %s, want an error that it is still busy after %s", err, took, stopTime)
		}
		close(stuck)
		if err := inTime(func() error { time.Sleep(stopTime - 1); return nil }); err != nil {
			t.Errorf("got %v from a world that takes its time, want none", err)
		}
		if err := inTime(func() error { return io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v, want the world's own error", err)
		}
	})
}
