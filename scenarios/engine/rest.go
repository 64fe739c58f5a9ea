package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// reset brings the laboratory to rest between files: no faults, a disk that works, time running, every board online.
func (r *run) reset(ctx context.Context, wait bool) error {
	if err := r.lab.alive(ctx); err != nil {
		return err
	}
	a, err := r.lab.patient(ctx, r.lab.main, http.MethodDelete, "/disk", nil)
	if err == nil && a.Status != http.StatusNotFound { // a target of an older version has none
		err = r.lab.read(a, http.MethodDelete, "/disk", nil)
	}
	if err != nil {
		return err
	}
	for _, base := range r.lab.fleet {
		if err := r.lab.ask(ctx, base, http.MethodPost, "/faults/reset", nil, nil); err != nil {
			return err
		}
	}
	if r.lab.mode == "virtual" {
		c, err := r.lab.move(ctx, "run")
		if err != nil {
			return err
		}
		r.saw(c)
	}
	if !wait {
		return nil
	}
	return r.synced(ctx, nil, backWithin)
}

// backWithin is how long boards have to come back between files, in wall time.
const backWithin = 60 * time.Second

// alive disarms a crash point that no command has reached, and waits for the restart of a server that has just died.
// A target that hasn't come back by then is gone, and isn't waited for again.
func (l *lab) alive(ctx context.Context) error {
	for began := clock.Mono(); l.gone == nil; {
		a, err := l.call(ctx, l.main, http.MethodDelete, "/restart", nil)
		if err == nil && a.Status != http.StatusServiceUnavailable {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("the server didn't restart: %s", a.short())
		}
		if clock.Mono()-began > l.revive {
			l.gone = err
			break
		}
		if err := client.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return l.gone
}

// How a run comes to rest: boards get some wall time to catch up, then the time passes within which every change must
// be on every board.
const (
	catchUp = 10 * time.Second
	overdue = (judge.FreshMs + 1000) * time.Millisecond
)

// comeToRest ends a run so that even its last changes can be judged: nothing is disturbed any more, and their time is
// up. A clock that can't be moved leaves them unjudged, which the result says.
func (r *run) comeToRest(ctx context.Context, res *Result) {
	err := r.reset(ctx, false)
	if err == nil && r.lab.mode != "virtual" {
		res.Note("the target's clock can't be moved, so changes made in the last %s of the run were not judged unless they had arrived (SYNC-1, SYNC-2, OFF-4)", overdue)
		return
	}
	if err == nil {
		_ = r.synced(ctx, nil, catchUp) // boards that never catch up are for the judge
		var c clockView
		if c, err = r.lab.advance(ctx, r.now().Add(overdue), 0); err == nil {
			r.saw(c)
			r.emit(history.Event{Kind: history.Label, Text: "waiting until the last changes are due"})
			r.readLists(ctx)
		}
	}
	if err != nil {
		res.Trouble = cmp.Or(res.Trouble, "the target did not come to rest: "+err.Error())
	}
}

// readLists reads what the API tells of the run: the records and the events of the places that it used, which the
// judge compares with what the server told of when it made them. A list that can't be read (its key may have been
// revoked) isn't compared. On a shared target, whose audit log would name the reader, only steps read.
func (r *run) readLists(ctx context.Context) {
	if r.target.Shared() {
		return
	}
	from := time.UnixMilli(max(r.begun.At-time.Minute.Milliseconds(), r.now().Add(time.Minute-30*24*time.Hour).UnixMilli())).UTC()
	asked, n := each.Set(r.log.Snapshot(), func(e history.Event) string { return e.PlaceID }), 0
	for _, p := range r.target.Places {
		if p.APIKey == "" || !asked[p.PlaceID] || n == listPlaces { // nothing happened there
			continue
		}
		n++
		for _, path := range []string{
			"/space/v1/partner/entry-logs?sinceDays=30",
			"/core/v1/places/" + esc(p.PlaceID) + "/events?from=" + rfc3339(from),
		} {
			for offset, more := 0, true; more; {
				a, err := r.do(ctx, request{method: http.MethodGet, path: fmt.Sprintf("%s&limit=%d&offset=%d", path, listPage, offset), apiKey: p.APIKey, placeID: p.PlaceID, own: true})
				if err != nil || a.Status != http.StatusOK {
					break
				}
				page, _ := a.field("data").([]any)
				offset, more = offset+len(page), len(page) == listPage
			}
		}
	}
}

// listPage is the largest page of a list. listPlaces bounds what reading them costs in a large fleet.
const (
	listPage   = 500
	listPlaces = 25
)

// leaveWithin bounds restoring what a file changed, in wall time, and leaveSoon the wait for boards after an interruption.
const (
	leaveWithin = 2 * time.Minute
	leaveSoon   = 5 * time.Second
)

// leave restores what a file changed on a shared target, so that the next file and the next run find it as this one
// did.
func (r *run) leave(ctx context.Context, res *Result) {
	interrupted := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	err := r.reset(ctx, false)
	if err == nil {
		waiting, enough := context.WithCancel(ctx)
		defer enough()
		defer context.AfterFunc(interrupted, func() { clock.WallAfter(leaveSoon, enough) })()
		if err = r.synced(waiting, nil, backWithin); waiting.Err() != nil && ctx.Err() == nil {
			err = errors.New("the run was interrupted before every board was back")
		}
	}
	if gone := r.lab.lost(); gone != "" {
		res.Trouble = cmp.Or(res.Trouble, gone+": "+err.Error())
		return
	}
	if back := r.putBack(ctx); err == nil {
		err = back
	}
	if err != nil && res.Trouble == "" {
		res.Trouble = "the target could not be put back as it was: " + err.Error()
	}
}

// gaveUp makes a file INVALID if jumps of the clock gave up messages: their effects happened at another time, if at
// all.
func (f *fileRun) gaveUp(ctx context.Context, before []int64, res *FileResult) {
	after, err := f.run.lab.abandoned(ctx)
	n := int64(0)
	for i, count := range after {
		if n += count; count >= before[i] { // else a new process has counted from 0
			n -= before[i]
		}
	}
	if err != nil || n == 0 {
		return
	}
	why := fmt.Sprintf("jumps of the clock gave up on %d messages that had not arrived", n)
	if res.Status == judge.Pass {
		res.Status, res.Reason = judge.Invalid, why
	} else {
		res.Reason += "; " + why
	}
}
