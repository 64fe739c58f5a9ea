package testbed

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestStopAnswersEverybody: if the process is told to stop while a caller waits for a silent board, the caller
// quickly gets its 504 instead of a cut connection.
func TestStopAnswersEverybody(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Wait: time.Hour}) // nobody must have to wait this long
	at := slices.IndexFunc(tb.cfg.World.Places, func(p world.Place) bool { return p.Kind == world.Test })
	c := partner(t, tb, at)
	door := tb.cfg.World.Places[at].Boards[0].Doors[0].ID
	const callers = 20
	got := make(chan int, callers)
	for i := range callers {
		go func() {
			a, err := c.Call(t.Context(), http.MethodPost, "/device/v1/devices/"+door+"/commands", "stop-"+string(rune('a'+i)),
				[]byte(`{"capability":"door","command":"open","args":{"reason":"sim:noResponse"}}`))
			if err != nil {
				t.Error(err)
				got <- 0
				return
			}
			got <- a.Status
		}()
	}
	told(t, tb, history.Intent, callers)
	if err := tb.Stop(); err != nil {
		t.Error(err)
	}
	for range callers {
		if s := <-got; s != http.StatusGatewayTimeout {
			t.Errorf("a waiting caller got %d, want %d", s, http.StatusGatewayTimeout)
		}
	}
}

// TestStopDuringARestart: a restart that waits for boards to come back doesn't hold up the end of the process. The board here
// doesn't notice that its server is gone, so it would be waited for as long as boards have.
func TestStopDuringARestart(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{})
	board := tb.cfg.World.Places[1].Boards[0].ID
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "halfopen", "boards": []string{board}}, nil)
	old, over := tb.life.Load(), make(chan error, 1)
	go func() {
		_, err := tb.lab().Call(t.Context(), http.MethodPost, "/lab/v1/restart", "", map[string]any{"kill": true})
		over <- err
	}()
	for l := old; l == nil || l == old; l = tb.life.Load() { // until it waits for boards
		select {
		case err := <-over:
			t.Fatalf("the restart was over before it waited for a board: %v", err)
		default:
			breathe(t)
		}
	}
	began := clock.Mono()
	must.OK(t, tb.Stop())
	if took := clock.Mono() - began; took > backWithin-2*time.Second { // it would wait that long for the board
		t.Errorf("stopping took %s, want it not to wait for boards", took)
	}
	if err := <-over; err != nil {
		t.Errorf("whoever asked for the restart got no answer: %v", err)
	}
}

// TestEndWithin: what doesn't end in time isn't waited for, and what does has its error told.
func TestEndWithin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, failed := time.Now(), errors.New("failed")
		slow := func() error { time.Sleep(time.Minute); return failed }
		late, err := endWithin(time.Second, nil, slow)
		if took := time.Since(began); took != time.Second || err != nil || late == nil {
			t.Fatalf("got %v after %s, want nothing after a second, and that it is late", err, took)
		}
		if err := <-late; !errors.Is(err, failed) {
			t.Errorf("the late one: got %v, want %v", err, failed)
		}
		for limit, f := range map[time.Duration]func() error{time.Second: func() error { return failed }, 0: slow} {
			if late, err := endWithin(limit, nil, f); late != nil || !errors.Is(err, failed) {
				t.Errorf("within %s: got %v, late %t; want %v, in time", limit, err, late != nil, failed)
			}
		}
	})
}

// TestEndWithinAnInterruption: what isn't interrupted is waited for; once it is, the time begins.
func TestEndWithinAnInterruption(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[time.Duration]time.Duration{0: time.Second, 20 * time.Second: 21 * time.Second, time.Hour: time.Minute} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			began := time.Now()
			late, err := endWithin(time.Second, ctx, func() error { time.Sleep(time.Minute); return nil })
			if took := time.Since(began); took != want || err != nil || (late != nil) != (want < time.Minute) {
				t.Errorf("interrupted after %s: got %v, late %t, after %s; want it after %s", after, err, late != nil, took, want)
			}
			cancel()
			if late != nil {
				<-late
			}
		}
	})
}

// TestLateServerKeepsItsDirectory: if Stop doesn't wait for the server any longer, it says so, and nobody else may start in
// the data directory before the server has ended.
func TestLateServerKeepsItsDirectory(t *testing.T) {
	t.Parallel()
	held, log, dir := make(chan struct{}), &capture.Text{}, t.TempDir()
	var stopping atomic.Bool
	tb := begin(t, Config{DataDir: dir, StopWithin: time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil)), Tell: func(e history.Event) {
		if e.Kind == history.Offline && stopping.Load() {
			<-held // the server has this event written on its way out
		}
	}})
	stopping.Store(true)
	must.OK(t, tb.Stop())
	if !strings.Contains(log.String(), "the server hasn't ended yet") {
		t.Errorf("got the log %q, want a warning", log)
	}
	if _, err := lockFile(dir, "lock"); !errors.Is(err, ErrInUse) {
		t.Errorf("while the server stops: got %v, want %v", err, ErrInUse)
	}
	close(held)
	for late := clock.Mono() + time.Minute; ; {
		if clock.Mono() > late {
			t.Fatal("a minute later, the data directory is still in use")
		}
		lock, err := lockFile(dir, "lock")
		if err == nil {
			must.OK(t, lock.Close())
			return
		}
		breathe(t)
	}
}

// told waits until the history has n events of a kind.
func told(t *testing.T, tb *Testbed, kind string, n int) {
	t.Helper()
	for seen := 0; seen < n; {
		must.OK(t, client.Pause(t.Context(), time.Millisecond))
		seen = 0
		must.OK(t, tb.History.Each(0, func(e *history.Event) error {
			if e.Kind == kind {
				seen++
			}
			return nil
		}))
	}
}
