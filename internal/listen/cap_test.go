package listen

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/loopback"
	"github.com/doorlab/doorlab/internal/must"
)

// TestCaps: one address can't use up the connections left for others, all together can't exceed the total, and a
// closed connection frees one slot.
func TestCaps(t *testing.T) {
	t.Parallel()
	inner := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer inner.Close()
	limits := NewCap(3, 2)
	l := limits.On(inner)
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func(n int) (net.Conn, error) {
		t.Helper()
		var d net.Dialer
		loopback.From(&d, loopback.Load.Source(n))
		c, err := d.DialContext(context.Background(), "tcp", inner.Addr().String())
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
		return c, err
	}
	in := func(n int) net.Conn {
		t.Helper()
		must.Get(dial(n))(t)
		return <-accepted
	}
	refused := func(n int) {
		t.Helper()
		c, err := dial(n)
		if errors.Is(err, syscall.ECONNRESET) {
			return // closed before dial could look
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) //nolint:forbidigo // a socket's deadline
		var late net.Error
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.As(err, &late) && late.Timeout() {
			t.Errorf("a connection beyond the limit stays open (%v), want it closed", err)
		}
	}
	first := in(1)
	in(1)
	refused(1) // of this address
	in(2)
	refused(3) // in total
	if limits.Open() != 3 || limits.Refused() != 2 {
		t.Errorf("got %d open, %d refused, want 3 and 2", limits.Open(), limits.Refused())
	}
	_ = first.Close()
	_ = first.Close()
	in(3)
	if limits.Open() != 3 {
		t.Errorf("got %d open, want 3", limits.Open())
	}
}

// TestShares: boards can't use up the API's descriptors, nor all of the process's.
func TestShares(t *testing.T) {
	t.Parallel()
	for _, n := range []int{64, 400, 1024, 20000, 1 << 30} {
		s := Share(n)
		if s.Public < 16 || s.Broker < 16 || s.Control < 2 || s.Greet < 8 || s.Public+s.Broker+s.Control > n-n/16 {
			t.Errorf("%d descriptors: got %+v, want every share at its minimum or more, and a sixteenth left over", n, s)
		}
	}
}

// Little is buffered for a peer that doesn't read: the kernel doesn't accept megabytes for it.
func TestUnreadAnswerStaysSmall(t *testing.T) {
	t.Parallel()
	inner := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer inner.Close()
	peer := must.Get(net.Dial("tcp", inner.Addr().String()))(t)
	defer peer.Close()
	c := must.Get(NewCap(0, 0).On(inner).Accept())(t)
	defer c.Close()
	taken := 0
	for chunk := make([]byte, 32<<10); ; {
		must.OK(t, c.SetWriteDeadline(time.Now().Add(300*time.Millisecond)))
		n, err := c.Write(chunk)
		taken += n
		if errors.Is(err, os.ErrDeadlineExceeded) { // nobody reads
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d KiB were taken", taken>>10)
	if taken > 1<<20 {
		t.Errorf("%d KiB were taken of an answer that nobody reads, want at most 1,024", taken>>10)
	}
}

// TestFree: a trusted proxy is known by its address, not by its network's, which is what the limits count.
func TestFree(t *testing.T) {
	t.Parallel()
	list := must.Get(Prefixes([]string{"2001:db8::5", "10.0.0.0/8", "fe80::1"}))(t)
	for addr, want := range map[string]bool{
		"[2001:db8::5]:1234": true, "[2001:db8::6]:1234": false, "10.1.2.3:1": true, "[::ffff:10.1.2.3]:1": true, "11.1.2.3:1": false, "[fe80::1%eth0]:1": true,
	} {
		if got := within(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr)), list); got != want {
			t.Errorf("%s: trusted %t, want %t", addr, got, want)
		}
	}
}
