package crew

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestGo: everything that is started runs, concurrently if it must. A function that ends its goroutine doesn't affect
// the others.
func TestGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		c := New()
		var ran atomic.Int64
		for range 3 {
			var all sync.WaitGroup
			gate := make(chan struct{})
			for i := range 10 * most {
				all.Add(1)
				c.Go(func() {
					defer all.Done()
					<-gate // so that all of them run at the same time
					ran.Add(1)
					if i%7 == 0 {
						runtime.Goexit()
					}
				})
			}
			synctest.Wait()
			close(gate)
			all.Wait()
			synctest.Wait()
			if n := c.idle.Load(); n > most || n < 1 {
				t.Errorf("%d goroutines wait for work, want 1 to %d", n, most)
			}
		}
		if n := ran.Load(); n != 30*most {
			t.Errorf("%d functions ran, want %d", n, 30*most)
		}
		c.Close()
		done := make(chan struct{})
		c.Go(func() { close(done) })
		<-done
	})
}
