package link

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/pipe"
)

// Dir is a direction from the board's point of view.
type Dir int

// Up runs from the board to the server, Down from the server to the board.
const (
	Up Dir = iota
	Down
)

func (d Dir) String() string { return [...]string{"up", "down"}[d] }

// Lossy drops, repeats and delays PUBLISH packets; its zero value does nothing. Other packets (CONNECT, SUBSCRIBE,
// PING, acknowledgements) are only delayed, and delays keep the order within a direction.
type Lossy struct {
	Percent          float64 // of packets lost, 0..100
	DuplicatePercent float64 // of packets that pass twice, 0..100
	DelayMs          int64   // each packet, each direction, wall time
}

// State is what a line does to its packets; the zero value is a clean line. A state that swallows packets also swallows
// the end of the connection: the other side doesn't notice a Close.
type State struct {
	HalfOpen   bool // nothing passes either way and neither end is notified
	OnewayUp   bool // what the board sends is lost
	OnewayDown bool // what the server sends is lost
	Lossy      Lossy
}

// Config of a Line; the zero value is a clean line that counts nothing.
type Config struct {
	BoardID string        // whose line it is, for Flight
	Flight  *clock.Flight // nil = none. The line itself counts what it does: Got for a PUBLISH it swallows, Sent for one it repeats (Asked with Apart), Begin while one is delayed, Ends before it ends the connection. So a sender counts Sent before it writes
	Apart   bool          // the server counts nothing in Flight
	Seed    int64         // of lossy; mix the connection's number in
	State   State         // from the first byte on
	// OnFault is called for each packet that a fault dropped, repeated or delayed (nil = not called); blind: by a state that
	// swallows everything, not by Lossy. It must not block or call the line.
	OnFault func(d Dir, blind bool)
}

// Line is the board's side of a connection with its line faults, a net.Conn.
type Line struct {
	cfg   Config
	inner net.Conn
	rlock lock          // one reader at a time, held while it waits
	wlock lock          // one writer at a time
	quit  chan struct{} // closed when the board closes; drain may take rlock then

	mu      sync.Mutex
	state   State
	lanes   [2]lane
	tainted bool      // something was swallowed that one end waits for
	closed  bool      // by the board
	left    bool      // closed, but the server is not told, or not yet
	cut     bool      // by a fault
	src     net.Conn  // what Read waits on: inner, or a pipe to nowhere while inner's end must stay hidden
	ended   error     // how inner ended
	rd      time.Time // the owner's read deadline
	clipped bool      // src's differs from it
	ready   []byte    // passed, not read yet
	watch   func()    // see Watch; nil = nobody watches
	scratch []byte
}

const readAhead = 256 // paho reads single bytes

// Wrap puts a line around a connection.
func Wrap(c net.Conn, cfg Config) *Line {
	return &Line{cfg: cfg, inner: c, src: c, state: cfg.State, rlock: newLock(), wlock: newLock(), quit: make(chan struct{})}
}

// Set switches the line's state at the next packet boundary. Leaving half-open, or a state that swallowed anything but
// QoS 0 messages or hid the connection's end, cuts the line: its two ends no longer share a session.
func (l *Line) Set(s State) {
	l.mu.Lock()
	was := l.state
	l.state = s
	over := was.blocked(Up) && !s.blocked(Up) || was.blocked(Down) && !s.blocked(Down)
	stale := over && (was.HalfOpen && !s.HalfOpen || l.tainted || l.closed || l.ended != nil)
	l.mu.Unlock()
	if stale {
		l.Cut()
	}
}

// Cut resets the connection: both ends notice at once, and packets in transit are lost.
func (l *Line) Cut() {
	l.mu.Lock()
	if l.closed && !l.left {
		l.mu.Unlock()
		return
	}
	l.cut, l.ready = true, nil
	l.drop()
	src := l.src
	l.mu.Unlock()
	l.ends()
	pipe.Reset(l.inner)
	pipe.Reset(src)
}

// gone is the error of a line that this side has ended. Called with mu held.
func (l *Line) gone(op string) error {
	switch {
	case l.closed:
		return &net.OpError{Op: op, Net: "line", Addr: l.inner.RemoteAddr(), Err: net.ErrClosed}
	case l.cut:
		return &net.OpError{Op: op, Net: "line", Addr: l.inner.RemoteAddr(), Err: syscall.ECONNRESET}
	}
	return nil
}

// Read implements net.Conn.
func (l *Line) Read(p []byte) (int, error) {
	select {
	case l.rlock <- struct{}{}:
		defer l.rlock.Unlock()
	case <-l.quit:
		return 0, l.why("read", net.ErrClosed)
	}
	return l.read(p, net.Conn.Read)
}

// Watch makes f be called whenever TryRead may return something new, see pipe.Watched. It returns false if the
// underlying connection doesn't support that, so Read has to wait.
func (l *Line) Watch(f func()) bool {
	inner, ok := l.inner.(pipe.Watched)
	if !ok {
		return false
	}
	l.mu.Lock()
	l.watch = f
	l.mu.Unlock()
	inner.Watch(f)
	return true
}

// TryRead is Read, but returns pipe.ErrEmpty instead of waiting. Only use it after Watch has returned true.
func (l *Line) TryRead(p []byte) (int, error) {
	select {
	case l.rlock <- struct{}{}:
		defer l.rlock.Unlock()
	default: // it drains after Close
		return 0, l.why("read", pipe.ErrEmpty)
	}
	return l.read(p, func(src net.Conn, p []byte) (int, error) { return src.(pipe.Watched).TryRead(p) })
}

// read reads from the underlying connection with the given function. Called with rlock held.
func (l *Line) read(p []byte, from func(net.Conn, []byte) (int, error)) (int, error) {
	for {
		src, buf, n, err := l.look(p)
		if src == nil {
			return n, err
		}
		n, err = from(src, buf)
		if n, err = l.got(p, buf[:n], err); n > 0 || err != nil {
			return n, err
		}
	}
}

// look returns what can be read now, or what to read from and into which buffer.
func (l *Line) look(p []byte) (src net.Conn, buf []byte, n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.gone("read"); err != nil {
		return nil, nil, 0, err
	}
	pass, done := l.release(Down)
	l.ready = append(l.ready, pass...)
	for _, f := range done {
		f()
	}
	switch {
	case len(l.ready) > 0 && !l.late():
		return nil, nil, l.hand(p), nil
	case l.ended != nil && len(l.lanes[Down].queue) == 0 && !l.state.blocked(Down):
		return nil, nil, 0, l.ended
	}
	if len(l.lanes[Down].queue) > 0 || l.clipped {
		l.clip()
	}
	if len(p) >= readAhead {
		return l.src, p, 0, nil
	}
	if l.scratch == nil {
		l.scratch = make([]byte, readAhead)
	}
	return l.src, l.scratch, 0, nil
}

func (l *Line) late() bool { return !l.rd.IsZero() && !l.rd.After(clock.WallNow()) }

// hand gives the reader the bytes that have passed.
func (l *Line) hand(p []byte) int {
	n := copy(p, l.ready)
	if l.ready = l.ready[n:]; len(l.ready) == 0 {
		l.ready = nil
	}
	return n
}

// clip makes src wake the reader when the next delayed packet is due.
func (l *Line) clip() {
	at := l.rd
	if q := l.lanes[Down].queue; len(q) > 0 && (at.IsZero() || q[0].due.Before(at)) {
		at = q[0].due
	}
	l.clipped = !at.Equal(l.rd)
	_ = l.src.SetReadDeadline(at)
}

// got handles the result of reading src; (0, nil) = look again.
func (l *Line) got(p, b []byte, err error) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if gone := l.gone("read"); gone != nil {
		return 0, gone
	}
	n := 0
	if pass := l.filter(Down, b); len(pass) > 0 {
		if n = copy(p, pass); n < len(pass) { // p may be b itself, then all fits
			l.ready = append(l.ready, pass[n:]...)
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, pipe.ErrEmpty):
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		if l.late() && n == 0 {
			return 0, err
		}
		l.clipped = true
	default: // told when what waits has passed, if at all
		l.ended = err
		l.src, _ = pipe.New()
		l.clipped = true
		if src, ok := l.src.(pipe.Watched); ok && l.watch != nil {
			src.Watch(l.watch)
		}
	}
	return n, nil
}

// Write implements net.Conn. Swallowed or delayed bytes count as written.
func (l *Line) Write(p []byte) (int, error) {
	l.wlock.Lock()
	defer l.wlock.Unlock()
	l.mu.Lock()
	if err := l.gone("write"); err != nil {
		l.mu.Unlock()
		return 0, err
	}
	pass := l.filter(Up, p)
	hidden := l.state.blocked(Down)
	l.mu.Unlock()
	if len(pass) == 0 {
		return len(p), nil
	}
	n, err := l.inner.Write(pass)
	switch {
	case err == nil:
		return len(p), nil
	case hidden && !errors.Is(err, os.ErrDeadlineExceeded) && !l.over():
		l.lose(pass) // the reset that would tell is lost, too
		return len(p), nil
	}
	return min(n, len(p)), l.why("write", err)
}

// lose counts whole packets that were sent to a server that is gone.
func (l *Line) lose(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := (splitter{}); len(b) > 0; {
		n, end := s.take(b)
		if b = b[n:]; end {
			l.swallowed(Up, s.first, true)
		}
	}
}

func (l *Line) over() bool { return l.why("", nil) != nil }

// why prefers the error of an end on this side to inner's.
func (l *Line) why(op string, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if gone := l.gone(op); gone != nil {
		return gone
	}
	return err
}
