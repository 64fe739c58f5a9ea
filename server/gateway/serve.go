package gateway

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Serve accepts connections from l until Stop or until l is closed; it may be called for several listeners, TCP and
// memory alike. It waits out temporary errors (no descriptors left). It returns nil after Stop.
func (g *Gateway) Serve(l net.Listener) error {
	g.mu.Lock()
	if g.stopping {
		g.mu.Unlock()
		_ = l.Close()
		return nil
	}
	g.listeners[l] = true
	g.mu.Unlock()
	pause := 5 * time.Millisecond
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			g.open(c)
		case g.stopped():
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("gateway: %w", err)
		default:
			g.cfg.Log.Warn("a board's connection could not be accepted", "error", err, "pause", pause)
			g.count.AcceptErrors.Add(1)
			g.sleep(pause)
			pause = min(2*pause, time.Second)
		}
	}
}

func (g *Gateway) stopped() bool {
	select {
	case <-g.stop:
		return true
	default:
		return false
	}
}

func (g *Gateway) sleep(d time.Duration) {
	over := make(chan struct{})
	defer clock.WallAfter(d, func() { close(over) }).Stop()
	select {
	case <-over:
	case <-g.stop:
	}
}

func (g *Gateway) open(c net.Conn) {
	gc := &guard{Conn: c, timeout: g.cfg.WriteTimeout}
	g.room(gc)
	g.mu.Lock()
	if g.stopping {
		g.mu.Unlock()
		g.greeting.done(gc)
		_ = c.Close()
		return
	}
	g.conns[gc] = true
	g.handlers.Add(1)
	g.mu.Unlock()
	go g.attend(gc)
}

// Stop ends all connections, handles what arrived before, writes the boards' states, and returns when all of that is
// done.
func (g *Gateway) Stop() {
	g.mu.Lock()
	if !g.stopping {
		g.stopping = true
		close(g.stop)
	}
	for l := range g.listeners {
		_ = l.Close()
	}
	for c := range g.conns {
		_ = c.Close()
	}
	g.mu.Unlock()
	g.tick.Stop()
	if g.deafen != nil {
		g.deafen() // else the clock would hold on to the gateways of previous runs
	}
	g.handlers.Wait()
	g.workers.Wait()
	g.crew.Close()
	g.flush()
}
