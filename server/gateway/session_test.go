package gateway

import (
	"bytes"
	"io"
	"net"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/wire"
)

// unwatched hides that its connections can report when they are readable; TCP's can't.
type unwatched struct{ net.Listener }

func (u unwatched) Accept() (net.Conn, error) {
	c, err := u.Listener.Accept()
	return struct{ net.Conn }{c}, err
}

// both runs f over a watched connection and over one that a goroutine reads.
func both(t *testing.T, f func(t *testing.T, r *rig, dial func() net.Conn)) {
	t.Parallel()
	rigged(t, "watched", func(t *testing.T, r *rig) {
		f(t, r, r.dial)
	})
	rigged(t, "not watched", func(t *testing.T, r *rig) {
		l := pipe.NewListener("u")
		go func() { _ = r.Serve(unwatched{l}) }()
		f(t, r, func() net.Conn {
			c := must.Get(l.Dial(t.Context()))(t)
			return c
		})
	})
}

// said is a packet as bytes.
func said(pk packets.Packet) []byte {
	var b bytes.Buffer
	pk.ProtocolVersion = 4
	var err error
	switch pk.FixedHeader.Type {
	case packets.Subscribe:
		err = pk.SubscribeEncode(&b)
	case packets.Publish:
		err = pk.PublishEncode(&b)
	default:
		err = pk.PingreqEncode(&b)
	}
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}

// start is what a board may send right away: CONNECT, SUBSCRIBE to its own topic and another's, hello, a ping, a QoS
// 1 message.
func start() []byte {
	hello := encode(wire.Hello{Proto: wire.Version})
	return bytes.Join([][]byte{
		good("brd_1").bytes(),
		said(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Subscribe, Qos: 1}, PacketID: 7,
			Filters: packets.Subscriptions{{Filter: "sac/v1/brd_1/cmd"}, {Filter: "sac/v1/brd_2/cmd"}, {Filter: "sac/v1/brd_1/ack", Qos: 1}, {Filter: "#"}}}),
		said(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: "sac/v1/brd_1/hello", Payload: hello}),
		said(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingreq}}),
		said(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: 1}, PacketID: 9, TopicName: "sac/v1/brd_1/ping", Payload: []byte("{}")}),
	}, nil)
}

// However a board's packets are cut, even if they are sent before they are expected, each is answered once and in
// order.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, step := range []int{1, 2, 7, 50, 1 << 20} {
		t.Run(sprintf("%d bytes", step), func(t *testing.T) {
			both(t, func(t *testing.T, r *rig, dial func() net.Conn) {
				conn := dial()
				all := start()
				for at := 0; at < len(all); at += step {
					_, _ = conn.Write(all[at:min(at+step, len(all))])
					synctest.Wait()
				}
				got, closed := answer(t, conn)
				if closed || !bytes.HasPrefix(got, []byte("\x20\x02\x00\x00"+"\x90\x06\x00\x07\x00\x80\x01\x80")) {
					t.Errorf("closed %t, answer %x, want CONNACK, and SUBACK that grants a board's own topics only", closed, got)
				}
				for what, want := range map[string]string{"PINGRESP": "\xd0\x00", "PUBACK": "\x40\x02\x00\x09", "hello's answer": `"type":"hello"`, "ping's answer": `"type":"ping"`} {
					if n := bytes.Count(got, []byte(want)); n != 1 {
						t.Errorf("%d times %s in %q, want once", n, what, got)
					}
				}
				if r.Status("brd_1").State != "online" {
					t.Errorf("the board is %s, want online", r.Status("brd_1").State)
				}
				_ = conn.Close()
				synctest.Wait()
				if n := r.Counts(); n.Connected.Load() != 0 || n.Online.Load() != 0 || n.Panics.Load() != 0 {
					t.Errorf("counts %+v, want nobody connected", n)
				}
			})
		})
	}
}

// A packet that ends the connection does so as soon as the first byte shows that it is malformed.
func TestMalformedPackets(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"type 0": "\x00\x00", "type 15 with flags": "\xf1", "flags of SUBSCRIBE": "\x80", "QoS 3": "\x36", "a length of five bytes": "\x30\x80\x80\x80\x80\x01",
		"too long": "\x30\x80\x80\x04", "a second CONNECT": string(good("brd_1").bytes()), "a topic that ends early": "\x30\x03\x00\x09a", "SUBSCRIBE to nothing": "\x82\x02\x00\x01",
		"DISCONNECT": "\xe0\x00",
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *rig, dial func() net.Conn) {
				conn := dial()
				_, _ = conn.Write(good("brd_1").bytes())
				if got, closed := answer(t, conn); closed || string(got) != "\x20\x02\x00\x00" {
					t.Fatalf("answer %x, closed %t, want CONNACK", got, closed)
				}
				_, _ = io.WriteString(conn, raw)
				if got, closed := answer(t, conn); !closed || len(got) > 0 {
					t.Errorf("answer %x, closed %t, want the end of the connection", got, closed)
				}
				_ = conn.Close()
				synctest.Wait()
				if n := r.Counts(); n.Connected.Load() != 0 || n.Panics.Load() != 0 {
					t.Errorf("counts %+v, want nobody connected", n)
				}
			})
		})
	}
}

// A client that is silent for 1.5 keep-alives is cut; a helper with the same client id takes over the first one's
// connection.
func TestKeepAliveAndTakeOver(t *testing.T) {
	both(t, func(t *testing.T, r *rig, dial func() net.Conn) {
		var helpers [2]net.Conn
		for i := range helpers {
			helpers[i] = dial()
			_, _ = helpers[i].Write(good("brd_1/up").bytes())
			synctest.Wait()
		}
		if _, closed := answer(t, helpers[0]); !closed {
			t.Error("the first helper is still connected, want it taken over")
		}
		time.Sleep(44 * time.Second)
		if got, closed := answer(t, helpers[1]); closed || string(got) != "\x20\x02\x00\x00" {
			t.Errorf("after 44 s: answer %x, closed %t, want CONNACK and a live connection", got, closed)
		}
		time.Sleep(4 * time.Second)
		if _, closed := answer(t, helpers[1]); !closed {
			t.Error("alive 48 s after its last packet, want the end at 45 s and a little")
		}
		for _, c := range helpers {
			_ = c.Close()
		}
		synctest.Wait()
		if n := r.Counts(); n.Connected.Load() != 0 {
			t.Errorf("%d connected, want none", n.Connected.Load())
		}
	})
}

// TestNobodyWaitsInMemory isn't parallel, because it counts goroutines; the parallel tests run later.
func TestNobodyWaitsInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		conn := r.dial()
		defer conn.Close()
		_, _ = conn.Write(start())
		if _, closed := answer(t, conn); closed {
			t.Fatal("closed")
		}
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		if strings.Contains(stacks.String(), "(*session)") || strings.Contains(stacks.String(), "WriteLoop") {
			t.Errorf("a goroutine waits for an idle connection, want none:\n%s", stacks.String())
		}
	})
}

// FuzzFrame: what is accepted as a complete packet is read to its end by the library, and the result is the same if
// it arrives in pieces.
func FuzzFrame(f *testing.F) {
	f.Add(start())
	f.Add([]byte("\x30\x80\x80\x80\x80\x01"))
	f.Add([]byte("\x30\x80\x80\x04"))
	f.Add([]byte("\x82\x02\x00\x01\xc0\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		for len(in) > 0 {
			n, err := frame(in)
			for k := 1; k < len(in) && err == nil; k++ { // a decision made on a prefix must not change later
				if m, early := frame(in[:k]); early != nil || m != 0 && m != n {
					t.Fatalf("%x: %d, %v after %d bytes; %d, %v after all; want the same", in, m, early, k, n, err)
				}
			}
			if n == 0 || err != nil {
				return
			}
			fh := packets.FixedHeader{}
			if err := fh.Decode(in[0]); err != nil {
				t.Fatalf("%x: got %v, want a header that the library reads", in, err)
			}
			size, bytes, err := packets.DecodeLength(bytes.NewReader(in[1:n]))
			if err != nil || 1+bytes+size != n || n > maxPacket+5 {
				t.Fatalf("%x: framed %d bytes, the library reads %d, %v; want the same", in[:n], n, 1+bytes+size, err)
			}
			in = in[n:]
		}
	})
}
