package gateway

import (
	"cmp"
	"container/list"
	"net"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/limit"
)

// greeting holds the connections whose CONNECT has not been accepted yet. Silent peers can't keep boards out: when
// there is no room, the connection that has waited longest is closed, since a board identifies itself within
// milliseconds.
type greeting struct {
	max int // in total; half of it per address

	mu   sync.Mutex
	list *list.List // of *guard, oldest first
	by   map[string]int
}

const (
	defaultGreet = 2048
	// Connections younger than youngest are never cut: many boards at once are not an attack.
	youngest = 100 * time.Millisecond
	roomStep = 5 * time.Millisecond
)

func newGreeting(most int) *greeting {
	most = cmp.Or(most, defaultGreet)
	return &greeting{max: most, list: list.New(), by: map[string]int{}}
}

// enter adds a connection from a network listener (connections in memory use no descriptor). It returns the connection
// to close to make room, or how long to wait before trying again.
func (w *greeting) enter(c *guard) (cut *guard, wait time.Duration) {
	if _, tcp := c.RemoteAddr().(*net.TCPAddr); !tcp {
		return nil, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := clock.Mono()
	network := limit.Network(c.RemoteAddr().String())
	full, crowded := w.list.Len() >= w.max, w.by[network] >= max(w.max/2, 1)
	if full || crowded {
		oldest := w.list.Front()
		for crowded && oldest.Value.(*guard).network != network {
			oldest = oldest.Next()
		}
		cut = oldest.Value.(*guard)
		if wait := cut.since + youngest - now; wait > 0 {
			return nil, min(wait, roomStep)
		}
		w.drop(cut)
	}
	c.network, c.since = network, now
	c.place = w.list.PushBack(c)
	w.by[network]++
	return cut, 0
}

// drop removes a connection. Called with mu held.
func (w *greeting) drop(c *guard) {
	if c.place == nil {
		return
	}
	w.list.Remove(c.place)
	c.place = nil
	if w.by[c.network]--; w.by[c.network] == 0 {
		delete(w.by, c.network)
	}
}

// done removes a connection that now belongs to a board, or has ended.
func (w *greeting) done(c *guard) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(c)
}

// room makes room for a connection that was just accepted.
func (g *Gateway) room(c *guard) {
	for {
		cut, wait := g.greeting.enter(c)
		if cut != nil {
			g.count.Crowded.Add(1)
			_ = cut.Close()
		}
		if wait == 0 || g.stopped() {
			return
		}
		g.sleep(wait)
	}
}
