package boardsim

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
)

// Transport times, wall.
const (
	keepAlive   = 30 * time.Second
	pingTimeout = 10 * time.Second
	handshake   = 10 * time.Second // dial, CONNECT, SUBSCRIBE, hello, each
	firstRetry  = 300 * time.Millisecond
	maxRetry    = 5 * time.Second
	// deafAfter is when a board notices, in domain time, that nothing gets through any more: a jump is longer than any
	// keep-alive.
	deafAfter = keepAlive + pingTimeout + 5*time.Second
)

// connection is how a board stands with its server. A session ends in one of six ways:
//
//   - forget drops it; the firmware isn't told. The other ways begin with it.
//   - over also tells the firmware: the line ended, or never came about.
//   - drop is over, and cuts the line, so that the server notices, too: what faults do.
//   - unplug is forget, and cuts the line: the power failed, so the firmware could note nothing.
//   - leave is over, and stops the timers: the board is taken away. Its caller says bye.
//   - halt is leave for good, and writes what flash lacks; Stop says goodbyes.
type connection struct {
	ses     *session // the live one, or the attempt at one
	seq     int64    // of sessions
	retry   clock.Timer
	tries   int
	away    func()      // ends the flight of a reconnect
	lineBad string      // the fault that blocks the line, "" = none
	lossy   string      // whether the line loses, repeats or delays packets, or loses all of them; "" = neither
	deaf    clock.Timer // ends a session whose server isn't heard any more
}

// session is one connection of a board, from dialling to its end.
type session struct {
	no     int64
	line   *link.Line
	client mqtt.Client
	up     bool          // subscribed: messages may go up
	done   chan struct{} // closed when the hello is answered or the session is over
	hello  time.Duration // clock.Mono when it was sent
	base   int64         // the server's session time then, 0 = not known
	heard  atomic.Int64  // domain ms of the last bytes from the server
	deaf   bool          // a fault blocks the server's messages: heard stops
}

// sessionMs estimates the server's session time. It is never behind it, see CMD-4.
func (s *session) sessionMs() int64 {
	if s.base == 0 {
		return 0
	}
	return s.base + (clock.Mono() - s.hello).Milliseconds() + 1 // [CMD-4]
}

// heardConn notes when the server was last heard.
type heardConn struct {
	*link.Line
	s   *session
	clk clock.Clock
}

func (h heardConn) Read(p []byte) (int, error) { return h.note(h.Line.Read(p)) }

func (h heardConn) TryRead(p []byte) (int, error) { return h.note(h.Line.TryRead(p)) }

func (h heardConn) note(n int, err error) (int, error) {
	if n > 0 {
		h.s.heard.Store(h.clk.Now().UnixMilli())
	}
	return n, err
}

// start starts the board with its timers and first connection.
func (b *board) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped { // taken away in a previous run
		b.emit(history.Event{Kind: history.Detached})
		close(b.first)
		return
	}
	b.announce()
	b.lineBad = blocked(b.f.faults.Line(b.id))
	b.arm()
	b.dialNow()
}

// announce records once in the history that it includes this board's journal. Called with mu held.
func (b *board) announce() {
	if b.announced {
		return
	}
	b.announced = true
	for _, d := range b.s.Doors {
		b.emit(history.Event{Kind: history.Door, DoorID: d.ID, Channel: d.Channel})
	}
}

// halt takes the board out of service. It returns the session that should say goodbye, nil = there was none.
func (b *board) halt() *session {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	s := b.leave()
	b.catchUp()
	return s
}

// leave ends the session properly and stops all timers. Called with mu held.
func (b *board) leave() *session {
	for _, t := range []clock.Timer{b.retry, b.deaf, b.late} {
		if t != nil {
			t.Stop()
		}
	}
	s := b.ses
	b.over(false)
	b.arm()
	b.landed()
	return s
}

// bye sends DISCONNECT and closes.
func bye(s *session) {
	if s == nil {
		return
	}
	if s.client != nil {
		s.client.Close()
	}
	if s.line != nil {
		_ = s.line.Close()
	}
}

// farewell is how long a fleet that stops waits for its boards' goodbyes to the broker, in wall time. A process that is
// told to end has no time for a big fleet's manners, and the server knows boards that just disappear.
const farewell = time.Second

// goodbyes ends sessions properly. Those that haven't ended after farewell aren't waited for.
func goodbyes(leaving []*session) {
	gone, over := make(chan struct{}), make(chan struct{})
	defer clock.WallAfter(farewell, func() { close(over) }).Stop()
	go func() {
		defer close(gone)
		var wg sync.WaitGroup
		at := make(chan struct{}, connecting)
		for _, s := range leaving {
			at <- struct{}{}
			wg.Go(func() {
				defer func() { <-at }()
				bye(s)
			})
		}
		wg.Wait()
	}()
	select {
	case <-gone:
	case <-over:
	}
}

// attempts waits for attempts to connect, but no longer than farewell: paho may sit on a closed connection for as long as a
// write may take. Their boards have been halted, so they can't do anything any more.
func (f *Fleet) attempts() {
	over, ended := make(chan struct{}), make(chan struct{})
	defer clock.WallAfter(farewell, func() { close(over) }).Stop()
	go func() {
		defer close(ended)
		f.wg.Wait()
		f.crew.Close()
	}()
	select {
	case <-ended:
	case <-over:
	}
}

func (b *board) options(s *session) mqtt.Config {
	return mqtt.Config{Conn: heardConn{s.line, s, b.f.cfg.Clock}, BoardID: b.id, Password: *b.password.Load(),
		KeepAlive: keepAlive, PingTimeout: pingTimeout, WriteTimeout: 5 * time.Second, Answer: handshake,
		Receive: func(topic string, payload []byte) { b.receive(s, topic, payload) },
		Lost:    func(err error) { b.ended(s, err) },
		Go:      b.f.crew.Go}
}

// ended handles a session that broke or never came about.
func (b *board) ended(s *session, err error) {
	b.mu.Lock()
	current := b.ses == s
	if current {
		b.over(errors.Is(err, mqtt.ErrSilent))
		b.redial()
	}
	b.mu.Unlock()
	b.flush()
	if current {
		bye(s)
	}
}

// over forgets the session; silent: its end went unnoticed for a while, as it always does on a deaf line. Called with mu
// held.
func (b *board) over(silent bool) {
	if s := b.forget(); s != nil {
		b.step(firmware.Event{Kind: firmware.Disconnected, Silent: silent || s.deaf, Heard: b.heardMs(s) + b.shift})
	}
}

// forget drops the session without telling the firmware; nil = there was none. Called with mu held.
func (b *board) forget() *session {
	s := b.ses
	if s != nil {
		b.ses, b.outbox, b.behind = nil, nil, nil
		s.end()
		b.f.cfg.Flight.Reset(b.id)
	}
	return s
}

// unplug ends the session as a power failure does: both ends notice, and the firmware has no time to note anything. It
// returns the session, nil = there was none. Called with mu held.
func (b *board) unplug() *session {
	s := b.forget()
	if s != nil && s.line != nil {
		s.line.Cut()
	}
	return s
}

// drop ends the session from this side, immediately: both ends notice. Called with mu held.
func (b *board) drop() {
	s := b.ses
	b.over(false)
	if s != nil && s.line != nil {
		s.line.Cut()
	}
}

func (s *session) end() {
	select {
	case <-s.done:
	default:
		close(s.done)
	}
}

// heardMs is when the server was last heard; a jump counts as contact for a live line.
func (b *board) heardMs(s *session) int64 {
	if s.deaf {
		return s.heard.Load()
	}
	return max(s.heard.Load(), b.f.jumped.Load())
}

// blocked names the fault that keeps a line from carrying both ways.
func blocked(l fault.Line) string {
	switch {
	case l.Offline:
		return "offline"
	case l.HalfOpen:
		return "halfopen"
	case l.OnewayUp:
		return "oneway-up"
	case l.OnewayDown:
		return "oneway-down"
	}
	return ""
}
