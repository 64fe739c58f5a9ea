package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/loadtest"
)

// run is one run over a target.
type run struct {
	id     string
	seed   int64
	target Target
	opt    Options
	api    *client
	lab    *lab // nil without a control listener
	dir    *directory
	log    *history.Log
	out    *progress
	mask   mask

	mu         sync.Mutex
	offset     time.Duration // domain time minus wall time, while running
	frozen     time.Time     // domain time while frozen, else zero
	assertions []history.Assertion
}

// Run plays the files in order and judges what happened. The error is only for
// what kept the run from starting at all; a target that does not answer is a
// Result with Unreached.
func Run(ctx context.Context, target Target, files []*File, opt Options) (Result, error) {
	if len(files) == 0 {
		return Result{}, errors.New("no scenario files")
	}
	r := newRun(target, opt)
	res := Result{Seed: r.seed, Started: clock.WallNow(), Target: target, Config: opt.Config}
	began := clock.Mono()
	defer r.close()
	if err := r.begin(ctx); err != nil {
		res.Status, res.Unreached, res.Reason = history.Blocked, true, r.mask.text(err.Error())
		r.out.line("target unreachable: %s", res.Reason)
		return res, ctx.Err()
	}
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		res.Files = append(res.Files, r.playFile(ctx, f))
	}
	if r.lab != nil {
		_ = r.settle(ctx, false)
	}
	r.judge(ctx, &res)
	res.Seconds = (clock.Mono() - began).Seconds()
	return res, ctx.Err()
}

func newRun(target Target, opt Options) *run {
	if opt.Seed == 0 {
		opt.Seed = 1
	}
	if opt.Loader == nil {
		opt.Loader = loadtest.Run
	}
	if opt.Wait == 0 {
		opt.Wait = 5 * time.Second
	}
	target.HTTP = strings.TrimSuffix(target.HTTP, "/")
	control := make([]string, len(target.Control))
	for i, c := range target.Control {
		control[i] = strings.TrimSuffix(c, "/")
	}
	target.Control = control
	r := &run{seed: opt.Seed, target: target, opt: opt, api: newClient(target.HTTP)}
	r.id = fmt.Sprintf("%x", clock.WallNow().UnixNano()&0xffffffff)
	r.log = history.NewLog(func() int64 { return clock.WallNow().UnixNano() })
	r.out = &progress{w: opt.Progress, verbose: opt.Verbose}
	r.api.domain = r.now
	r.mask.add(append([]string{target.ControlToken}, target.Tokens...)...)
	for _, p := range target.Places {
		r.mask.add(p.APIKey)
	}
	if len(target.Control) > 0 {
		r.lab = newLab(target)
	}
	return r
}

func (r *run) close() {
	r.api.http.CloseIdleConnections()
	if r.lab != nil {
		r.lab.http.CloseIdleConnections()
	}
}

// begin waits for the target and looks around.
func (r *run) begin(ctx context.Context) error {
	deadline := clock.Mono() + r.opt.Wait
	for {
		a, err := send(ctx, r.api.http, http.MethodGet, r.api.base+"/readyz", nil, nil)
		if err == nil && a.Status == http.StatusOK || err == nil && a.Status == http.StatusNotFound {
			break
		}
		if err == nil {
			err = fmt.Errorf("%s/readyz: %s", r.api.base, a.short())
		}
		if clock.Mono() > deadline || ctx.Err() != nil {
			return err
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	r.api.read(ctx)
	if r.lab != nil {
		if err := r.lab.discover(ctx); err != nil {
			return err
		}
		c, err := r.lab.clock(ctx)
		if err != nil {
			return err
		}
		r.saw(c)
	}
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

// saw takes in what a clock said.
func (r *run) saw(c clockView) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen = time.Time{}
	if c.State == "frozen" {
		r.frozen = c.Now
	}
	r.offset = c.Now.Sub(clock.WallNow())
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

// settle takes the laboratory back to rest between files: no faults, time
// running, every board online.
func (r *run) settle(ctx context.Context, wait bool) error {
	for _, base := range r.lab.fleet {
		if err := r.lab.ask(ctx, base, http.MethodPost, "/faults/reset", nil, nil); err != nil {
			return err
		}
	}
	if r.lab.mode == "virtual" {
		c, err := r.lab.move(ctx, "run", time.Time{})
		if err != nil {
			return err
		}
		r.saw(c)
	}
	if !wait {
		return nil
	}
	return r.synced(ctx, nil, 60*time.Second)
}

// judge merges the histories, runs the checkers and writes the ledger.
func (r *run) judge(ctx context.Context, res *Result) {
	parts := [][]history.Event{r.log.Snapshot()}
	if r.lab != nil {
		others, err := r.lab.history(ctx)
		if err != nil {
			res.Reason = "the history could not be fetched: " + err.Error()
		}
		parts = append(parts, others...)
	}
	res.Assertions = r.assertions
	if res.Reason != "" {
		res.Status = history.Blocked
	}
	res.Settle(history.Merge(parts...))
}

// Settle runs the checkers over a history and settles ledger and status.
func (res *Result) Settle(events []history.Event) {
	res.Events = events
	res.Verdicts = history.Judge(history.NewView(events))
	res.Ledger = history.Ledger(res.Verdicts, res.Assertions)
	if res.Status != history.Blocked || len(res.Files) > 0 && res.Reason == "" {
		res.Status = history.Skipped
	}
	for _, f := range res.Files {
		res.Status = heavier(res.Status, f.Status)
	}
	for _, v := range res.Verdicts {
		if v.Status != history.Fail {
			continue
		}
		if res.Status = heavier(res.Status, v.Status); res.Reason == "" {
			res.Reason = v.Clause + ": " + v.Number
		}
	}
}

var weights = map[history.Status]int{"": 0, history.Skipped: 1, history.Pass: 2, history.Invalid: 3, history.Blocked: 4, history.Fail: 5}

// heavier is the worse of two statuses.
func heavier(a, b history.Status) history.Status {
	if weights[b] > weights[a] {
		return b
	}
	return a
}

// assert adds evidence about clauses.
func (r *run) assert(s *StepResult, file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := s.Boundary
	if s.Status != history.Pass {
		number, _, _ = strings.Cut(s.Detail, "\n")
	}
	for _, c := range s.Clauses {
		r.assertions = append(r.assertions, history.Assertion{Clause: c, Name: file + ": " + s.Name, Status: s.Status, Number: number})
	}
}
