// Package explore generates random sequences of operations (permits, people, commands,
// time, faults, reboots, restarts, windows, hours, outage policies), lets a model of
// the contract work out what each must answer and leave behind, and plays them as
// scenario files. A sequence that the target and the model disagree about is
// shortened until nothing more can be left out. The model is an oracle of its own:
// it shares no code with the server, the boards or the judge.
package explore

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// Play plays one scenario in a world of its own. fast: with a server that waits less long for boards; a failure then
// counts only if it also fails with the usual waits.
type Play func(ctx context.Context, file *engine.File, fast bool) (engine.Result, error)

// Config of an exploration. Play is required.
type Config struct {
	Seed      int64
	For       time.Duration // 0: no bound
	Sequences int           // 0: no bound
	Steps     int           // of all sequences together, after which none begins; 0: no bound
	Length    int           // operations of a sequence before the last reads; 0: 24
	Parallel  int           // worlds at the same time; 0: 8
	Most      int           // failures after which it stops; 0: 1
	Play      Play
	Failed    func(Failure) error // called with each failure once it is shrunk; nil = not called
	Screen    live.Screen         // where progress is shown; zero: nowhere
}

// Failure is a sequence on which the target and the model disagree.
type Failure struct {
	Index  int    // of the sequence under the seed
	Why    string // the first thing that is wrong
	From   int    // operations as drawn
	Ops    []Op   // what is left of them
	File   []byte // the scenario
	Shrunk bool   // false: time was up before it was fully shortened
}

// Summary is what an exploration did.
type Summary struct {
	Sequences  int
	Operations int // steps played
	Seconds    float64
	Failures   []Failure
	Flaky      int // failed once but not again, on a machine that is too slow
	Invalid    int // could not be judged, twice
	Trouble    string
}

// PerMinute is how many sequences were played per minute.
func (s Summary) PerMinute() float64 {
	if s.Seconds == 0 {
		return 0
	}
	return float64(s.Sequences) * 60 / s.Seconds
}

type run struct {
	cfg   Config
	began time.Duration
	ctx   context.Context
	live  *live.Line

	mu   sync.Mutex
	next int
	sum  Summary
	kept int // failures found, shrunk or not
	stop context.CancelFunc
}

// Run explores until its time or number is up, or enough was found. The error is the context's, or Failed's; the
// summary says what was found so far.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	cfg.Length, cfg.Parallel, cfg.Most = cmp.Or(cfg.Length, 24), cmp.Or(cfg.Parallel, 8), cmp.Or(cfg.Most, 1)
	r := &run{cfg: cfg, began: clock.Mono()}
	r.ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	if cfg.For > 0 {
		defer clock.WallAfter(cfg.For, r.stop).Stop()
	}
	r.live = live.Start(cfg.Screen, r.line)
	defer r.live.End()
	var wg sync.WaitGroup
	errs := make([]error, cfg.Parallel)
	for i := range errs {
		wg.Go(func() { errs[i] = r.worker(ctx) })
	}
	wg.Wait()
	r.sum.Seconds = (clock.Mono() - r.began).Seconds()
	return r.sum, cmp.Or(cmp.Or(errs...), ctx.Err())
}

// worker plays one sequence after another. outer outlives the time limit.
func (r *run) worker(outer context.Context) error {
	for {
		r.mu.Lock()
		index := r.next
		r.next++
		enough := r.cfg.Steps > 0 && r.sum.Operations >= r.cfg.Steps
		r.mu.Unlock()
		if enough || r.ctx.Err() != nil || r.cfg.Sequences > 0 && index >= r.cfg.Sequences {
			return nil
		}
		ops := sequence(r.cfg.Seed, index, r.cfg.Length)
		v := r.try(r.ctx, index, ops, true)
		if r.ctx.Err() != nil && v.status != judge.Fail { // what was cut off says nothing
			return nil
		}
		r.played(ops)
		if v.status == judge.Pass {
			continue
		}
		if err := r.suspect(outer, index, ops, v); err != nil {
			return err
		}
	}
}

// verdict of one play.
type verdict struct {
	status judge.Status
	why    string
}

// try plays a sequence once.
func (r *run) try(ctx context.Context, index int, ops []Op, fast bool) verdict {
	source := scenario(title(r.cfg.Seed, index), "generated at random", ops)
	f, err := engine.Parse(fmt.Sprintf("explore-%d-%d.yaml", r.cfg.Seed, index), source)
	if err != nil {
		return verdict{judge.Blocked, "the scenario can't be read: " + err.Error()}
	}
	res, err := r.cfg.Play(ctx, f, fast)
	if err != nil {
		return verdict{judge.Blocked, err.Error()}
	}
	return judged(res)
}

// judged: a file or clause that failed is a failure; a requirement for a clause that nothing exercised is not.
func judged(res engine.Result) verdict {
	for _, f := range res.Files {
		if f.Status != judge.Pass {
			return verdict{f.Status, f.Reason}
		}
	}
	for _, v := range res.Verdicts {
		if v.Status == judge.Fail {
			return verdict{judge.Fail, v.Clause + ": " + v.Number}
		}
	}
	if res.Trouble != "" {
		return verdict{judge.Blocked, res.Trouble}
	}
	return verdict{judge.Pass, ""}
}

func title(seed int64, index int) string { return fmt.Sprintf("Sequence %d of seed %d", index, seed) }

func (r *run) played(ops []Op) {
	n := steps(ops)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Sequences++
	r.sum.Operations += n
}

// say writes a line of progress. Called with mu held.
func (r *run) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.live, "%6.1f s  %s\n", (clock.Mono() - r.began).Seconds(), fmt.Sprintf(format, args...))
}

// suspect plays a sequence that did not pass once more, with the usual waits, and shrinks it.
func (r *run) suspect(outer context.Context, index int, ops []Op, first verdict) error {
	if !r.room(index, first, false) {
		return nil
	}
	again := r.try(outer, index, ops, false)
	switch {
	case outer.Err() != nil && first.status != judge.Fail: // it couldn't be judged, and now nobody will know why
		return nil
	case outer.Err() != nil: // found, but not confirmed: written as it is
		again = first
	case again.status == judge.Pass:
		r.mu.Lock()
		r.sum.Flaky++
		r.say("sequence %d passes with the usual limits: not counted", index)
		r.mu.Unlock()
		return nil
	case again.status != judge.Fail:
		r.mu.Lock()
		r.sum.Invalid++
		r.sum.Trouble = again.why
		r.say("sequence %d can't be judged: %s", index, oneLine(again.why))
		r.mu.Unlock()
		return nil
	}
	if !r.room(index, again, true) {
		return nil
	}
	f := Failure{Index: index, Why: again.why, From: len(ops), Ops: ops}
	s := &shrinker{ops: ops, why: again.why, fails: func(c []Op) (string, bool) {
		v := r.try(outer, index, c, true)
		return v.why, v.status == judge.Fail
	}, over: func() bool { return outer.Err() != nil }}
	s.run()
	if v := r.try(outer, index, s.ops, false); v.status == judge.Fail {
		f.Ops, f.Why = s.ops, v.why
	}
	f.Shrunk = outer.Err() == nil
	f.File = scenario(title(r.cfg.Seed, index), strings.ReplaceAll("Found by doorlab explore. "+f.Why, "\n", " "), f.Ops)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Failures = append(r.sum.Failures, f)
	r.say("sequence %d: %d of %d operations are left: %s", index, len(f.Ops), f.From, oneLine(f.Why))
	if r.cfg.Failed != nil {
		_, _ = r.live.Write(nil) // it says more, on the line that is drawn over
		return r.cfg.Failed(f)
	}
	return nil
}

// room reports whether another failure is wanted; take: this is one, so count it. After the last one, no further
// sequence starts.
func (r *run) room(index int, v verdict, take bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept >= r.cfg.Most {
		return false
	}
	if !take {
		r.say("sequence %d: %s: %s", index, v.status, oneLine(v.why))
	} else if r.kept++; r.kept == r.cfg.Most {
		r.stop()
	}
	return true
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = s[:300] + "..."
	}
	return s
}
