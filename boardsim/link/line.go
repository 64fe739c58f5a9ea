package link

import (
	"net"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Dir is a direction as the board sees it.
type Dir int

// Up runs from the board to the server, Down from the server to the board.
const (
	Up Dir = iota
	Down
)

func (d Dir) String() string { return [...]string{"up", "down"}[d] }

// Lossy drops, repeats and delays PUBLISH packets; its zero value does nothing.
// Everything else (CONNECT, SUBSCRIBE, PING, acknowledgements) is only delayed,
// and delays keep the order of a direction.
type Lossy struct {
	Percent          float64 // of packets lost, 0..100
	DuplicatePercent float64 // of packets that pass twice, 0..100
	DelayMs          int64   // each packet, each direction, wall time
}

// State is what a line does to its packets; the zero value is a clean line.
// A state that swallows keeps the end of the connection to itself, too: the
// other side is not told of a Close.
type State struct {
	HalfOpen   bool // nothing passes either way and nobody is told
	OnewayUp   bool // what the board sends is lost
	OnewayDown bool // what the server sends is lost
	Lossy      Lossy
}

// Config of a Line; the zero value is a clean line that counts nothing.
type Config struct {
	BoardID string        // whose line it is, for Flight
	Flight  *clock.Flight // nil = none. The line itself counts what it does: Got for a PUBLISH it swallows, Sent for one it repeats, Begin while one is delayed
	Seed    int64         // of lossy; mix the connection's number in
	State   State         // from the first byte on
	// OnFault is told of each packet that a fault swallowed, repeated or delayed (nil = nobody). It must not block or call the line.
	OnFault func(Dir)
}

// Line is the board's side of a connection with its line faults, a net.Conn.
type Line struct{ inner net.Conn }

// Wrap puts a line around a connection.
func Wrap(c net.Conn, cfg Config) *Line { return &Line{inner: c} }

// Set switches the line's state at the next packet boundary. Leaving a state
// that swallowed anything but QoS 0 messages, or that hid the connection's end,
// cuts the line: the two ends no longer share a session.
func (l *Line) Set(s State) {}

// Cut resets the connection: both ends see it at once, packets under way are lost.
func (l *Line) Cut() {}

// Read implements net.Conn.
func (l *Line) Read(p []byte) (int, error) { return l.inner.Read(p) }

// Write implements net.Conn.
func (l *Line) Write(p []byte) (int, error) { return l.inner.Write(p) }

// Close implements net.Conn. On a line that swallows what goes up the server is not told.
func (l *Line) Close() error { return l.inner.Close() }

// LocalAddr implements net.Conn.
func (l *Line) LocalAddr() net.Addr { return l.inner.LocalAddr() }

// RemoteAddr implements net.Conn.
func (l *Line) RemoteAddr() net.Addr { return l.inner.RemoteAddr() }

// SetDeadline implements net.Conn.
func (l *Line) SetDeadline(t time.Time) error { return l.inner.SetDeadline(t) }

// SetReadDeadline implements net.Conn.
func (l *Line) SetReadDeadline(t time.Time) error { return l.inner.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (l *Line) SetWriteDeadline(t time.Time) error { return l.inner.SetWriteDeadline(t) }
