package link

import (
	"context"
	"net"

	"github.com/doorlab/doorlab/internal/loopback"
)

// DialTCP connects the n-th board. To a loopback address it spreads the source
// over 127.x.y.1, for there are only 28,000 ports per address; Close resets, so
// that no port waits in TIME_WAIT.
func DialTCP(ctx context.Context, address string, n int) (net.Conn, error) {
	d := net.Dialer{}
	if host, _, err := net.SplitHostPort(address); err == nil && loopback.Is(host) {
		loopback.From(&d, loopback.Boards.Source(n))
	}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	return c, nil
}
