package testbed

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A stream of commands must neither keep a jump from ending nor fail because of it.
func TestJumpUnderCommands(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	c := partner(t, tb, 1)
	var stop atomic.Bool
	var wg sync.WaitGroup
	first := make(chan struct{}, 8)
	for i := range 8 {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				door := tb.cfg.World.Places[1].Boards[i].Doors[0].ID
				status := openWith(t, c, door, strconv.Itoa(i)+"-"+strconv.Itoa(n))
				if status == http.StatusUnauthorized { // the jump was longer than the token's lifetime
					return
				}
				if status != http.StatusOK {
					t.Errorf("a command around the jump: got %d, want %d", status, http.StatusOK)
				}
				if n == 0 {
					first <- struct{}{}
				}
			}
		})
	}
	for range 8 {
		<-first
	}
	from := tb.clk.Now()
	over := make(chan error, 1)
	go func() { over <- tb.clk.(interface{ Advance(time.Time) error }).Advance(from.Add(14 * time.Minute)) }()
	select {
	case err := <-over:
		if err != nil {
			t.Errorf("the jump: got %v, want no error", err)
		}
	case <-time.After(time.Minute):
		t.Error("the jump does not end")
	}
	stop.Store(true)
	wg.Wait()
	if now := tb.clk.Now(); now.Before(from.Add(14 * time.Minute)) {
		t.Errorf("it is %s, want at least 14 minutes after %s", now, from)
	}
}
