// Package loadtest sends door commands and other requests at a planned rate (open model, with vegeta as the engine) and summarizes the
// answers. A Plan goes in, a Result comes out. Every HTTP attempt is an Attempt, a Call and an Answer in the history,
// so the checkers that judge scenarios judge load runs, too. It only uses HTTP.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/internal/report"
)

// What a load shares with scenarios.
type (
	Target = report.Target
	Place  = report.Place
)

// Clock tells domain time.
type Clock interface{ Now() time.Time }

// Looker is a clock that may have missed a jump, and looks again.
type Looker interface{ Look(ctx context.Context) }

// Options of a run; the zero value works.
type Options struct {
	History   func(history.Event) // nil: none
	Progress  live.Screen         // its zero value is silent
	Seed      int64               // 0: the plan's, else 1
	AllowHost bool                // allow a target that is not loopback
	Metrics   *Metrics            // what is counted while it runs; nil: nobody looks
	Link      string              // how the run's own boards reach the broker, for the report; "" = they aren't its own
	Client    string              // their MQTT client
	Report    *Report             // how soon they report; nil: unknown
	OutDir    string              // "": writes no files
	Clock     Clock               // domain time of the events; nil: asked from Target.Control, else the machine's
	Judge     bool                // judge the guarantees by the histories of the run and of Target.Control
	Spare     []string            // doors to send no commands to
	Baseline  string              // result.json of an earlier run to compare with; "": none
	Part      Part                // this run's part of what several generators do together; zero: all of it
	StartAt   time.Time           // when the first request is due; zero: as soon as the target is ready
	Version   string              // of the program, for the result

	transport http.RoundTripper // tests: instead of the network
	atOnce    int64             // tests: instead of judgedAtOnce
}

// Run runs the plan and returns its result. It returns an error if the run couldn't take place: an invalid plan,
// ErrHost, ErrNoDoors, ErrNoFaults, ErrKey, ErrScope, ErrClock, ErrShard, ErrOut, a baseline that can't be read, an unreachable target; or ctx's
// error, with what was measured so far.
func Run(ctx context.Context, t Target, p Plan, o Options) (Result, error) {
	var before Result
	if o.Baseline != "" { // a missing baseline is reported before the run, not after it
		var err error
		if before, err = ReadBaseline(o.Baseline); err != nil {
			return Result{}, fmt.Errorf("baseline: %w", err)
		}
	}
	var log *history.Log
	if o.Judge {
		log = o.newLog()
		defer func() { _ = log.Close() }() // only closes a file that was read
	}
	// The clock's follower ends with the run.
	inner, cancel := context.WithCancel(ctx)
	r, err := prepare(inner, t, p, o)
	if r != nil {
		defer r.close()
	}
	defer cancel()
	if err != nil {
		return Result{}, err
	}
	files, err := r.create()
	if err != nil {
		return Result{}, unwritten(err)
	}
	others := ""
	if o.Judge && (r.shard == nil || r.shard.Index == 1) { // a scenario's load knows its own, and so does the shard that arms the plan's
		others = armedAlready(inner, clients(t))
	}
	if err := r.wait(inner); err != nil {
		return Result{}, errors.Join(err, files.finish(Result{Schema: SchemaVersion, Version: o.Version, Seed: r.seed, World: r.world(), Plan: r.plan, Verdict: Invalid,
			Reasons: []string{"interrupted before its start"}, Shard: r.shard, Series: []Point{}}))
	}
	res, err := r.run(inner)
	if others != "" {
		res.Notes = append(res.Notes, others)
	}
	res.Schema, res.Version = SchemaVersion, o.Version
	if o.Judge && err == nil { // interrupted runs too: what was sent is evidence
		kept := files.finish(res.unproven("doorlab ended before that")) // judging may take long, and be killed
		proving, done := proofTime(ctx, res.Sent)
		told := live.Start(o.Progress, func() string { return r.plan.Name + ": reading the history and judging" })
		err = unwritten(errors.Join(kept, r.prove(proving, t, log, &res)))
		told.End()
		done()
		if res.Guarantees.NotJudged != "" {
			r.lookForDeath(inner, &res)
		}
		res.settleGone() // judging may have called it something else
	}
	if o.Baseline != "" {
		res.Compare = compare(o.Baseline, before, res)
	}
	return res, errors.Join(err, unwritten(files.finish(res)), ctx.Err())
}

func (r *runner) run(ctx context.Context) (Result, error) {
	if r.plan.Pacer == "search" {
		return r.search(ctx)
	}
	s, err := newSchedule(r.plan).part(r.shard)
	if err != nil {
		return Result{}, err
	}
	return r.step(ctx, s, r.plan.Name)
}

// wait waits until the run should start; it returns ctx's error if that ends first.
func (r *runner) wait(ctx context.Context) error {
	left := r.opts.StartAt.Sub(clock.Real{}.Now()) // agreed between machines
	if r.opts.StartAt.IsZero() || left <= 0 {
		return nil
	}
	told := live.Start(r.opts.Progress, func() string {
		return fmt.Sprintf("%s: ready, starts at %s", r.plan.Name, r.opts.StartAt.UTC().Format(time.TimeOnly+"Z"))
	})
	defer told.End()
	return client.Pause(ctx, left)
}

// step sends one schedule, and measures and judges it alone.
func (r *runner) step(ctx context.Context, s *schedule, name string) (Result, error) {
	r.api.promise.restart()
	before, began := countAll(ctx, r.target), clock.Mono()
	c, src, w, err := r.attack(ctx, s, name)
	spent := clock.Mono() - began
	res := r.judge(s, c, src, w, ctx.Err() != nil)
	res.over = clock.WallNow()
	last, cancel := finishing(ctx)
	defer cancel()
	r.used(last, before, spent.Seconds(), &res)
	if res.silent() > 0 {
		r.lookForDeath(ctx, &res)
	}
	return res, err
}
