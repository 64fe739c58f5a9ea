package link

import (
	"net"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// linger is how long a closed line may take to send delayed packets.
const linger = 5 * time.Second

// Close implements net.Conn. If the line swallows what goes up, the server is not notified; delayed packets still go
// out first.
func (l *Line) Close() error {
	l.mu.Lock()
	if err := l.gone("close"); err != nil {
		defer l.mu.Unlock()
		if l.closed {
			return err
		}
		l.closed = true // a cut line has ended already
		close(l.quit)
		return nil
	}
	l.closed, l.ready = true, nil
	close(l.quit)
	src := l.src
	if !l.state.blocked(Up) && len(l.lanes[Up].queue) == 0 {
		l.drop()
		l.mu.Unlock()
		if src != l.inner {
			_ = src.Close()
		}
		return l.hangUp()
	}
	l.left = true
	for _, q := range l.lanes[Down].queue { // nobody reads it any more
		l.swallowed(Down, q.packet[0], true)
		q.done()
	}
	l.lanes[Down].queue = nil
	_ = src.SetReadDeadline(clock.WallNow().Add(-time.Second)) // wakes the reader
	_ = l.inner.SetWriteDeadline(clock.WallNow().Add(linger))
	l.mu.Unlock()
	if src != l.inner {
		_ = src.Close()
	}
	go l.drain()
	return nil
}

// hangUp ends the connection so that the server notices.
func (l *Line) hangUp() error {
	l.ends()
	return l.inner.Close()
}

// ends makes a jump wait until the server knows that the connection has ended.
func (l *Line) ends() { l.cfg.Flight.Ends(l.cfg.BoardID, l.inner.LocalAddr().String()) }

// drain swallows what the server sends to a line that the board has left, until the line ends.
func (l *Line) drain() {
	l.rlock.Lock()
	defer l.rlock.Unlock()
	_ = l.inner.SetReadDeadline(time.Time{})
	buf := make([]byte, readAhead)
	for {
		n, err := l.inner.Read(buf)
		l.mu.Lock()
		l.state.OnewayDown = true // nobody reads any more
		l.filter(Down, buf[:n])
		if err != nil {
			l.left = false
			l.drop()
		}
		l.mu.Unlock()
		if err != nil {
			_ = l.hangUp()
			return
		}
	}
}

// flush sends the delayed packets that are due up.
func (l *Line) flush() {
	l.wlock.Lock()
	defer l.wlock.Unlock()
	l.mu.Lock()
	pass, done := l.release(Up)
	over := l.closed && !l.state.blocked(Up) && len(l.lanes[Up].queue) == 0
	l.mu.Unlock()
	if len(pass) > 0 {
		_, _ = l.inner.Write(pass) // the reader will see an error, too
	}
	if over {
		_ = l.hangUp()
	}
	for _, f := range done {
		f()
	}
}

// LocalAddr implements net.Conn.
func (l *Line) LocalAddr() net.Addr { return l.inner.LocalAddr() }

// RemoteAddr implements net.Conn.
func (l *Line) RemoteAddr() net.Addr { return l.inner.RemoteAddr() }

// SetDeadline implements net.Conn.
func (l *Line) SetDeadline(t time.Time) error {
	if err := l.SetReadDeadline(t); err != nil {
		return err
	}
	return l.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (l *Line) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.gone("set"); err != nil {
		return err
	}
	l.rd = t
	l.clip()
	return nil
}

// SetWriteDeadline implements net.Conn.
func (l *Line) SetWriteDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.gone("set"); err != nil {
		return err
	}
	return l.inner.SetWriteDeadline(t)
}
