package mqtt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	reference "github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
)

// FuzzDecode: whatever a server sends, cut into whatever pieces, light reads the same messages or gives up at the
// same place; where paho reads a message, light reads the same one.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"\x30\x06\x00\x01ahey", "\x20\x02\x00\x05", "\x90\x04\x00\x01\x00\x80", "\xd0\x00", "\x34\x06\x00\x01a\x00\x07x\x62\x02\x00\x07",
		"\x32\x06\x00\x01a\x00\x00x", "\x30\xff\xff\xff\xff\xff", "\x30\x80\x80\x80\x00", "\x36\x00", "\x3a\x05\x00\x01a\x00\x07", "\x10\x00", "\x20\x03\x00\x00\x00", "\x30\x02\x00\x00", "\x30\x03\x00\x01+",
		"\x30\xff\xff\x7f", "\x30\x04\x00\x02\xff\xfe"} {
		f.Add([]byte(seed+"\x30\x03\x00\x01b"), 1)
		f.Add([]byte("\x30\x03\x00\x01b"+seed), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		step = max(step%97, 1)
		whole, err := taken(in, len(in)+1)
		pieces, alike := taken(in, step)
		if (err == nil) != (alike == nil) || !slices.Equal(whole, pieces) {
			t.Fatalf("whole: %q, %v; in pieces of %d: %q, %v; want the same", whole, err, step, pieces, alike)
		}
		r := bytes.NewReader(in[:framed(in)]) // a bare length field would make paho allocate that much
		for _, got := range whole {
			if want, ok := next(r); ok && got != want {
				t.Fatalf("light read %q, paho %q", got, want)
			}
		}
	})
}

// framed is the length of the leading packets that light can decode.
func framed(in []byte) (at int) {
	for {
		_, n, err := decode(in[at:])
		if n == 0 || err != nil {
			return at
		}
		at += n
	}
}

// next is the next message that paho reads; false if there is none.
func next(r *bytes.Reader) (string, bool) {
	for {
		pk, err := reference.ReadPacket(r)
		if err != nil {
			return "", false
		}
		if m, ok := pk.(*reference.PublishPacket); ok {
			if m.Qos == 2 {
				return "", false // light drops duplicates
			}
			return m.TopicName + " " + string(m.Payload), true
		}
	}
}

// taken are the messages that light reads from a stream cut into pieces of step bytes.
func taken(in []byte, step int) (got []string, err error) {
	l := newLight(Config{Conn: nowhere{}, WriteTimeout: time.Minute, Receive: func(topic string, p []byte) { got = append(got, topic+" "+string(p)) }})
	for at := 0; at < len(in) && err == nil; at += step {
		piece := slices.Clone(in[at:min(at+step, len(in))])
		err = l.take(piece)
		for i := range piece { // the buffer is reused
			piece[i] = '?'
		}
	}
	return got, err
}

// nowhere discards what is written.
type nowhere struct{ net.Conn }

func (nowhere) Write(p []byte) (int, error)      { return len(p), nil }
func (nowhere) SetWriteDeadline(time.Time) error { return nil }

// What paho would accept or wait for, although no server sends it.
func TestLightGivesUp(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"length without end": "\x30\xff\xff\xff\xff\xff", "a length of five bytes": "\x30\x80\x80\x80\x80\x00", "longer than any packet": "\x30\xff\xff\x7f",
		"CONNECT": "\x10\x00", "SUBSCRIBE": "\x82\x05\x00\x01\x00\x00\x00", "QoS 3": "\x36\x03\x00\x01a", "QoS 1 without an id": "\x32\x06\x00\x01a\x00\x00x",
		"a wildcard": "\x30\x03\x00\x01#", "no topic": "\x30\x02\x00\x00", "a topic that is no text": "\x30\x04\x00\x02\xff\xfe", "a long CONNACK": "\x20\x03\x00\x00\x00",
		"flags of PINGRESP": "\xd1\x00",
	} {
		if got, err := taken([]byte(raw), 1); !errors.Is(err, errPacket) || len(got) > 0 {
			t.Errorf("%s: got %q, %v; want errPacket", name, got, err)
		}
	}
}

// A QoS 2 message that the server repeats before releasing it is delivered once; after the release its id may be
// reused.
func TestLightDeliversOnce(t *testing.T) {
	t.Parallel()
	in := "\x34\x06\x00\x01a\x00\x07x" + "\x3c\x06\x00\x01a\x00\x07x" + "\x62\x02\x00\x07" + "\x34\x06\x00\x01a\x00\x07y"
	if got, err := taken([]byte(in), 2); err != nil || !slices.Equal(got, []string{"a x", "a y"}) {
		t.Errorf("got %q, %v, want a x and a y", got, err)
	}
}

// TestNobodyWaitsForAMemoryLink isn't parallel: it counts goroutines, and the
// parallel tests run later.
func TestNobodyWaitsForAMemoryLink(t *testing.T) {
	const n = 50
	var boards []*light
	var reading sync.WaitGroup
	for i := range n {
		a, server := pipe.New()
		go func() { // answers CONNECT and SUBSCRIBE
			for range 2 {
				pk, err := reference.ReadPacket(server)
				if err != nil {
					t.Error(err)
					return
				}
				if _, ok := pk.(*reference.ConnectPacket); ok {
					_, _ = io.WriteString(server, "\x20\x02\x00\x00")
				} else {
					_, _ = io.WriteString(server, "\x90\x03\x00\x01\x00")
				}
			}
		}()
		l := newLight(Config{Conn: link.Wrap(a, link.Config{}), BoardID: fmt.Sprint(i), KeepAlive: time.Hour, PingTimeout: time.Hour, WriteTimeout: time.Hour,
			Answer: time.Hour, Receive: func(string, []byte) {}, Lost: func(error) {}, Go: reading.Go})
		must.OK(t, l.Connect([]string{"down"}))
		boards = append(boards, l)
	}
	reading.Wait()
	var stacks strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	if strings.Contains(stacks.String(), "(*light)") {
		t.Errorf("a goroutine waits for one of %d idle boards, want none:\n%s", n, stacks.String())
	}
	for _, l := range boards {
		l.Close()
		_ = l.cfg.Conn.Close()
	}
}
