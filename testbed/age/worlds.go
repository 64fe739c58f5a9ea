package age

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/crew"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/internal/report"
)

// perWorld is the number of boards per world, unless Config says otherwise.
const perWorld = 50

// worlds are the worlds of a run. Each has its own clock, server and database, so that one works while another waits
// for its disk or its boards.
type worlds struct {
	c     Config
	began time.Duration // clock.Mono
	runs  []*run
}

// Run plays and judges. The result is complete however the run ended; the error is ctx's or what stopped the run.
func Run(ctx context.Context, c Config) (report.Result, Counts, error) {
	w, started := divide(c), clock.WallNow()
	line := live.Start(c.Progress, w.progress)
	err := w.play(ctx)
	line.End()
	counts := w.counts()
	return w.result(ctx, started, counts, err), counts, err
}

// divide makes the worlds.
func divide(c Config) *worlds {
	c.Segment = cmp.Or(c.Segment, week)
	c.Wait = cmp.Or(c.Wait, wait)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Worlds = cmp.Or(c.Worlds, c.Boards/perWorld)
	c.Worlds = max(1, min(c.Worlds, c.Boards))
	w := &worlds{c: c, began: clock.Mono()}
	for i := range c.Worlds {
		of := c
		of.Seed, of.Boards = c.Seed+int64(i)<<32, (c.Boards+i)/c.Worlds
		r := &run{count: newCounts(), armed: map[string]string{}, crew: crew.New(), kept: newCarried()}
		if c.Worlds > 1 {
			r.name = fmt.Sprintf("world %d", i+1)
			of.DataDir = filepath.Join(c.DataDir, fmt.Sprintf("world-%d", i+1))
		}
		r.c = of
		w.runs = append(w.runs, r)
	}
	return w
}

// play plays the worlds side by side. One that can't continue ends the others.
func (w *worlds) play(ctx context.Context) error {
	own, end := context.WithCancel(ctx)
	defer end()
	errs := make([]error, len(w.runs))
	var wg sync.WaitGroup
	for i, r := range w.runs {
		r.interrupted = ctx
		wg.Go(func() {
			if errs[i] = r.whole(own); errs[i] != nil {
				end()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return ctx.Err()
}

// counts are those of all worlds.
func (w *worlds) counts() Counts {
	sum := newCounts()
	for _, r := range w.runs {
		sum.add(r.counts())
	}
	return sum
}

// progress is how far the run is, in a line.
func (w *worlds) progress() string {
	var played time.Duration
	for _, r := range w.runs {
		played += r.played() / time.Duration(len(w.runs))
	}
	gone, n, left := clock.Mono()-w.began, w.counts().Decisions, "?"
	share := played.Seconds() / w.c.For.Seconds()
	if share > 0.001 {
		left = amount.Duration((time.Duration(float64(gone)/share) - gone).Round(time.Second).Seconds())
	}
	return fmt.Sprintf("%s  %3.0f%%  %s, %.0f/s, %s left, heap %d MB", w.c.Start.Add(played).UTC().Format("2006-01-02 15:04"), 100*share, amount.Many(n, "decision"), float64(n)/gone.Seconds(), left, heap()>>20)
}

// result is what the run found out.
func (w *worlds) result(ctx context.Context, started time.Time, counts Counts, err error) report.Result {
	c := w.c
	res := report.Result{Schema: report.SchemaVersion, Version: c.Version, Seed: c.Seed, Started: started, Seconds: (clock.Mono() - w.began).Seconds(), Worlds: len(w.runs), Unit: "part",
		Config: map[string]any{"for": c.For.String(), "start": c.Start, "boards": c.Boards, "worlds": len(w.runs), "doors": c.Doors, "entries": c.Entries, "counts": counts}}
	if err != nil && ctx.Err() == nil {
		res.Trouble = err.Error()
	}
	kept, verdicts := w.runs[0], [][]judge.Verdict{}
	for _, r := range w.runs {
		r.judging.Wait()
		res.Files, res.Notes, verdicts = append(res.Files, r.files...), append(res.Notes, r.notes...), append(verdicts, r.verdicts)
		if ctx.Err() != nil {
			res.Note("interrupted after %s of virtual time%s", r.played().Round(time.Minute), r.of())
		}
		if r.breached && !kept.breached {
			kept = r
		}
	}
	if counts.Decisions == 0 && err == nil {
		res.Files = append(res.Files, report.FileResult{Path: "entries", Name: "entries", Status: judge.Invalid, Reason: "nobody came to a door: no entry was drawn, so nothing was tested"})
	}
	if len(kept.evidence) > 0 && len(res.Files) > 1 {
		res.Note("history.ndjson has only %s (%s)", map[bool]string{true: "the first part in which a guarantee was broken", false: "the last part"}[kept.breached], kept.shown)
	}
	res.SettleVerdicts(kept.evidence, judge.Combine(verdicts...))
	for _, f := range res.Files {
		res.Reason = cmp.Or(res.Reason, f.Reason)
	}
	return res
}
