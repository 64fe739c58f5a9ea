package link

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/doorlab/doorlab/internal/loopback"
)

// Dial connects the n-th board. To a loopback address it spreads source addresses over 127.x.y.1, because each has only
// 28,000 ports; Close resets, so that no port stays in TIME_WAIT. With secure, it uses TLS.
func Dial(ctx context.Context, address string, n int, secure *tls.Config) (net.Conn, error) {
	d := net.Dialer{}
	host, _, err := net.SplitHostPort(address)
	if err == nil && loopback.Is(host) {
		loopback.From(&d, loopback.Boards.Source(n))
	}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	if secure == nil {
		return c, nil
	}
	if secure.ServerName == "" {
		secure = secure.Clone()
		secure.ServerName = host
	}
	s := &secured{tls.Client(c, secure)}
	if err := s.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return s, nil
}

// secured is a TLS connection that can end abruptly, as a cut line does.
type secured struct{ *tls.Conn }

// Cut ends the connection underneath TLS; see pipe.Reset.
func (s *secured) Cut() { _ = s.NetConn().Close() }
