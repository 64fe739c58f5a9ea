package testbed

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// A stream of commands must neither keep a jump from ending nor fail because of it.
func TestJumpUnderCommands(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	c := client.Client{Base: tb.Ready.HTTP}
	token, _, err := c.Exchange(t.Context(), *tb.Ready.Places[1].APIKey)
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	first := make(chan struct{}, 8)
	for i := range 8 {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				door := tb.cfg.World.Places[1].Boards[i].Doors[0].ID
				status := openWith(t, tb, token, door, strconv.Itoa(i)+"-"+strconv.Itoa(n))
				if status == http.StatusUnauthorized { // the jump was longer than the token lives
					return
				}
				if status != http.StatusOK {
					t.Errorf("a command around the jump: %d", status)
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
	case err = <-over:
	case <-time.After(20 * time.Second):
		t.Error("the jump does not end")
	}
	stop.Store(true)
	wg.Wait()
	if err != nil || tb.clk.Now().Before(from.Add(14*time.Minute)) {
		t.Errorf("%v, now %s", err, tb.clk.Now())
	}
}
