package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/loadtest"
)

// run is one run over a target.
type run struct {
	id      string
	seed    int64
	target  Target
	opt     Options
	api     *public
	lab     *lab // nil without a control listener
	dir     *directory
	log     *history.Log
	out     *progress
	mask    masker
	phones  phones
	keys    sync.Map // secrets of keys that were issued, by id
	issued  sync.Map // what tokens were given out for, by token
	unread  error    // the target's documents that could not be read
	display *display
	begun   history.Event
	aside   aside         // what others had set up, on a target
	meter   *client.Meter // of the clocks of a target's processes

	undo    undo        // of the file that is played
	undoing atomic.Bool // changes made now aren't undone

	mu         sync.Mutex
	offset     time.Duration // domain time minus wall time, while running
	frozen     time.Time     // domain time while frozen, else zero
	assertions []judge.Assertion
}

// Run plays the files in order and judges what happened. It returns an error only if the run couldn't start; a target
// that doesn't answer is a Result with Unreached.
func Run(ctx context.Context, target Target, files []*File, opt Options) (Result, error) {
	if len(files) == 0 {
		return Result{}, errors.New("no scenario files")
	}
	r := newRun(target, opt)
	opt.Metrics = r.opt.Metrics
	if r.display = opt.display; r.display == nil {
		r.display = newDisplay(&opt, len(files))
		r.out.w = r.display
		defer r.display.End()
	}
	res := Result{Seed: r.seed, Started: clock.WallNow(), Target: target, Config: opt.Config, Require: opt.Require, Whole: opt.Whole, Random: opt.Random, Shard: opt.Shard}
	began := clock.Mono()
	defer r.close()
	if err := r.begin(ctx); err != nil {
		res.Status, res.Unreached, res.Reason = judge.Blocked, true, r.mask.text(err.Error())
		r.out.line("%s", res.Reason)
		return res, ctx.Err()
	}
	over := ""
	for _, f := range files {
		if over = cmp.Or(over, interruption(ctx), r.lab.lost()); over != "" {
			res.Files = append(res.Files, notPlayed(f, over))
			continue
		}
		played := r.shown(ctx, f)
		if r.target.Shared() && r.lab != nil {
			if len(played.Steps) > 0 {
				r.leave(ctx, &res)
			}
		}
		if r.keysOnly() {
			r.leaveKeys(ctx, &res)
		}
		res.Files = append(res.Files, played)
		over = stopsAt(opt, played)
	}
	rest, cancel := restOf(ctx)
	defer cancel()
	last := files[len(files)-1].Base()
	if opt.display == nil {
		r.display.finally("judging")
	}
	_, rested := r.display.step(last, "coming to rest")
	if r.lab != nil {
		r.comeToRest(rest, &res)
		r.restore(rest, &res)
	}
	rested()
	r.lookForDeath(ctx, &res)
	_, judged := r.display.step(last, "judging")
	if r.keysOnly() {
		res.Scores = Conformance(files)
	}
	r.judge(rest, &res)
	judged()
	if opt.display == nil {
		opt.Metrics.judged(res)
		r.sayBroken(files, res)
	}
	res.Seconds = (clock.Mono() - began).Seconds()
	return res, ctx.Err()
}

// shown plays a file and shows it on the display.
func (r *run) shown(ctx context.Context, f *File) FileResult {
	if r.opt.display != nil { // its caller shows the files already
		return r.playFile(ctx, f)
	}
	r.display.start(f.Base())
	played := r.playFile(ctx, f)
	r.display.done(f.Base(), played.Status, nil)
	return played
}

// sayBroken says which files aren't what they were called when they ended: only the checkers saw what was wrong.
func (r *run) sayBroken(files []*File, res Result) {
	for i, f := range res.Files {
		if f.Played != nil && f.Played.Status != f.Status {
			r.out.line("%s %s  %s", r.out.colors.Status(f.Status), files[i].Base(), f.Reason)
		}
	}
}

// restTime bounds what is left to do after the last file: coming to rest, and the history. After an interruption, people wait
// for that.
const (
	restTime = 5 * time.Minute
	restSoon = 15 * time.Second
)

// restOf is the context for that: whatever was played is judged, even after an interruption.
func restOf(ctx context.Context) (context.Context, context.CancelFunc) {
	rest, done := context.WithTimeout(context.WithoutCancel(ctx), restTime)
	stop := context.AfterFunc(ctx, func() { clock.WallAfter(restSoon, done) })
	return rest, func() { stop(); done() }
}

// interruption says why no more files are played, "" while the run goes on.
func interruption(ctx context.Context) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return ""
}

// lost is interruption for a target that is gone.
func (l *lab) lost() string {
	if l == nil || l.gone == nil {
		return ""
	}
	return fmt.Sprintf("the target hasn't answered for %s", l.revive)
}

// stopsAt is interruption for a file that went wrong and should be the last one.
func stopsAt(opt Options, f FileResult) string {
	if opt.FailFast && bad(f.Status) {
		return fmt.Sprintf("stopped at the first failure, %s", f.Path)
	}
	return ""
}

// notPlayed is the result of a file that the run didn't get to.
func notPlayed(f *File, why string) FileResult {
	return FileResult{Path: f.Path, Play: f.play, Plays: f.plays, Name: cmp.Or(f.Doc.Name, f.Base()), Description: f.Doc.Description, Clauses: f.Doc.Clauses,
		Status: judge.Skipped, Reason: report.NotRun + why, Started: clock.WallNow(), Source: f.Source}
}

func newRun(target Target, opt Options) *run {
	opt.Seed = cmp.Or(opt.Seed, 1)
	if opt.Loader == nil {
		opt.Loader = loadtest.Run
	}
	opt.Wait, opt.Metrics = cmp.Or(opt.Wait, 5*time.Second), cmp.Or(opt.Metrics, NewMetrics())
	target.HTTP = strings.TrimSuffix(target.HTTP, "/")
	target.Control = each.Of(target.Control, func(c string) string { return strings.TrimSuffix(c, "/") })
	r := &run{seed: opt.Seed, target: target, opt: opt, api: newClient(target.HTTP, target.TLS)}
	r.id = fmt.Sprintf("%x", clock.WallNow().UnixNano()&0xffffffff)
	r.log = history.NewLog(func() int64 { return clock.WallNow().UnixNano() })
	r.out = &progress{w: opt.Progress, verbose: opt.Verbose, colors: opt.Colors}
	r.api.domain = r.now
	r.api.told = func(q request, from string, sent sending, a *answer) { r.called(q, http.Header{}, from, sent, a) }
	r.mask.add(target.Tokens...)
	for _, p := range target.Places {
		r.mask.add(p.APIKey)
	}
	if len(target.Control) > 0 {
		r.lab = newLab(target)
		r.lab.revive = cmp.Or(opt.revive, reviveTime)
		r.lab.watch = r
	}
	return r
}

func (r *run) close() {
	r.api.http.CloseIdleConnections()
	if r.lab != nil {
		r.lab.http.CloseIdleConnections()
	}
}

// begin waits for the target and finds out what it has.
func (r *run) begin(ctx context.Context) error {
	deadline := clock.Mono() + r.opt.Wait
	for {
		a, err := send(ctx, r.api.http, http.MethodGet, r.api.base+"/readyz", nil, nil)
		if err == nil && a.Status == http.StatusOK || err == nil && a.Status == http.StatusNotFound {
			break
		}
		if err == nil {
			err = fmt.Errorf("the target isn't ready: %s/readyz answers %s", r.api.base, a.short())
		} else {
			err = fmt.Errorf("the target is %w", err)
		}
		if clock.Mono() > deadline || ctx.Err() != nil {
			return err
		}
		if err := client.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	r.unread = r.api.read(ctx)
	if r.lab != nil {
		err := r.lab.discover(ctx)
		if err == nil {
			r.lab.sip, err = r.lab.findSIP(ctx, r.target.HTTP)
		}
		if err != nil {
			return err
		}
		if r.target.Shared() {
			r.meter = client.MeasureClocks(ctx, r.lab.clients())
		}
		c, err := r.lab.clock(ctx)
		if err != nil {
			return err
		}
		r.saw(c)
		if err := r.look(ctx, c); err != nil {
			return err
		}
	}
	r.begun = history.Event{At: r.now().UnixMilli(), WallNs: clock.WallNow().UnixNano(), Text: r.id}
	r.dir = &directory{run: r}
	return r.dir.load(ctx)
}

// now is domain time as far as the run knows it.
func (r *run) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.frozen.IsZero() {
		return r.frozen
	}
	return clock.WallNow().Add(r.offset).UTC()
}

// saw notes a clock's reading.
func (r *run) saw(c clockView) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen = time.Time{}
	if c.State == "frozen" {
		r.frozen = c.Now
	}
	r.offset = c.Now.Sub(clock.WallNow())
}

// catchUp asks for the time again, if there is anybody to ask.
func (r *run) catchUp(ctx context.Context) {
	if r.lab == nil {
		return
	}
	if c, err := r.lab.clock(ctx); err == nil {
		r.saw(c)
	}
}

// emit appends to the run's own history.
func (r *run) emit(e history.Event) {
	if e.At == 0 {
		e.At = r.now().UnixMilli()
	}
	r.log.Append(e)
	if r.opt.Sink != nil {
		r.opt.Sink(e)
	}
}

func (r *run) targetInfo() map[string]any {
	return map[string]any{
		"http": r.target.HTTP, "places": len(r.target.Places), "boards": len(r.dir.boards), "control": r.lab != nil,
		"virtual": r.lab != nil && r.lab.mode == "virtual",
	}
}

// judge merges the histories, runs the checkers and writes the ledger.
func (r *run) judge(ctx context.Context, res *Result) {
	parts := [][]history.Event{r.log.Snapshot()}
	var bases [][]history.Event
	if r.lab != nil {
		found, others, err := r.lab.history(ctx)
		if err != nil { // a part of it would accuse the target of what the rest explains
			found, others = nil, nil
			res.Trouble = cmp.Or(res.Trouble, "the history could not be fetched: "+err.Error())
			r.lookForDeath(ctx, res)
		}
		if r.meter != nil {
			res.Clocks = r.meter.End(ctx)
			res.Clocks.Apply(slices.Index(r.lab.all, r.lab.main), found, others)
		}
		bases, parts = found, append(parts, others...)
	}
	if r.unread != nil && res.Trouble == "" {
		res.Trouble = "answers were not checked: " + oneLine(r.unread)
	}
	res.Trouble = r.mask.text(res.Trouble)
	res.Assertions = r.assertions
	if r.target.Shared() {
		res.Settle(history.Since(r.begun, bases, parts))
	} else {
		res.Settle(history.Merge(parts...))
	}
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
