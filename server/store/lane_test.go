package store

import (
	"runtime"
	"sync"
	"testing"
)

// TestLane: a large operation's next part lets all waiting writes go first, but gets its turn even if they never stop
// arriving.
func TestLane(t *testing.T) {
	t.Parallel()
	s := openTest(t, t.TempDir())
	var mu sync.Mutex
	var order []string
	note := func(what string) func(*Tx) error {
		return func(*Tx) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
			return nil
		}
	}
	begun, gate := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { _ = s.write(func(*Tx) error { close(begun); <-gate; return nil }) })
	<-begun
	for range 4 {
		all.Go(func() { _ = s.writeBehind(note("bulk")) })
	}
	for range 20 {
		all.Go(func() { _ = s.write(note("command")) })
	}
	for len(s.jobs) < 20 {
		runtime.Gosched()
	}
	close(gate)
	all.Wait()
	bulk := 0
	for _, what := range order[:20] {
		if what == "bulk" {
			bulk++
		}
	}
	if len(order) != 24 || bulk > 1 {
		t.Errorf("%d of the first 20 were bulk, want at most 1: %v", bulk, order)
	}

	stop := make(chan struct{})
	for range 8 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = s.write(func(*Tx) error { return nil })
				}
			}
		})
	}
	for range 5 {
		if err := s.writeBehind(func(*Tx) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	all.Wait()
}
