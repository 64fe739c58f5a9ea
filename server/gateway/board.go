package gateway

import (
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
)

// peer is a known board: its state, its live connection, and the queue of its uplinks, which are handled one at a time,
// in order.
type peer struct {
	g       *Gateway
	id      string
	placeID string
	seen    atomic.Int64 // domain ms of the last packet
	helpers atomic.Int64 // connections that only publish
	drops   drops

	mu       sync.Mutex
	st       board.State
	main     *link // the latest connection, hello or not
	cur      *link // the connection that said hello last [presence]
	buffered int
	contact  time.Time       // domain time of the last contact before what it uploads
	quota    bucket          // of records
	turn     int64           // of board.Origin
	orders   []order         // whose report hasn't come, oldest first
	asked    []*asked        // oldest first
	lost     []*asked        // sent over connections that ended before the answer, until the next hello
	unkept   []record.Change // confirmed, but not on disk yet, in order

	qmu     sync.Mutex
	room    *sync.Cond
	queue   []item
	busy    bool
	uplinks bucket

	config  chan struct{} // one configuration at a time
	keeping sync.Mutex    // held while the state is written
}

// item is one uplink, or (channel "") the end of a connection.
type item struct {
	l       *link
	channel string
	payload []byte
}

// maxQueue bounds a board's waiting uplinks; its connection is not read meanwhile.
const maxQueue = 256

func newPeer(g *Gateway, st board.State) *peer {
	b := &peer{g: g, id: st.BoardID, placeID: st.PlaceID, st: st, config: make(chan struct{}, 1),
		uplinks: bucket{size: uplinkBurst, perSecond: uplinkRate}, quota: bucket{size: recordBurst, perSecond: recordRate}}
	b.room = sync.NewCond(&b.qmu)
	if st.Online { // the server died while the board was online
		b.st.Online, b.st.Since = false, st.LastSeenAt
	}
	if !st.LastSeenAt.IsZero() {
		b.seen.Store(st.LastSeenAt.UnixMilli())
	}
	return b
}

// live is the connection that commands go to. Called with mu held.
func (b *peer) live() *link {
	if b.cur == nil || b.cur.closed.Load() {
		return nil
	}
	return b.cur
}

func (b *peer) status() board.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := board.Connection{Drops: b.drops.all(), Troubles: b.drops.latest(), LastSeenAt: time.UnixMilli(b.seen.Load()).UTC(), Buffered: b.buffered}
	switch l := b.live(); {
	case l != nil:
		c.Epoch, c.LastSeenAt = l.epoch, b.lastSeen()
	case b.cur != nil: // ended; its end is still in the queue
		c.EndedAt = time.UnixMilli(b.cur.closedAt.Load()).UTC()
	}
	return b.st.Status(c)
}

// lastSeen of a live connection: a jump of virtual time counts as contact.
func (b *peer) lastSeen() time.Time {
	return time.UnixMilli(max(b.seen.Load(), b.g.jumped.Load())).UTC()
}

// hears notes a packet.
func (b *peer) hears() { b.seen.Store(b.g.cfg.Clock.Now().UnixMilli()) }

// saw raises the time of the last contact; it never goes back.
func (b *peer) saw(ms int64) {
	for was := b.seen.Load(); was < ms && !b.seen.CompareAndSwap(was, ms); was = b.seen.Load() {
	}
}

// enqueue hands an uplink to the board's worker; it waits while the queue is full.
func (b *peer) enqueue(it item) {
	b.qmu.Lock()
	defer b.qmu.Unlock()
	for it.channel != "" && len(b.queue) >= maxQueue {
		b.room.Wait()
	}
	b.queue = append(b.queue, it)
	if !b.busy {
		b.busy = true
		b.g.workers.Add(1)
		b.g.crew.Go(b.work)
	}
}

// work handles the queue until it is empty.
func (b *peer) work() {
	defer b.g.workers.Done()
	for {
		b.qmu.Lock()
		if len(b.queue) == 0 {
			b.busy, b.queue = false, nil
			b.qmu.Unlock()
			return
		}
		batch := b.queue
		b.queue = nil
		b.room.Broadcast()
		b.qmu.Unlock()
		for _, it := range batch {
			if it.channel == "" {
				b.ended(it.l)
				continue
			}
			b.safely(it)
			it.l.got()
		}
	}
}

// safely handles an uplink. A panic ends the connection that it came from, and nothing else.
func (b *peer) safely(it item) {
	defer func() {
		if v := recover(); v != nil {
			b.g.count.Panics.Add(1)
			b.g.cfg.Log.Error("a message from a board caused a panic; its connection ends", "board", b.id, "channel", it.channel, "panic", v, "stack", string(debug.Stack()))
			it.l.close(errPanic)
		}
	}()
	b.handle(it)
}

var errPanic = errors.New("gateway: an uplink could not be handled")

// ended notes the end of a connection. One that was taken over changes nothing: presence belongs to the connection that
// said hello last.
func (b *peer) ended(l *link) {
	g := b.g
	b.mu.Lock()
	latest := b.main == l
	if latest {
		b.main = nil
	}
	live := b.cur == l
	if live {
		b.cur = nil
		b.st.Online, b.st.Since = false, time.UnixMilli(l.closedAt.Load()).UTC()
		b.st.LastSeenAt = time.UnixMilli(b.seen.Load()).UTC()
	}
	b.unasked(l)
	b.mu.Unlock()
	if live {
		g.count.Online.Add(-1)
		g.tell(b, history.Event{Kind: history.Offline, Epoch: l.epoch})
		g.sync.Gone(b.id, l.epoch)
		g.save(b)
	}
	if latest {
		l.replaced()
	}
	l.joined.Left()
}
