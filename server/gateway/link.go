package gateway

import (
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/wire"
)

// link is one connection of a board. Outgoing messages wait in its outbox, so that no caller ever waits for a board
// that has stopped reading.
type link struct {
	b        *peer
	cl       *mqtt.Client
	conn     *guard
	helper   bool // publishes only, see docs/board-protocol.md
	closed   atomic.Bool
	closedAt atomic.Int64  // domain ms
	gone     atomic.Bool   // it no longer counts in the flight
	joined   *clock.Joined // nil for a helper, whose end nobody waits for

	epoch int64 // set at hello; b.mu
	seq   int64 // of commands; b.mu

	mu    sync.Mutex
	out   []outgoing
	bulk  []outgoing // synchronization: everything else goes first
	busy  bool
	ended bool
}

type outgoing struct {
	topic   string
	payload []byte
}

// maxOut bounds what waits for a board that reads slowly; as much again may be on its way. It is more than the commands
// that a place may have in progress: a burst of them to one board isn't refused as if the board were offline. maxBulk
// bounds synchronization likewise, which sends a few pages at a time.
const (
	maxOut  = 512
	maxBulk = 8
)

// push sends a message as QoS 0; false if it was not accepted and won't be sent. first, unless nil, runs after it is
// accepted and before it is sent.
func (l *link) push(channel string, payload []byte, first func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, most := &l.out, maxOut
	if channel == wire.DownSync {
		queue, most = &l.bulk, maxBulk
	}
	if l.closed.Load() || l.ended || len(*queue) >= most {
		l.b.g.count.DownDropped.Add(1)
		return false
	}
	if first != nil {
		first()
	}
	if l.counted() {
		l.b.g.cfg.Flight.Sent(l.b.id)
	}
	l.b.g.count.Down.Add(1)
	l.b.g.cfg.Watch(l.b.id, true, channel, payload)
	*queue = append(*queue, outgoing{wire.Topic(l.b.id, channel), payload})
	if !l.busy {
		l.busy = true
		l.b.g.workers.Add(1)
		l.b.g.crew.Go(l.drain)
	}
	return true
}

func (l *link) drain() {
	defer l.b.g.workers.Done()
	for {
		l.mu.Lock()
		batch := l.out
		l.out = nil
		if len(batch) == 0 && len(l.bulk) > 0 {
			batch, l.bulk = l.bulk[:1:1], l.bulk[1:]
		}
		if len(batch) == 0 {
			l.busy = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		for _, m := range batch {
			if err := l.write(m); err != nil {
				l.close(err)
				return
			}
		}
	}
}

// packetBuffers are used again: most packets are short, and a change of content is as long
// for each board of its place.
var packetBuffers = sync.Pool{New: func() any { return new([]byte) }}

// write sends one message in one piece. The library would copy it three times, into buffers
// of its own.
func (l *link) write(m outgoing) error {
	if l.cl.Closed() {
		return mqtt.ErrConnectionClosed
	}
	buf := packetBuffers.Get().(*[]byte)
	defer packetBuffers.Put(buf)
	*buf = appendPublish((*buf)[:0], m.topic, m.payload)
	l.cl.Lock() // the library answers pings on the same connection
	defer l.cl.Unlock()
	_, err := l.conn.Write(*buf)
	return err
}

// appendPublish adds a PUBLISH of QoS 0 to b.
func appendPublish(b []byte, topic string, payload []byte) []byte {
	b = append(b, packets.Publish<<4)
	n := 2 + len(topic) + len(payload)
	for ; n > 0x7f; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	b = append(b, byte(n), byte(len(topic)>>8), byte(len(topic)))
	return append(append(b, topic...), payload...)
}

// shut marks the connection as ended: nothing is sent on it any more.
func (l *link) shut() {
	if l.closed.CompareAndSwap(false, true) {
		l.joined.Ends()
		l.b.saw(l.b.g.jumped.Load()) // a jump during its life counts as contact
		l.closedAt.Store(l.b.g.cfg.Clock.Now().UnixMilli())
	}
}

// close ends the connection; the connection's handler notices.
func (l *link) close(err error) {
	l.mu.Lock()
	l.ended, l.out, l.bulk = true, nil, nil
	l.mu.Unlock()
	l.cl.Stop(err)
}

// counted reports whether the board's end counts messages in our flight.
func (l *link) counted() bool { return !l.helper && !l.gone.Load() && l.b.g.cfg.Counted(l.b.id) }

// replaced forgets what is in flight on a connection that has ended. In a takeover, the new connection has not been
// answered yet, so none of its messages are in flight.
func (l *link) replaced() {
	l.mu.Lock() // not while a push counts
	defer l.mu.Unlock()
	if l.counted() {
		l.gone.Store(true)
		l.b.g.cfg.Flight.Reset(l.b.id)
	}
}

// hears notes a packet. A helper's doesn't show that its board is alive.
func (l *link) hears() {
	if !l.helper {
		l.b.hears()
	}
}

// got counts an uplink as handled.
func (l *link) got() {
	if l.counted() {
		l.b.g.cfg.Flight.Got(l.b.id)
	}
}
