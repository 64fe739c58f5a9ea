package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	msg "github.com/emiago/sipgo/sip"

	"github.com/doorlab/doorlab/internal/clock"
	local "github.com/doorlab/doorlab/internal/loopback"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/entry"
)

// door counts the calls that were decided and opens for all of them.
type door struct {
	n    atomic.Int64
	from atomic.Pointer[string]
}

func (d *door) Call(_ context.Context, _, from string) (entry.CallResult, error) {
	d.n.Add(1)
	d.from.Store(&from)
	return entry.CallResult{Answered: true, Result: "opened"}, nil
}

func startWith(t *testing.T, d *door, peers ...string) *Server {
	t.Helper()
	cfg := Config{Addr: "127.0.0.1:0", Caller: d, Log: silent}
	for _, p := range peers {
		cfg.Peers = append(cfg.Peers, netip.MustParsePrefix(p))
	}
	s := must.Get(Start(cfg))(t)
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// invite is an INVITE written by hand; headers are inserted before the empty line.
func invite(via, branch, callID, from, headers string) string {
	return fmt.Sprintf("INVITE sip:05012345678@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/%s;branch=z9hG4bK%s\r\nMax-Forwards: 70\r\n"+
		"From: %s;tag=1\r\nTo: <sip:05012345678@127.0.0.1>\r\nCall-ID: %s\r\nCSeq: 1 INVITE\r\nContact: <sip:a@127.0.0.1>\r\n%sContent-Length: 0\r\n\r\n",
		via, branch, from, callID, headers)
}

// say sends an INVITE over TCP and returns the final status.
func say(t *testing.T, s *Server, branch, callID, from, headers string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", s.Addr()))(t)
	defer func() { _ = conn.Close() }()
	must.Get(conn.Write([]byte(invite("TCP "+conn.LocalAddr().String(), branch, callID, from, headers))))(t)
	return final(t, conn)
}

func final(t *testing.T, conn net.Conn) string {
	t.Helper()
	b := make([]byte, 64<<10)
	for {
		_ = conn.SetReadDeadline(clock.WallNow().Add(20 * time.Second))
		n := must.Get(conn.Read(b))(t)
		for line := range strings.SplitSeq(string(b[:n]), "\r\n") {
			if status, ok := strings.CutPrefix(line, "SIP/2.0 "); ok && !strings.HasPrefix(status, "100 ") {
				return status
			}
		}
	}
}

// TestStrangersLearnNothing: calls from strangers aren't decided, get no answer over UDP, and always the same one
// over TCP.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()
	d := &door{}
	s := startWith(t, d, "192.0.2.0/24")
	if got := say(t, s, "a", "a", "<sip:01011112222@carrier>", "P-Asserted-Identity: <sip:01011112222@carrier>\r\n"); got != "403 Forbidden" {
		t.Errorf("a stranger gets %q, want 403 Forbidden", got)
	}
	udp := must.Get(net.Dial("udp", s.Addr()))(t)
	defer func() { _ = udp.Close() }()
	must.Get(udp.Write([]byte(invite("UDP "+udp.LocalAddr().String(), "b", "b", "<sip:01011112222@carrier>", ""))))(t)
	_ = udp.SetReadDeadline(clock.WallNow().Add(time.Second)) // an answer would arrive immediately
	if n, err := udp.Read(make([]byte, 1500)); !os.IsTimeout(err) {
		t.Errorf("%d bytes came back to an address that a stranger may have invented, %v", n, err)
	}
	if d.n.Load() != 0 {
		t.Errorf("%d calls of strangers were decided, want 0", d.n.Load())
	}
}

// TestCallerIsWhoThePeerVouchesFor: names chosen by callers, foreign numbers and withheld numbers.
func TestCallerIsWhoThePeerVouchesFor(t *testing.T) {
	t.Parallel()
	d := &door{}
	s := startWith(t, d)
	const carrier = "<sip:+821099990000@carrier>"
	for i, c := range []struct{ name, from, headers, want string }{
		{"plain", "<sip:01011112222@carrier>", "", "01011112222"},
		{"international", "<sip:+821011112222@carrier>", "", "01011112222"},
		{"letters", "<sip:+8210jjjjaaaa@carrier>", "", ""},
		{"letters of a foreign number", "<sip:a@b>", "P-Asserted-Identity: <tel:+44-10-1111-ABCD>\r\n", ""},
		{"display name of From", `"sip:01011112222@x" ` + carrier, "", "01099990000"},
		{"display name of PAI", "<sip:anonymous@anonymous.invalid>", `P-Asserted-Identity: "sip:01011112222" ` + carrier + "\r\n", "01099990000"},
		{"bracket in a display name", "<sip:a@b>", `P-Asserted-Identity: "a <sip:01011112222@x>" ` + carrier + "\r\n", "01099990000"},
		{"PAI beats From", "<sip:01011112222@carrier>", "P-Asserted-Identity: " + carrier + "\r\n", "01099990000"},
		{"tel", "<sip:a@b>", "P-Asserted-Identity: <tel:+82-10-9999-0000>\r\n", "01099990000"},
		{"tel in From", "<tel:+82-10-1111-2222>", "", "01011112222"},
		{"tel of somewhere else in From", "<tel:01011112222;phone-context=+86>", "", ""},
		{"somewhere else in a sip URI", "<sip:a@b>", "P-Asserted-Identity: <sip:01011112222;phone-context=+86@carrier;user=phone>\r\n", ""},
		{"somewhere else in From", "<sip:01011112222;Phone-Context=example.com@carrier>", "", ""},
		{"parameters of a sip URI", "<sip:+82-10-1111-2222;isub=1@carrier;user=phone>", "", "01011112222"},
		{"15 digits", "<sip:010111122223333@carrier>", "", "010111122223333"},
		{"more than a number has", "<sip:0101111222233334@carrier>", "", ""},
		{"foreign landline", "<sip:+861011112222@carrier>", "", "+861011112222"},
		{"foreign", "<sip:a@b>", "P-Asserted-Identity: <tel:+44-10-1111-2222>\r\n", "+441011112222"},
		{"parameters are no number", "<sip:a@b>", "P-Asserted-Identity: foo;bar tel:+82-10-1111-2222\r\n", ""},
		{"unusable PAI hides From", "<sip:01011112222@carrier>", "P-Asserted-Identity: <mailto:a@b>\r\n", ""},
		{"privacy", "<sip:01011112222@carrier>", "P-Asserted-Identity: <sip:01011112222@carrier>\r\nPrivacy: critical;id\r\n", ""},
		{"context of somewhere else", "<sip:a@b>", "P-Asserted-Identity: <tel:01011112222;phone-context=+86>\r\n", ""},
	} {
		before := d.n.Load()
		got := say(t, s, fmt.Sprint("c", i), fmt.Sprint("c", i), c.from, c.headers)
		if got != "486 Busy Here" || d.n.Load() == before || *d.from.Load() != c.want {
			t.Errorf("%s: %q, caller %q, want %q", c.name, got, *d.from.Load(), c.want)
		}
	}
}

// TestOneCallOpensOnce: even if it is forked ten ways, or repeated after its end.
func TestOneCallOpensOnce(t *testing.T) {
	t.Parallel()
	d := &door{}
	s := startWith(t, d)
	for i := range 10 {
		want := "482 Loop Detected"
		if i == 0 {
			want = "486 Busy Here"
		}
		if got := say(t, s, fmt.Sprint("branch", i), "one", "<sip:01011112222@carrier>", ""); got != want {
			t.Errorf("branch %d: %q, want %q", i, got, want)
		}
	}
	if d.n.Load() != 1 {
		t.Errorf("the call was decided %d times, want 1", d.n.Load())
	}
	calls := newSeen()
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{{0, true}, {callLife - 1, false}, {callLife, true}} {
		if got := calls.first(callID{}, c.at); got != c.want {
			t.Errorf("after %s: first %t, want %t", c.at, got, c.want)
		}
	}
}

// TestLongCallIDsTakeNoRoom: what is remembered of a call doesn't grow with what its caller sends.
func TestLongCallIDsTakeNoRoom(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60<<10)
	req := func(callID string) *msg.Request {
		r := msg.NewRequest(msg.INVITE, msg.Uri{})
		h := msg.CallIDHeader(callID)
		r.AppendHeader(&h)
		return r
	}
	calls := newSeen()
	for i, want := range []bool{true, true, false} {
		if got := calls.first(idOf(req(long+strings.Repeat("y", i%2))), 0); got != want {
			t.Errorf("call %d: first %t, want %t", i, got, want)
		}
	}
	if size := unsafe.Sizeof(calls.order[0]); size > 64 {
		t.Errorf("a call takes %d bytes, want at most 64", size)
	}
}

type panics struct{}

func (panics) Call(context.Context, string, string) (entry.CallResult, error) { panic("a bug") }

// TestPanicEndsOneCall: it is answered 500, and the process lives on.
func TestPanicEndsOneCall(t *testing.T) {
	t.Parallel()
	s := must.Get(Start(Config{Addr: "127.0.0.1:0", Caller: panics{}, Log: silent}))(t)
	t.Cleanup(func() { _ = s.Stop() })
	for i := range 2 {
		if got := say(t, s, fmt.Sprint("panic", i), fmt.Sprint(i), "<sip:01011112222@carrier>", ""); got != "500 Server Internal Error" {
			t.Errorf("call %d: %q, want 500 Server Internal Error", i, got)
		}
	}
}

// TestStrangersLeaveRoom: however many strangers connect, a peer can still call.
func TestStrangersLeaveRoom(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux owns all of 127.0.0.0/8")
	}
	s := startWith(t, &door{}, "127.0.0.1/32")
	for n := range maxConns {
		var d net.Dialer
		local.From(&d, local.Load.Source(n))
		conn, err := d.DialContext(t.Context(), "tcp", s.Addr())
		if err == nil {
			t.Cleanup(func() { _ = conn.Close() })
		} else if !errors.Is(err, syscall.ECONNRESET) { // refused before the dialer could look
			t.Fatal(err)
		}
	}
	if got := say(t, s, "p", "p", "<sip:01011112222@carrier>", ""); got != "486 Busy Here" {
		t.Errorf("got %q, want 486 Busy Here", got)
	}
}

// TestDeathIsTold: a listener that ends on its own is reported as a failure; Stop isn't.
func TestDeathIsTold(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 2)
	s := must.Get(Start(Config{Addr: "127.0.0.1:0", Caller: &door{}, Log: silent, Failed: func(err error) { failed <- err }}))(t)
	_ = s.udp.Close()
	if err := <-failed; !strings.Contains(err.Error(), "UDP") {
		t.Errorf("told %v, want %q in it", err, "UDP")
	}
	_ = s.Stop()
	select {
	case err := <-failed:
		t.Errorf("Stop was reported as %v, want nothing reported", err)
	default:
	}
}

// TestMessagesHaveATime: a peer that doesn't finish a message is cut off; one that is silent between messages isn't.
func TestMessagesHaveATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := &timed{Conn: near, since: clock.WallNow()}
		start := clock.Mono()
		b := make([]byte, 64)
		go func() { _, _ = far.Write([]byte("OPTIONS\r\n\r\n")) }()
		must.Get(c.Read(b))(t)
		go func() { time.Sleep(time.Minute); _, _ = far.Write([]byte("INV")) }()
		if _, err := c.Read(b); err != nil {
			t.Fatalf("a minute between messages: got %v, want the connection open", err)
		}
		if _, err := c.Read(b); !os.IsTimeout(err) || clock.Mono()-start != time.Minute+messageTime {
			t.Errorf("half a message: got %v after %s, want a timeout after %s", err, clock.Mono()-start, time.Minute+messageTime)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := &timed{Conn: near, since: clock.WallNow()}
		start := clock.Mono()
		go func() {
			for _, part := range []string{"INFO\r\nl: 1000\r\n\r\n", "a", "b", "c", "d", "e", "f", "g"} {
				if _, err := far.Write([]byte(part)); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		var err error
		for b := make([]byte, 64); err == nil; {
			_, err = c.Read(b)
		}
		if took := clock.Mono() - start; !os.IsTimeout(err) || took != messageTime {
			t.Errorf("a body that trickles in: got %v after %s, want a timeout after %s", err, took, messageTime)
		}
		_ = near.Close()
		time.Sleep(time.Minute) // the writer notices
	})
}

// TestBodiesBeginNoMessage: a body may arrive after its headers, in pieces, and with the next message's beginning.
func TestBodiesBeginNoMessage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Content-Length", "l ", "CONTENT-LENGTH"} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			c := &timed{Conn: near, since: clock.WallNow()}
			b := make([]byte, 64)
			got := func(part string) {
				t.Helper()
				go func() { _, _ = far.Write([]byte(part)) }()
				must.Get(c.Read(b))(t)
			}
			got("INVITE\r\n" + name + ": 10\r\n\r\nv=0")
			time.Sleep(messageTime - time.Second)
			got("\r\n\r\n")
			if c.since.IsZero() {
				t.Errorf("%s: the message is over before its body", name)
			}
			got("abc")
			if !c.since.IsZero() {
				t.Errorf("%s: the end of the body isn't the message's", name)
			}
			time.Sleep(messageTime)
			got("AC")
			if c.since.IsZero() {
				t.Errorf("%s: the next message hasn't begun", name)
			}
			got("K\r\n\r\n")
			start := clock.Mono()
			if _, err := c.Read(b); !os.IsTimeout(err) || clock.Mono()-start != idleTime {
				t.Errorf("%s: got %v after %s, want a timeout after %s", name, err, clock.Mono()-start, idleTime)
			}
		})
	}
}
