package byhand

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// turn is what the server reads, and what it answers then; both in hex. An answer "end" closes the connection.
type turn struct{ reads, answers string }

// serve plays a server that expects exactly these packets. wrong receives the first difference, or nil at the end.
func serve(t *testing.T, turns ...turn) (address string, wrong <-chan error) {
	t.Helper()
	l := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	out := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			out <- err
			return
		}
		defer conn.Close()
		for _, turn := range turns {
			want := unhex(turn.reads)
			got := make([]byte, len(want))
			if n, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
				out <- errors.New("read " + hex.EncodeToString(got[:n]) + ", want " + hex.EncodeToString(want))
				return
			}
			if turn.answers == "end" {
				break
			}
			_, _ = conn.Write(unhex(turn.answers))
		}
		out <- nil
	}()
	return "tcp://" + l.Addr().String(), out
}

func unhex(s string) []byte {
	raw, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return raw
}

const (
	connect  = "10 14 0004 4d515454 04 c2 001e 0001 62 0001 62 0002 7077" // client b, user b, password pw, keep-alive 30 s
	accepted = "20 02 00 00"
)

var hello = Hello{ClientID: "b", Username: "b", Password: "pw", KeepAlive: 30, Level: 4}

// TestPackets: what goes over the wire, byte by byte.
func TestPackets(t *testing.T) {
	t.Parallel()
	address, wrong := serve(t,
		turn{connect, accepted},
		turn{"82 0a 0001 0001 61 00 0001 23 00", "90 04 0001 00 80"},
		turn{"30 04 0001 61 78", ""},
		turn{"33 06 0001 61 0002 78", "40 02 0002"},
		turn{"34 06 0001 61 0003 79", "50 02 0003"},
		turn{"62 02 0003", "70 02 0003 31 05 0002 646e 7a"},
		turn{"e0 00", "end"})
	heard := make(chan Message, 1)
	c := must.Get(Dial(t.Context(), address, nil, func(m Message) { heard <- m }))(t)
	if code, err := c.Connect(hello); code != 0 || err != nil {
		t.Fatalf("got code %d, %v; want an accepted connection", code, err)
	}
	if codes, err := c.Subscribe([]string{"a", "#"}); err != nil || !bytes.Equal(codes, []byte{0, 128}) {
		t.Fatalf("got codes %v, %v; want 0 and 128", codes, err)
	}
	must.OK(t, c.Publish(Message{Topic: "a", Payload: []byte("x")}))
	must.OK(t, c.Publish(Message{Topic: "a", Payload: []byte("x"), QoS: 1, Retain: true}))
	must.OK(t, c.Publish(Message{Topic: "a", Payload: []byte("y"), QoS: 2}))
	if m := <-heard; m.Topic != "dn" || string(m.Payload) != "z" || !m.Retain || m.QoS != 0 {
		t.Errorf("got %+v, want a retained message dn z", m)
	}
	c.Disconnect()
	must.OK(t, <-wrong)
	if err := c.Publish(Message{Topic: "a"}); !errors.Is(err, ErrEnded) {
		t.Errorf("got %v, want %v", err, ErrEnded)
	}
}

// TestConnectSaysAnything: a will, a kept session, another level, no credentials.
func TestConnectSaysAnything(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		hello Hello
		turn  turn
		code  byte
		err   error
	}{
		{"will", Hello{ClientID: "b", Level: 4, Will: &Message{Topic: "w", Payload: []byte("?"), QoS: 1, Retain: true}},
			turn{"10 13 0004 4d515454 04 2e 0000 0001 62 0001 77 0001 3f", "20 02 00 05"}, 5, nil},
		{"kept", Hello{ClientID: "b", Level: 4, Kept: true}, turn{"10 0d 0004 4d515454 04 00 0000 0001 62", "20 02 00 02"}, 2, nil},
		{"level 3", Hello{ClientID: "b", Level: 3}, turn{"10 0d 0004 4d515454 03 02 0000 0001 62", "20 02 00 01"}, 1, nil},
		{"level 5, refused in its own form", Hello{ClientID: "b", Level: 5}, turn{"10 0e 0004 4d515454 05 02 0000 00 0001 62", "20 03 00 84 00"}, 132, nil},
		{"the server ends it", Hello{ClientID: "b", Level: 4}, turn{"10 0d 0004 4d515454 04 02 0000 0001 62", "end"}, 0, ErrEnded},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, wrong := serve(t, c.turn)
			conn := must.Get(Dial(t.Context(), address, nil, func(Message) {}))(t)
			defer conn.Drop()
			code, err := conn.Connect(c.hello)
			must.OK(t, <-wrong)
			if code != c.code || !errors.Is(err, c.err) {
				t.Errorf("got code %d, %v; want %d, %v", code, err, c.code, c.err)
			}
		})
	}
}

// TestEnd: a connection that the server closes, or on which it says what only clients say, is over.
func TestEnd(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"closed": "", "a ping request": "c0 00", "longer than allowed": "30 ff ff ff 7f", "cut short": "30 05 00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, wrong := serve(t, turn{connect, accepted + says})
			c := must.Get(Dial(t.Context(), address, nil, func(m Message) { t.Errorf("heard %+v", m) }))(t)
			defer c.Drop()
			if _, err := c.Connect(hello); err != nil {
				t.Fatal(err)
			}
			<-c.Over()
			must.OK(t, <-wrong)
			if _, err := c.Subscribe([]string{"a"}); !errors.Is(err, ErrEnded) {
				t.Errorf("got %v, want %v", err, ErrEnded)
			}
		})
	}
}

// TestAddresses: what isn't the address of a broker.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:1", "127.0.0.1:1", "tcp://127.0.0.1:0"} {
		if c, err := Dial(t.Context(), address, nil, nil); err == nil {
			c.Drop()
			t.Errorf("%s: want an error", address)
		}
	}
}

// FuzzNext: no bytes make the reader panic or allocate beyond a packet's limit.
func FuzzNext(f *testing.F) {
	for _, s := range []string{accepted, "20 03 00 84 00", "90 04 0001 00 80", "31 05 0002 646e 7a", "40 02 0002", "d0 00", "30 ff ff ff 7f"} {
		f.Add(unhex(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		pk, err := next(bufio.NewReader(bytes.NewReader(raw)))
		if err == nil && pk.FixedHeader.Remaining > maxPacket {
			t.Errorf("a packet of %d bytes was accepted", pk.FixedHeader.Remaining)
		}
	})
}
