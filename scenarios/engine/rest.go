package engine

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

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

// How a run comes to rest: boards get a while of wall time to catch up, then the
// time within which every change has to be on every board passes.
const (
	catchUp = 10 * time.Second
	overdue = (judge.FreshMs + 1000) * time.Millisecond
)

// comeToRest ends a run so that its last changes can be judged, too: nothing is
// disturbed any more, and their time is up. A clock that can't be moved leaves them
// unjudged, which the result says.
func (r *run) comeToRest(ctx context.Context, res *Result) {
	err := r.settle(ctx, false)
	if err == nil && r.lab.mode != "virtual" {
		res.Note("the target's clock can't be moved, so what changed in the last %s of the run was not judged unless it arrived (SYNC-1, SYNC-2, OFF-4)", overdue)
		return
	}
	if err == nil {
		_ = r.synced(ctx, nil, catchUp) // boards that never do are what is judged
		var c clockView
		if c, err = r.lab.move(ctx, "advance", r.now().Add(overdue)); err == nil {
			r.saw(c)
			r.emit(history.Event{Kind: history.Label, Text: "the last changes are due"})
		}
	}
	if err != nil {
		res.Trouble = "the target did not come to rest: " + err.Error()
	}
}

// gaveUp makes a file INVALID in which jumps of the clock gave up messages: what
// they would have done happened at another time, if at all.
func (f *fileRun) gaveUp(ctx context.Context, before int64, res *FileResult) {
	n, err := f.run.lab.abandoned(ctx)
	if err != nil || n == before {
		return
	}
	why := fmt.Sprintf("jumps of the clock gave up %d messages that had not arrived", n-before)
	if res.Status == judge.Pass {
		res.Status, res.Reason = judge.Invalid, why
	} else {
		res.Reason += "; " + why
	}
}
