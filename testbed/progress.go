package testbed

import (
	"context"
	"sync"
	"time"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/clock"
)

// connect starts a fleet and reports its progress once per second.
func connect(ctx context.Context, f *boardsim.Fleet, tell func(online, boards int)) error {
	if tell == nil {
		return f.Start(ctx)
	}
	var mu sync.Mutex
	var timer clock.Timer
	done := false
	var again func()
	again = func() {
		mu.Lock()
		defer mu.Unlock()
		if !done {
			tell(f.Online(), f.Len())
			timer = clock.WallAfter(time.Second, again)
		}
	}
	mu.Lock()
	timer = clock.WallAfter(time.Second, again)
	mu.Unlock()
	err := f.Start(ctx)
	mu.Lock()
	defer mu.Unlock()
	done = true
	timer.Stop()
	return err
}
