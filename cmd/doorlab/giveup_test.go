package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/capture"
)

// TestHungCommandEnds: a command that writes results and hangs after an interruption says after a second how to end it, and
// ends after the stated time. Others have limits of their own.
func TestHungCommandEnds(t *testing.T) {
	t.Parallel()
	for command, patient := range map[string]bool{"check": true, "load": true, "explore": true, "age": true, "up": false, "serve": false, "wait": false} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				stderr, again, code := &capture.Text{}, 0, -1
				began, ended := time.Now(), time.Duration(0)
				hurry(ctx, []string{command, "x"}, stderr, func() { again++ }, func(c int) { code, ended = c, time.Since(began) })
				time.Sleep(time.Hour)
				if synctest.Wait(); again != 0 || stderr.String() != "" {
					t.Errorf("before any signal: a second one ends it: %d, stderr %q; want neither", again, stderr)
				}
				began = time.Now()
				interrupt()
				time.Sleep(time.Minute)
				synctest.Wait()
				if again != 1 {
					t.Errorf("a second signal was let through %d times, want once", again)
				}
				if !patient {
					if code != -1 || stderr.String() != "" {
						t.Errorf("got exit code %d and %q, want that it isn't ended", code, stderr)
					}
					return
				}
				if code != codeInterrupted || ended != giveUpAfter {
					t.Errorf("got exit code %d after %s, want %d after %s", code, ended, codeInterrupted, giveUpAfter)
				}
				for _, want := range []string{"at most 30s; Ctrl-C again ends it at once", "30s after the interruption something still hangs, so " + command + " ends without it"} {
					if !strings.Contains(stderr.String(), want) {
						t.Errorf("stderr %q lacks %q", stderr, want)
					}
				}
			})
		})
	}
}

// TestEndedCommandIsLeftAlone: a command that has ended in time isn't ended again, and nothing more is said.
func TestEndedCommandIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, interrupted := range []bool{false, true} {
			ctx, interrupt := context.WithCancel(t.Context())
			stderr, calls := &capture.Text{}, 0
			over := hurry(ctx, []string{"check"}, stderr, func() { calls++ }, func(int) { calls++ })
			if interrupted {
				interrupt()
				time.Sleep(500 * time.Millisecond)
			}
			over()
			interrupt()
			time.Sleep(time.Hour)
			if synctest.Wait(); calls != 0 || stderr.String() != "" {
				t.Errorf("interrupted: %t: got %d calls and %q after the end, want neither", interrupted, calls, stderr)
			}
		}
	})
}

// TestHungServerIsLeft: an interrupted check doesn't wait for a server of its own that never ends, and says so once.
func TestHungServerIsLeft(t *testing.T) {
	t.Parallel()
	stderr := &capture.Text{}
	late := lateServer(&env{err: stderr})
	late(stopWithin)
	late(stopWithin)
	if got, want := stderr.String(), "doorlab: a server of this run hasn't ended 1.5s after the interruption; going on without it\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
