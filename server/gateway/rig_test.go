package gateway

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
)

// rig is a gateway on a memory listener, with boards brd_1 (doors dor_1, dor_2) and brd_2 (dor_3).
type rig struct {
	*Gateway
	t      *testing.T
	store  *memStore
	backs  *backs
	lis    *pipe.Listener
	flight *clock.Flight
	mu     sync.Mutex
	events []history.Event
}

func seed() map[string]board.State {
	return map[string]board.State{
		"brd_1": {BoardID: "brd_1", PlaceID: "plc_a", PasswordHash: board.HashPassword(nil, "brd_1", "one"), Doors: []board.Door{{DoorID: "dor_1", Channel: 1}, {DoorID: "dor_2", Channel: 2}}},
		"brd_2": {BoardID: "brd_2", PlaceID: "plc_b", PasswordHash: board.HashPassword(nil, "brd_2", "two"), Doors: []board.Door{{DoorID: "dor_3", Channel: 1}}},
	}
}

func newRig(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, store: &memStore{states: seed()}, backs: &backs{}, flight: clock.NewFlight()}
	r.start(change...)
	return r
}

func (r *rig) start(change ...func(*Config)) {
	r.t.Helper()
	cfg := Config{Store: r.store, Records: record.Keeper{Store: r.store}, Flight: r.flight, History: func(e history.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}}
	for _, f := range change {
		f(&cfg)
	}
	g := must.Get(New(cfg))(r.t)
	g.Bind(r.backs, r.backs)
	r.Gateway = g
	r.listen()
}

func (r *rig) listen() {
	if r.lis == nil {
		r.lis = pipe.NewListener("t")
	}
	served := make(chan error, 1)
	g, lis := r.Gateway, r.lis
	go func() { served <- g.Serve(lis) }()
	r.t.Cleanup(func() {
		g.Stop()
		if err := <-served; err != nil {
			r.t.Errorf("Serve: got %v, want no error", err)
		}
	})
}

// kinds lists the history's events of the given kinds, as "Kind epoch".
func (r *rig) kinds(kinds ...string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		if slices.Contains(kinds, e.Kind) {
			out = append(out, sprintf("%s %d", e.Kind, e.Epoch&0xffff))
		}
	}
	return strings.Join(out, "; ")
}

// tester is a paho board on an in-memory line.
type tester struct {
	paho.Client
	t    *testing.T
	id   string
	line *line
	down chan paho.Message
	lost chan error
}

func (r *rig) dial() net.Conn {
	r.t.Helper()
	c := must.Get(r.lis.Dial(context.Background()))(r.t)
	return c
}

// connect connects a board with the right password and subscribes.
func (r *rig) connect(id string, change ...func(*paho.ClientOptions)) *tester {
	r.t.Helper()
	b := &tester{t: r.t, id: id, line: &line{Conn: r.dial()}, down: make(chan paho.Message, 1024), lost: make(chan error, 1)}
	user, _, _ := strings.Cut(id, "/")
	o := paho.NewClientOptions().AddBroker("tcp://memory").SetProtocolVersion(4).SetClientID(id).SetUsername(user).
		SetPassword(map[string]string{"brd_1": "one", "brd_2": "two"}[user]).SetKeepAlive(30 * time.Second).SetPingTimeout(5 * time.Second).
		SetCleanSession(true).SetAutoReconnect(false).SetOrderMatters(true)
	o.SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return b.line, nil })
	o.SetConnectionLostHandler(func(_ paho.Client, err error) { b.lost <- err })
	o.SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { b.down <- m })
	for _, f := range change {
		f(o)
	}
	b.Client = paho.NewClient(o)
	if tok := b.Connect(); tok.Wait() && tok.Error() != nil {
		r.t.Fatal(tok.Error())
	}
	r.t.Cleanup(func() {
		b.Disconnect(0)
		_ = b.line.Close()
	})
	return b
}

func password(s string) func(*paho.ClientOptions) {
	return func(o *paho.ClientOptions) { o.SetPassword(s) }
}

// online connects and says hello.
func (r *rig) online(id string) *tester {
	r.t.Helper()
	b := r.connect(id)
	b.say(wire.UpHello, wire.Hello{Proto: wire.Version})
	if a := b.ack(); a.Type != wire.AckHello || a.Epoch == 0 {
		r.t.Fatalf("answer to hello: got %+v, want an acknowledgement with an epoch", a)
	}
	return b
}

// say publishes JSON, or a string as it is, and waits until everything is quiet.
func (b *tester) say(channel string, v any) {
	b.t.Helper()
	user, _, _ := strings.Cut(b.id, "/")
	payload, ok := v.(string)
	if !ok {
		payload = string(encode(v))
	}
	b.Publish(wire.Topic(user, channel), 0, false, payload).Wait()
	synctest.Wait()
}

// next returns the next message on a down channel; there must be one.
func next[T any](b *tester, channel string) (v T) {
	b.t.Helper()
	synctest.Wait()
	select {
	case m := <-b.down:
		if m.Topic() != wire.Topic(b.id, channel) {
			b.t.Fatalf("%s: %s, want one on %s", m.Topic(), m.Payload(), channel)
		}
		must.OK(b.t, json.Unmarshal(m.Payload(), &v))
	default:
		b.t.Fatalf("nothing came down, want one on %s", channel)
	}
	return v
}

func (b *tester) ack() wire.Ack { b.t.Helper(); return next[wire.Ack](b, wire.DownAck) }

// quiet: nothing has been sent to the board.
func (b *tester) quiet() {
	b.t.Helper()
	synctest.Wait()
	select {
	case m := <-b.down:
		b.t.Fatalf("%s: %s, want nothing", m.Topic(), m.Payload())
	default:
	}
}

// ended: the server has closed the connection.
func (b *tester) ended() bool {
	synctest.Wait()
	return !b.IsConnectionOpen()
}

// connectPacket is a CONNECT written by hand.
type connectPacket struct {
	name           string // of the protocol
	level, flags   byte
	keepAlive      uint16
	id, user, pass string
	will           bool
}

func good(id string) connectPacket {
	return connectPacket{name: "MQTT", level: 4, flags: 0xc2, keepAlive: 30, id: id, user: "brd_1", pass: "one"}
}

func (c connectPacket) bytes() []byte {
	text := func(b []byte, s string) []byte { return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...) }
	b := append(text(nil, c.name), c.level, c.flags)
	b = binary.BigEndian.AppendUint16(b, c.keepAlive)
	b = text(b, c.id)
	if c.will {
		b = text(text(b, "sac/v1/brd_2/cmd"), "{}")
	}
	b = text(text(b, c.user), c.pass)
	return append([]byte{0x10, byte(len(b))}, b...)
}

// answer returns what the server sends until it stops; closed says whether the server has closed the connection by
// then.
func answer(t *testing.T, c net.Conn) (got []byte, closed bool) {
	t.Helper()
	synctest.Wait()
	_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	got, err := io.ReadAll(c)
	_ = c.SetReadDeadline(time.Time{})
	var late net.Error
	return got, !errors.As(err, &late) || !late.Timeout()
}

// rigged is a bubble with a rig.
func rigged(t *testing.T, name string, f func(t *testing.T, r *rig)) {
	bubble(t, name, func(t *testing.T) { f(t, newRig(t)) })
}

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, f)
	})
}
