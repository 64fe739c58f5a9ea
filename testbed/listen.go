package testbed

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// listenAll takes all addresses first, so that a taken port leaves nothing changed. ctl is nil without a control API.
func (t *Testbed) listenAll(c Config) (public, mqtt, ctl net.Listener, err error) {
	if err := t.openCerts(c); err != nil {
		return nil, nil, nil, err
	}
	if public, err = t.listen("http", c.HTTP); err != nil {
		return nil, nil, nil, err
	}
	if mqtt, err = t.listen("mqtt", c.MQTT); err != nil {
		return nil, nil, nil, err
	}
	if c.Control != "" {
		if ctl, err = t.listen("control", c.Control); err != nil {
			return nil, nil, nil, err
		}
	}
	if c.SIP != "" {
		err = freeSIP(c.SIP)
	}
	if ctl != nil {
		ctl = t.caps.control.On(ctl)
	}
	t.warnOfPlain(c)
	t.warnOfLinks(c, public.Addr())
	return t.caps.public.On(public), mqtt, ctl, err
}

// listen takes an address, which its flag gave.
func (t *Testbed) listen(flag, addr string) (net.Listener, error) {
	addr = cmp.Or(addr, "127.0.0.1:0")
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, taken(flag, addr, err)
	}
	t.onStop(ignoreClosed(l.Close))
	return l, nil
}

// freeSIP checks that an address to be listened on later, over UDP and TCP, is free now.
func freeSIP(addr string) error {
	udp, err := net.ListenPacket("udp", addr)
	if err != nil {
		return taken("sip", addr, err)
	}
	if _, port, _ := net.SplitHostPort(addr); port == "0" { // later a port is chosen that is free on both
		return udp.Close()
	}
	tcp, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(taken("sip", addr, err), udp.Close())
	}
	return errors.Join(tcp.Close(), udp.Close())
}

// lent is a listener whose borrower may close it: the address stays taken, and clients that connect meanwhile wait for
// the next borrower.
type lent struct {
	net.Listener
	back atomic.Bool
}

func lend(l net.Listener) *lent {
	setDeadline(l, time.Time{})
	return &lent{Listener: l}
}

// setDeadline ends a waiting Accept of a TCP listener.
func setDeadline(l net.Listener, at time.Time) {
	if t, ok := l.(*net.TCPListener); ok {
		_ = t.SetDeadline(at)
	}
}

// Accept implements net.Listener.
func (l *lent) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil && l.back.Load() {
		err = net.ErrClosed
	}
	return c, err
}

// Close gives the listener back.
func (l *lent) Close() error {
	l.back.Store(true)
	setDeadline(l.Listener, time.Unix(1, 0))
	return nil
}

// taken is the flag, only the reason, and what to do about it.
func taken(flag, addr string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
		if sys, ok := errors.AsType[*os.SyscallError](err); ok {
			err = sys.Err
		}
	}
	return fmt.Errorf("--%s: cannot listen on %s: %w; choose another address, port 0 picks a free one", flag, addr, err)
}

func ignoreClosed(f func() error) func() error {
	return func() error {
		if err := f(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}
