package link

import (
	"context"
	"net"
)

// DialTCP connects the n-th board. To a loopback address it spreads the source
// over 127.x.y.1, for there are only 28,000 ports per address; Close resets, so
// that no port waits in TIME_WAIT.
func DialTCP(ctx context.Context, address string, n int) (net.Conn, error) {
	d := net.Dialer{}
	if host, _, err := net.SplitHostPort(address); err == nil {
		if ip := net.ParseIP(host).To4(); ip != nil && ip.IsLoopback() || host == "localhost" {
			spread(&d, n)
		}
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

// source is the n-th of 100 x 250 loopback addresses.
func source(n int) net.IP {
	if n < 0 {
		n = -n
	}
	return net.IPv4(127, byte(1+n/250%100), byte(n%250), 1)
}
