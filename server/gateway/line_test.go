package gateway

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/pipe"
)

// line is a board's end of a connection that can lose traffic without notifying either end.
type line struct {
	net.Conn
	up, down atomic.Bool // drop what goes up, what comes down
}

func (l *line) Read(p []byte) (int, error) {
	for {
		n, err := l.Conn.Read(p)
		if err != nil || !l.down.Load() {
			return n, err
		}
	}
}

func (l *line) Write(p []byte) (int, error) {
	if l.up.Load() {
		return len(p), nil
	}
	return l.Conn.Write(p)
}

// Close ends the board's side. The server isn't notified while uplinks are lost.
func (l *line) Close() error {
	if l.up.Load() {
		return l.Conn.SetReadDeadline(time.Unix(1, 0))
	}
	return l.Conn.Close()
}

// Cut resets the connection for both ends.
func (l *line) Cut() { pipe.Reset(l.Conn) }
