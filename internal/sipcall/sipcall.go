// Package sipcall makes a telephone call over SIP packet by packet, for scenarios: a trunk's INVITE with headers of any content,
// sent again until it is answered, and the ACK that ends the exchange. It shares no code with server/sip, which it is there to
// try.
package sipcall

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// How long a call waits, see RFC 3261, 17.1.1: over UDP, an INVITE is sent again after t1, then after twice as long, and so on.
const (
	t1   = 500 * time.Millisecond
	Wait = 64 * t1 // for an answer
)

// Call is one call. Times is how often the same INVITE is sent before anything is waited for, at least once.
type Call struct {
	Network string     // udp or tcp
	Addr    string     // host:port that is called
	Source  netip.Addr // address that calls; the zero Addr = the machine chooses
	To      string     // number that is called
	From    string     // number that calls, as From shows it
	Headers map[string]string
	Times   int
	Wait    time.Duration // for an answer; 0 = Wait
}

// Answer is what the caller was told last; Status 0 = nothing in time.
type Answer struct {
	Status int
	Reason string
}

// Make makes the call. It returns an error if the call couldn't be made or the answer can't be understood, and ctx's.
func (c Call) Make(ctx context.Context) (Answer, error) {
	for name, value := range c.Headers {
		if name == "" || strings.ContainsAny(name, ": ") || strings.ContainsAny(name+value, "\r\n") {
			return Answer{}, fmt.Errorf("sip: %q isn't a header: the name must have no colon or blank, and neither name nor value a line break", name)
		}
	}
	if strings.ContainsAny(c.To+c.From, "\r\n") {
		return Answer{}, errors.New("sip: a number must not have a line break")
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return Answer{}, fmt.Errorf("sip: %w", err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	x := exchange{call: c, conn: conn, in: bufio.NewReaderSize(conn, maxPacket), id: rand.Text()}
	got, err := x.make()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return got, err
}

func (c Call) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	if c.Source.IsValid() {
		at := netip.AddrPortFrom(c.Source, 0)
		if d.LocalAddr = net.UDPAddrFromAddrPort(at); c.Network == "tcp" {
			d.LocalAddr = net.TCPAddrFromAddrPort(at)
		}
	}
	return d.DialContext(ctx, c.Network, c.Addr)
}

// maxPacket is how long a UDP packet can be.
const maxPacket = 64 << 10

// exchange is a call in progress.
type exchange struct {
	call Call
	conn net.Conn
	in   *bufio.Reader
	id   string
}

func (x *exchange) make() (Answer, error) {
	for range max(x.call.Times, 1) {
		if err := x.send("INVITE", ""); err != nil {
			return Answer{}, err
		}
	}
	end := clock.Mono() + cmp.Or(x.call.Wait, Wait)
	again := end // when the INVITE is sent again
	if x.call.Network == "udp" {
		again = clock.Mono() + t1
	}
	for wait := t1; ; {
		_ = x.conn.SetReadDeadline(clock.WallNow().Add(min(again, end) - clock.Mono()))
		status, reason, to, err := x.answer()
		switch {
		case os.IsTimeout(err) && clock.Mono() >= end:
			return Answer{}, nil
		case os.IsTimeout(err):
			wait *= 2
			again = clock.Mono() + wait
			err = x.send("INVITE", "")
		case err == nil && status < 200: // it is being dealt with
			again = end
		case err == nil:
			return Answer{status, reason}, x.send("ACK", to)
		}
		if err != nil {
			return Answer{}, err
		}
	}
}

func (x *exchange) send(method, to string) error {
	_, err := x.conn.Write([]byte(x.request(method, to)))
	return err
}

// request is a request of the call. The ACK has the To of the answer, and otherwise the same headers (RFC 3261, 17.1.1.3).
func (x *exchange) request(method, to string) string {
	c, here := x.call, x.conn.LocalAddr().String()
	uri := "sip:" + c.To + "@" + c.Addr
	headers := map[string]string{"Call-ID": x.id + "@doorlab", "Contact": "<sip:doorlab@" + here + ">"}
	for name, value := range c.Headers {
		headers[known(name)] = value
	}
	if headers["From"] == "" {
		headers["From"] = "<sip:" + c.From + "@" + here + ">"
	}
	if !strings.Contains(headers["From"], ";tag=") { // copies of a call have the same
		sum := sha256.Sum256([]byte(headers["Call-ID"]))
		headers["From"] += ";tag=" + hex.EncodeToString(sum[:8])
	}
	if headers["To"] == "" {
		headers["To"] = "<" + uri + ">"
	}
	if to != "" {
		headers["To"] = to
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s SIP/2.0\r\nVia: SIP/2.0/%s %s;branch=z9hG4bK%s;rport\r\nMax-Forwards: 70\r\nCSeq: 1 %s\r\n", method, uri, strings.ToUpper(c.Network), here, x.id, method)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(&b, "%s: %s\r\n", name, headers[name])
	}
	return b.String() + "Content-Length: 0\r\n\r\n"
}

// known spells a header that the call has anyway as the call does.
func known(name string) string {
	for _, own := range []string{"Call-ID", "Contact", "From", "To"} {
		if strings.EqualFold(name, own) {
			return own
		}
	}
	return name
}

// answer reads the next answer to the call. to is its header To.
func (x *exchange) answer() (status int, reason, to string, err error) {
	in := x.in
	if x.call.Network == "udp" { // a packet is a whole message
		b := make([]byte, maxPacket)
		n, err := x.conn.Read(b)
		if err != nil {
			return 0, "", "", err
		}
		in = bufio.NewReader(bytes.NewReader(b[:n]))
	}
	r := textproto.NewReader(in)
	line, err := r.ReadLine()
	if err != nil {
		return 0, "", "", err
	}
	code, ok := strings.CutPrefix(line, "SIP/2.0 ")
	code, reason, _ = strings.Cut(code, " ")
	if status, err = strconv.Atoi(code); !ok || err != nil || status < 100 || status > 699 {
		return 0, "", "", fmt.Errorf("sip: %q isn't the beginning of an answer", line)
	}
	headers, err := r.ReadMIMEHeader()
	if err != nil {
		return 0, "", "", err
	}
	length, _ := strconv.ParseInt(headers.Get("Content-Length"), 10, 64)
	_, err = io.CopyN(io.Discard, in, length)
	return status, reason, headers.Get("To"), err
}
