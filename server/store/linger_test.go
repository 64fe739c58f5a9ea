package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
)

// TestGather: the writer sleeps until the writes it expects are queued or its time is up, and leftovers of an earlier
// wait don't end the next one.
func TestGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gather{over: make(chan struct{}, 1)}
		queued := 0
		took := func() time.Duration {
			began := clock.Mono()
			g.wait(3, time.Second, func() int { return queued })
			return clock.Mono() - began
		}
		if d := took(); d != time.Second {
			t.Errorf("without writes: waited %s, want 1s", d)
		}
		g.came(3) // nobody is waiting: must be forgotten
		notify(g.over)
		clock.WallAfter(100*time.Millisecond, func() { g.came(2) })
		clock.WallAfter(200*time.Millisecond, func() { g.came(3) })
		if d := took(); d != 200*time.Millisecond {
			t.Errorf("with enough writes after 200ms: waited %s, want 200ms", d)
		}
		if queued = 3; took() != 0 {
			t.Error("waited for writes that were queued already, want no wait")
		}
	})
}

// TestExecutesBeforeItLingers: with many writers the statements run before the wait for more. A write that comes during
// the wait is in the same commit, dated when it ran, and the wait doesn't count as part of the commit. If the commit fails,
// both are told.
func TestExecutesBeforeItLingers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type made struct {
			writes int
			took   time.Duration
		}
		var commits []made
		gate, tried, full := make(chan struct{}), 0, false
		s := must.Get(Open(t.TempDir(), Options{
			Commit: func(commit func() error) error {
				<-gate
				if tried++; full {
					return errors.New("disk full")
				}
				return commit()
			},
			Committed: func(n int, took time.Duration) { commits = append(commits, made{n, took}) },
		}))(t)
		type write struct{ ran, dated time.Time }
		const many = 100
		got := make([]write, many+2)
		var all sync.WaitGroup
		hand := func(i int) {
			all.Go(func() {
				err := s.writeTogether(func(tx *Tx) error {
					got[i] = write{time.Now(), tx.Now}
					return tx.setMeta(fmt.Sprint("w", i), "1")
				})
				if err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		hand(0) // its commit is held up until the others are queued
		time.Sleep(time.Millisecond)
		for i := 1; i <= many; i++ {
			hand(i)
		}
		time.Sleep(time.Millisecond)
		released := time.Now()
		close(gate)
		time.Sleep(1500 * time.Microsecond)
		hand(many + 1)
		all.Wait()
		if len(commits) != 2 || commits[1] != (made{many + 1, 0}) {
			t.Errorf("commits (writes, time) %v, want a second one of %d writes that took no time beside the wait", commits, many+1)
		}
		if w := got[many]; !w.ran.Equal(released) || !w.dated.Equal(released) {
			t.Errorf("a write that was queued ran %s later, dated %s later, want at once", w.ran.Sub(released), w.dated.Sub(released))
		}
		if w, want := got[many+1], released.Add(time.Millisecond); !w.ran.After(want) || !w.dated.Equal(want) {
			t.Errorf("the write that came after 1.5 ms ran %s later, dated %s later, want after the wait, dated 1 ms later", w.ran.Sub(released), w.dated.Sub(released))
		}
		full = true
		failed := make(chan error, 2)
		for range 2 { // as many as last time are expected, so the writer waits
			go func() { failed <- s.writeTogether(func(tx *Tx) error { return tx.setMeta("lost", "1") }) }()
			time.Sleep(1500 * time.Microsecond)
		}
		if a, b := <-failed, <-failed; !errors.Is(a, ErrUnavailable) || !errors.Is(b, ErrUnavailable) || tried != 3 {
			t.Errorf("a commit that fails: %v and %v after %d commits, want ErrUnavailable twice after 3", a, b, tried)
		}
		must.OK(t, s.Close())
	})
}
