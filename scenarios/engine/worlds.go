package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// World is a target that one file has for itself.
type World struct {
	Target Target
	Stop   func() error // nil: nothing to stop
}

// Opener opens a world for a file.
type Opener func(ctx context.Context, f *File) (World, error)

// defaultParallel is how many worlds are open at a time: they mostly wait.
const defaultParallel = 6

// RunApart plays each file in a world of its own, so that none sees what another
// did: several at a time, those with load alone and first. Each world's history is
// judged by itself; the ledger joins them, and the result lists the files in the
// order given. An error is ctx's; a world that doesn't open blocks its file.
func RunApart(ctx context.Context, open Opener, files []*File, opt Options) (Result, error) {
	if len(files) == 0 {
		return Result{}, errors.New("no scenario files")
	}
	if opt.Parallel <= 0 {
		opt.Parallel = defaultParallel
	}
	opt.Metrics = cmp.Or(opt.Metrics, NewMetrics())
	s := &suite{open: open, opt: opt, files: files, parts: make([]Result, len(files)), tickets: make(chan struct{}, opt.Parallel),
		display: newDisplay(&opt, len(files))}
	defer s.display.End()
	res := Result{Seed: max(opt.Seed, 1), Started: clock.WallNow(), Config: opt.Config, Require: opt.Require, Whole: opt.Whole, Random: opt.Random, Shard: opt.Shard}
	began := clock.Mono()
	s.play(ctx)
	s.display.finally("judging all worlds")
	res = report.Join(res, s.parts)
	opt.Metrics.judged(res)
	res.Seconds = (clock.Mono() - began).Seconds()
	return res, ctx.Err()
}

// suite is a run of files in worlds of their own.
type suite struct {
	open    Opener
	opt     Options
	files   []*File
	parts   []Result
	tickets chan struct{} // one per world that may be open
	display *display

	mu   sync.Mutex
	over string // why no more files are played
}

// play starts the files in turn, as tickets allow.
func (s *suite) play(ctx context.Context) {
	var all sync.WaitGroup
	for _, i := range turns(s.files) {
		tickets := s.price(s.files[i])
		for range tickets {
			s.tickets <- struct{}{}
		}
		all.Go(func() {
			s.one(ctx, i)
			for range tickets {
				<-s.tickets
			}
		})
	}
	all.Wait()
}

// price is how many tickets a file takes: all of them when it has to be alone.
func (s *suite) price(f *File) int {
	switch {
	case f.loads():
		return s.opt.Parallel
	case f.Doc.Needs.Fleet:
		return max(1, s.opt.Parallel/3)
	}
	return 1
}

// turns is the order to start files in: load, while nothing else is open; then
// the fleets and what is labelled slow; then the rest as given.
func turns(files []*File) []int {
	out := make([]int, len(files))
	for i := range out {
		out[i] = i
	}
	rank := func(f *File) int {
		switch {
		case f.loads():
			return 0
		case f.Doc.Needs.Fleet, slices.Contains(f.Doc.Labels, "slow"):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(rank(files[a]), rank(files[b])) })
	return out
}

// one plays a file in its world.
func (s *suite) one(ctx context.Context, i int) {
	f := s.files[i]
	s.mu.Lock()
	over := cmp.Or(s.over, interruption(ctx))
	s.mu.Unlock()
	if over != "" {
		s.parts[i] = Result{Files: []FileResult{notPlayed(f, over)}}
		return
	}
	s.display.start(f.Base())
	var text bytes.Buffer
	part := s.world(ctx, f, &text)
	if played := part.Files[0]; !bad(played.Status) && !s.opt.Verbose {
		text.Reset()
	}
	s.display.done(f.Base(), part.Files[0].Status, text.Bytes())
	s.parts[i] = part
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = cmp.Or(s.over, stopsAt(s.opt, part.Files[0]))
}

// world opens a world, plays the file in it and closes it.
func (s *suite) world(ctx context.Context, f *File, out io.Writer) Result {
	opt := s.opt
	opt.Progress, opt.display = out, s.display
	_, opened := s.display.step(f.Base(), "its world starts")
	w, err := s.open(ctx, f)
	opened()
	if err != nil {
		return blockedFile(f, fmt.Errorf("its world did not start: %w", err))
	}
	res, _ := Run(ctx, w.Target, []*File{f}, opt) // ctx's error is the suite's
	if len(res.Files) == 0 {
		res.Files = blockedFile(f, errors.New(res.Reason)).Files
	}
	if w.Stop != nil {
		if err := inTime(w.Stop); err != nil && res.Trouble == "" {
			res.Trouble = f.Base() + ": its world did not stop: " + err.Error()
		}
	}
	return res
}

// stopTime is how long a world may take to stop. A server answers all its callers first, which takes seconds; whatever
// takes longer than this is stuck for good, and must not keep the run from its verdict.
const stopTime = time.Minute

// inTime is what stop returns, or an error after stopTime; stop is then left alone.
func inTime(stop func() error) error {
	done := make(chan error, 2)
	late := clock.WallAfter(stopTime, func() { done <- fmt.Errorf("after %s, a board or the server is still busy", stopTime) })
	defer late.Stop()
	go func() { done <- stop() }()
	return <-done
}

func blockedFile(f *File, why error) Result {
	out := notPlayed(f, "")
	out.Status, out.Reason = judge.Blocked, why.Error()
	return Result{Files: []FileResult{out}}
}

// loads reports whether a file has a step that needs the machine for itself.
func (f *File) loads() bool { return usesOf(f.Doc.Setup, f.Doc.Steps).load }
