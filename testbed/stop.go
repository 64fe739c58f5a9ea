package testbed

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// stopTimeout bounds each part of stopping, except the server's end, for which there is Config.StopWithin.
const stopTimeout = 1500 * time.Millisecond

// hangUp stops accepting, answers all waiting callers, and gives each listener time to deliver the answers. Connections
// still open after that are cut.
func (t *Testbed) hangUp() {
	var done sync.WaitGroup
	for _, s := range append([]*http.Server{t.ctl, t.public}, t.beside.servers...) {
		if s == nil {
			continue
		}
		done.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*stopTimeout)
			defer cancel()
			if err := s.Shutdown(ctx); err != nil { // a slow upload, a reader that doesn't read
				_ = s.Close()
			}
		})
	}
	if l := t.life.Load(); l != nil {
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			l.server.Answer()
		}()
		over := make(chan struct{})
		defer clock.WallAfter(stopTimeout, func() { close(over) }).Stop()
		select {
		case <-answered:
		case <-over: // the disk stalls: every caller of a door has an answer, but the ledger doesn't
		}
		defer clock.WallAfter(stopTimeout/2, l.server.Hurry).Stop() // callers of everything else
	}
	done.Wait()
}

// Stop ends it within seconds: every caller is answered, and nothing that was answered is lost.
func (t *Testbed) Stop() error {
	var errs []error
	t.stop()
	t.hangUp()
	if t.fleet != nil {
		errs = append(errs, t.fleet.Stop())
	}
	t.restart.Lock() // let a restart in progress finish first
	defer t.restart.Unlock()
	var late <-chan error
	if l := t.life.Swap(nil); l != nil {
		var err error
		late, err = endWithin(t.cfg.StopWithin, t.cfg.Interrupted, l.server.Stop)
		errs = append(errs, err)
	}
	for _, f := range t.close {
		errs = append(errs, f())
	}
	if t.memory != nil {
		if t.Ready.Ready { // a start that failed changes nothing
			t.memory.remember(t.clk.Now())
		}
		if late == nil {
			errs = append(errs, t.memory.Close())
		} else { // nobody may start there while the server still writes
			t.late()
			go func() {
				if err := errors.Join(<-late, t.memory.Close()); err != nil {
					logOf(t.cfg).Error("the server ended late", "error", err)
				}
			}()
		}
	}
	return errors.Join(errs...)
}

// late tells that the server isn't waited for any longer.
func (t *Testbed) late() {
	if t.cfg.Late != nil {
		t.cfg.Late(t.cfg.StopWithin)
		return
	}
	logOf(t.cfg).Warn("the server hasn't ended yet; until it or the process has, the data directory stays in use", "waited", t.cfg.StopWithin)
}

// endWithin doesn't wait for f longer than that; 0 = as long as it takes. The time begins when interrupted is done; nil = at
// once. late gets the error of an f that hasn't ended by then, and is nil otherwise. Such a server has many boards on a busy
// machine, or hangs; what it answered is committed, as it would be if the process were killed.
func endWithin(limit time.Duration, interrupted context.Context, f func() error) (late <-chan error, err error) {
	if limit == 0 {
		return nil, f()
	}
	ended, over := make(chan error, 1), make(chan struct{})
	go func() { ended <- f() }()
	if interrupted != nil {
		select {
		case err := <-ended:
			return nil, err
		case <-interrupted.Done():
		}
	}
	defer clock.WallAfter(limit, func() { close(over) }).Stop()
	select {
	case err := <-ended:
		return nil, err
	case <-over:
		return ended, nil
	}
}
