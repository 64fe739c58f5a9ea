package engine

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/each"
)

func (l *lab) clock(ctx context.Context) (c clockView, err error) {
	err = l.ask(ctx, l.main, http.MethodGet, "/clock", nil, &c)
	return c, err
}

// abandoned is how many messages the jumps of each clock have given up.
func (l *lab) abandoned(ctx context.Context) ([]int64, error) {
	views, err := l.views(ctx, http.MethodGet, "/clock", nil)
	return each.Of(views, func(c clockView) int64 { return c.Abandoned }), err
}

// move freezes every clock or lets it run.
func (l *lab) move(ctx context.Context, do string) (clockView, error) {
	if do == "freeze" && len(l.all) > 1 {
		return l.halt(ctx)
	}
	return l.each(ctx, "/clock/"+do, nil)
}

// advance moves every clock to a time; if that is zero, by a duration. Several jump to one absolute time, so that
// separate processes stay in step: all freeze, all jump, all run again.
func (l *lab) advance(ctx context.Context, to time.Time, by time.Duration) (clockView, error) {
	before, err := l.clock(ctx)
	if err != nil {
		return before, err
	}
	running := before.State != "frozen"
	switch {
	case to.IsZero() && running && len(l.all) == 1:
		return l.each(ctx, "/clock/advance", map[string]any{"by": by.String()}) // the clock runs on meanwhile
	case to.IsZero() && !running:
		to = before.Now.Add(by)
	}
	if to.Truncate(time.Millisecond).Equal(before.Now.Truncate(time.Millisecond)) {
		return before, nil // times are whole milliseconds, so it is there already
	}
	if len(l.all) == 1 || !running {
		return l.jump(ctx, to)
	}
	frozen, err := l.views(ctx, http.MethodPost, "/clock/freeze", nil)
	if to.IsZero() {
		to = slices.MaxFunc(frozen, func(a, b clockView) int { return a.Now.Compare(b.Now) }).Now.Add(by)
	}
	if err == nil {
		_, err = l.jump(ctx, to)
	}
	after, again := l.each(ctx, "/clock/run", nil) // whatever happened: nobody asked for frozen clocks
	return after, cmp.Or(err, again)
}

// jump moves every clock to a time at once.
func (l *lab) jump(ctx context.Context, to time.Time) (clockView, error) {
	if err := l.settleAll(ctx); err != nil {
		return clockView{}, err
	}
	return l.each(ctx, "/clock/advance", map[string]any{"to": rfc3339(to)})
}

// settleAll waits, before a jump of several processes, for what is in flight between them: the server learns of
// connections that boards have ended, so that outages begin at the cut, then boards receive the changes that they were
// sent.
func (l *lab) settleAll(ctx context.Context) error {
	if len(l.all) < 2 {
		return nil
	}
	errs := make([]error, len(l.fleet))
	var wg sync.WaitGroup
	for i, base := range l.fleet {
		if base != l.main {
			wg.Go(func() { errs[i] = l.settle(ctx, base) })
		}
	}
	wg.Wait()
	return cmp.Or(errors.Join(errs...), l.settle(ctx, l.main))
}

func (l *lab) settle(ctx context.Context, base string) error {
	a, err := l.call(ctx, base, http.MethodPost, "/clock/settle", nil)
	if err != nil || a.Status == http.StatusNotFound || a.Status == http.StatusServiceUnavailable { // an older version, or restarting
		return err
	}
	return l.read(a, http.MethodPost, "/clock/settle", nil)
}

// halt freezes every clock and moves all of them to one time, so that a label means the same everywhere: the first
// whole millisecond that none has passed.
func (l *lab) halt(ctx context.Context) (latest clockView, err error) {
	for _, base := range l.all {
		var c clockView
		if err := l.ask(ctx, base, http.MethodPost, "/clock/freeze", nil, &c); err != nil {
			return c, err
		}
		if c.Now.After(latest.Now) {
			latest = c
		}
	}
	return l.each(ctx, "/clock/advance", map[string]any{"to": rfc3339(latest.Now.Add(time.Millisecond))})
}

// each posts to all listeners at once and returns the server's answer.
func (l *lab) each(ctx context.Context, path string, body any) (clockView, error) {
	views, err := l.views(ctx, http.MethodPost, path, body)
	return views[max(0, slices.Index(l.all, l.main))], err
}

// views asks all listeners at once.
func (l *lab) views(ctx context.Context, method, path string, body any) ([]clockView, error) {
	views, errs := make([]clockView, len(l.all)), make([]error, len(l.all))
	var wg sync.WaitGroup
	for i, base := range l.all {
		wg.Go(func() { errs[i] = l.ask(ctx, base, method, path, body, &views[i]) })
	}
	wg.Wait()
	return views, errors.Join(errs...)
}
