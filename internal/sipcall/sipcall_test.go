package sipcall

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// over answers the caller's packets one after the other; "" = with nothing.
func over(t *testing.T, network string, answers ...string) (addr string, all <-chan []string) {
	t.Helper()
	out := make(chan []string, 1)
	if network == "tcp" {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			out <- listen(answers, conn.Read, func(b []byte) { _, _ = conn.Write(b) })
		}()
		return l.Addr().String(), out
	}
	c := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		var peer net.Addr
		out <- listen(answers, func(b []byte) (n int, err error) { n, peer, err = c.ReadFrom(b); return n, err }, func(b []byte) { _, _ = c.WriteTo(b, peer) })
	}()
	return c.LocalAddr().String(), out
}

func listen(answers []string, read func([]byte) (int, error), write func([]byte)) (packets []string) {
	b, answered := make([]byte, maxPacket), ""
	for _, a := range append(answers, "") { // the ACK gets none
		n, err := read(b)
		for err == nil && string(b[:n]) == answered { // sent again because the answer took its time, as on a busy machine
			n, err = read(b)
		}
		if err != nil {
			break
		}
		packets = append(packets, string(b[:n]))
		if a != "" {
			answered = string(b[:n])
		}
		for one := range strings.SplitSeq(a, "|") {
			if one != "" {
				write([]byte("SIP/2.0 " + one + "\r\nTo: <sip:x@y>;tag=theirs\r\nContent-Length: 0\r\n\r\n"))
			}
		}
	}
	return packets
}

func header(packet, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `: (.*)\r$`).FindStringSubmatch(packet)
	if m == nil {
		return ""
	}
	return m[1]
}

// TestCall: the final answer counts, and it is acknowledged; packets of one call belong together.
func TestCall(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"udp", "tcp"} {
		addr, all := over(t, network, "100 Trying|486 Busy Here")
		c := Call{Network: network, Addr: addr, Source: netip.MustParseAddr("127.0.0.1"), To: "0212345678", From: "+821011112222", Headers: map[string]string{"call-id": "mine", "Privacy": "id"}}
		got, err := c.Make(t.Context())
		if want := (Answer{486, "Busy Here"}); err != nil || got != want {
			t.Fatalf("%s: got %v, %v, want %v", network, got, err, want)
		}
		packets := <-all
		if len(packets) != 2 || !strings.HasPrefix(packets[0], "INVITE sip:0212345678@"+addr+" SIP/2.0\r\n") || !strings.HasPrefix(packets[1], "ACK sip:0212345678@") {
			t.Fatalf("%s: got %q, want an INVITE and its ACK", network, packets)
		}
		for name, want := range map[string]string{"Call-ID": "mine", "Privacy": "id", "Content-Length": "0"} {
			if got := header(packets[0], name); got != want {
				t.Errorf("%s: %s is %q, want %q", network, name, got, want)
			}
		}
		if from := header(packets[0], "From"); !strings.HasPrefix(from, "<sip:+821011112222@") || !strings.Contains(from, ";tag=") || header(packets[1], "From") != from {
			t.Errorf("%s: From is %q, then %q, want the number with a tag, twice the same", network, from, header(packets[1], "From"))
		}
		if header(packets[0], "Via") != header(packets[1], "Via") || header(packets[1], "To") != "<sip:x@y>;tag=theirs" || header(packets[1], "CSeq") != "1 ACK" {
			t.Errorf("%s: the ACK %q isn't that of the answer", network, packets[1])
		}
	}
}

// TestSentAgain: what got no answer is sent again over UDP, as it was; so is what is meant to be sent several times.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	for times, answers := range map[int][]string{1: {"", "603 Decline"}, 3: {"", "", "603 Decline"}} {
		addr, all := over(t, "udp", answers...)
		got, err := Call{Network: "udp", Addr: addr, To: "1", From: "2", Times: times}.Make(t.Context())
		if err != nil || got.Status != 603 {
			t.Fatalf("%d times: got %v, %v, want 603", times, got, err)
		}
		if packets := <-all; len(packets) != len(answers)+1 || packets[0] != packets[1] {
			t.Errorf("%d times: got %q, want the same INVITE %d times", times, packets, len(answers))
		}
	}
}

// TestNobodyAnswers: a call ends when its time is over or its context is done.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"udp", "tcp"} {
		addr, _ := over(t, network, "")
		c := Call{Network: network, Addr: addr, To: "1", From: "2", Wait: 20 * time.Millisecond}
		if got, err := c.Make(t.Context()); err != nil || got != (Answer{}) {
			t.Errorf("%s: got %v, %v, want no answer", network, got, err)
		}
		addr, _ = over(t, network, "")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if got, err := (Call{Network: network, Addr: addr, To: "1", From: "2"}).Make(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, %v, want the context's error", network, got, err)
		}
	}
}

// TestNoCall: what would be another packet isn't sent, and what isn't an answer isn't taken for one.
func TestNoCall(t *testing.T) {
	t.Parallel()
	for _, c := range []Call{{To: "1\r\nFrom: x"}, {From: "1\n"}, {Headers: map[string]string{"Privacy": "id\r\nFrom: x"}}, {Headers: map[string]string{"a:b": "c"}}, {Headers: map[string]string{"": "c"}}} {
		c.Network, c.Addr = "udp", "127.0.0.1:1"
		if got, err := c.Make(t.Context()); err == nil {
			t.Errorf("%+v: got %v, want an error", c, got)
		}
	}
	addr, _ := over(t, "udp", "42 What")
	if got, err := (Call{Network: "udp", Addr: addr, To: "1", From: "2"}).Make(t.Context()); err == nil || !strings.Contains(err.Error(), "42 What") {
		t.Errorf("got %v, %v, want an error that shows the answer", got, err)
	}
}
