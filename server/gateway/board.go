package gateway

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
)

// board is one known board: what is known of it, its live connection, and the
// queue of its uplinks, which are handled one at a time in order.
type board struct {
	g       *Gateway
	id      string
	placeID string
	seen    atomic.Int64 // domain ms of the last packet
	helpers atomic.Int64 // connections that only publish

	mu       sync.Mutex
	st       device.BoardState
	main     *link // the latest connection, hello or not
	cur      *link // the connection that said hello last [presence]
	buffered int
	pending  *pendingConfig

	qmu   sync.Mutex
	room  *sync.Cond
	queue []item
	busy  bool

	config chan struct{} // one configuration at a time
}

// item is one uplink, or (channel "") the end of a connection.
type item struct {
	l       *link
	channel string
	payload []byte
}

// maxQueue bounds a board's waiting uplinks; its connection is not read meanwhile.
const maxQueue = 256

func newBoard(g *Gateway, st device.BoardState) *board {
	b := &board{g: g, id: st.BoardID, placeID: st.PlaceID, st: st, config: make(chan struct{}, 1)}
	b.room = sync.NewCond(&b.qmu)
	if st.Online { // the server died before it could write better
		b.st.Online, b.st.Since = false, st.LastSeenAt
	}
	if !st.LastSeenAt.IsZero() {
		b.seen.Store(st.LastSeenAt.UnixMilli())
	}
	return b
}

// live is the connection that commands go to. Called with mu held.
func (b *board) live() *link {
	if b.cur == nil || b.cur.closed.Load() {
		return nil
	}
	return b.cur
}

func (b *board) status() BoardStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := BoardStatus{BoardID: b.id, PlaceID: b.placeID, State: device.StateUnknown, AppliedRevision: b.st.AppliedRevision, Digest: b.st.Digest,
		AppliedAt: b.st.AppliedAt, Netloss: b.netloss(), NetlossAppliedAt: b.st.NetlossAppliedAt, Standings: b.st.Standings,
		Buffered: b.buffered, Dropped: b.st.Dropped}
	if b.st.FirstSeenAt.IsZero() {
		return s
	}
	s.State, s.Since, s.LastSeenAt = device.StateOffline, b.st.Since, time.UnixMilli(b.seen.Load()).UTC()
	switch l := b.live(); {
	case l != nil:
		s.State, s.Epoch, s.LastSeenAt = device.StateOnline, l.epoch, b.lastSeen()
	case b.cur != nil: // ended; its end is still in the queue
		s.Since = time.UnixMilli(b.cur.closedAt.Load()).UTC()
	}
	return s
}

// lastSeen of a live connection: a jump of virtual time counts as contact.
func (b *board) lastSeen() time.Time {
	return time.UnixMilli(max(b.seen.Load(), b.g.jumped.Load())).UTC()
}

// netloss is what the board confirmed last, or the default. Called with mu held.
func (b *board) netloss() wire.Netloss {
	if b.st.Netloss == nil {
		return device.DefaultNetloss(b.st.Doors)
	}
	n := *b.st.Netloss
	n.Channels = maps.Clone(n.Channels)
	return n
}

// hasDoor reports whether a standing's or record's door is the board's.
func (b *board) hasDoor(doorID string) bool {
	for _, d := range b.st.Doors {
		if d.DoorID == doorID {
			return true
		}
	}
	return false
}

// stand takes over standings of the board's own channels. Called with mu held.
func (b *board) stand(list []wire.Standing) {
	next := make(map[int]wire.Standing, len(b.st.Doors))
	maps.Copy(next, b.st.Standings)
	for _, s := range list {
		for _, d := range b.st.Doors {
			if d.Channel == s.Channel {
				s.DoorID = d.DoorID
				next[s.Channel] = s
			}
		}
	}
	b.st.Standings = next // never changed in place: Status shares it
}

// enqueue hands an uplink to the board's worker; it waits while the queue is full.
func (b *board) enqueue(it item) {
	b.qmu.Lock()
	defer b.qmu.Unlock()
	for it.channel != "" && len(b.queue) >= maxQueue {
		b.room.Wait()
	}
	b.queue = append(b.queue, it)
	if !b.busy {
		b.busy = true
		b.g.workers.Add(1)
		go b.work()
	}
}

// work handles the queue until it is empty.
func (b *board) work() {
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
			b.handle(it)
			it.l.got()
		}
	}
}

// ended takes note of a connection's end. A connection that was taken over
// changes nothing: presence belongs to the connection that said hello last.
func (b *board) ended(l *link) {
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
	if p := b.pending; p != nil && p.l == l {
		p.finish(ErrLost)
		b.pending = nil
	}
	b.mu.Unlock()
	if live {
		g.count.online.Add(-1)
		g.tell(b, history.Event{Kind: history.Offline, Epoch: l.epoch})
		g.sync.Gone(b.id, l.epoch)
		g.save(b)
	}
	if latest {
		l.replaced()
	}
}
