package mqtt_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	broker "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
)

// allow permits everything to everyone.
type allow struct{ broker.HookBase }

func (*allow) ID() string { return "allow" }
func (*allow) Provides(b byte) bool {
	return b == broker.OnConnectAuthenticate || b == broker.OnACLCheck
}
func (*allow) OnConnectAuthenticate(*broker.Client, packets.Packet) bool { return true }
func (*allow) OnACLCheck(*broker.Client, string, bool) bool              { return true }

func newBroker(t *testing.T) *broker.Server {
	t.Helper()
	srv := broker.New(&broker.Options{InlineClient: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	must.OK(t, srv.AddHook(&allow{}, nil))
	return srv
}

// at connects a board to the broker over a line. up is set to when the broker ended the connection, in Unix ns.
func at(t *testing.T, srv *broker.Server, client string, c link.Config, up *atomic.Int64) *board {
	t.Helper()
	a, other := pipe.New()
	go func() {
		_ = srv.EstablishConnection("memory", other)
		up.Store(time.Now().UnixNano())
	}()
	b := newBoard(t, client, a, c)
	must.OK(t, b.client.Connect(topics))
	return b
}

// The real clients and the real broker over a faulty line: what each fault does to them, and how long they take to
// notice.
func TestLineUnderMQTT(t *testing.T) {
	for _, c := range []struct {
		name          string
		state         link.State
		board, server time.Duration // when each end gives up
	}{
		{"cut", link.State{}, 0, 0},
		{"half-open", link.State{HalfOpen: true}, 20 * time.Second, 25 * time.Second},
		{"one way up", link.State{OnewayUp: true}, 20 * time.Second, 25 * time.Second},
		{"one way down", link.State{OnewayDown: true}, 20 * time.Second, 20 * time.Second}, // notified when the board closes
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, client string) {
				srv := newBroker(t)
				var up atomic.Int64
				b := at(t, srv, client, link.Config{BoardID: "b"}, &up)
				must.OK(t, srv.Publish("down/a", []byte("hello"), false, 0))
				time.Sleep(65 * time.Second) // on a clean line the keep-alive is satisfied
				synctest.Wait()
				same(t, "received", b.received(), []string{"down/a hello"})
				b.wantAlive()
				start := time.Now()
				b.line.Set(c.state)
				if c.state == (link.State{}) {
					b.line.Cut()
				}
				time.Sleep(100 * time.Second)
				synctest.Wait()
				b.wantLost(c.state != (link.State{}))
				const play = 6 * time.Second // paho checks every 5 s, and both count from the last packet
				if d := b.at.Sub(start) - c.board; d.Abs() > play {
					t.Errorf("the board gave up %s off its time, want at most %s", d, play)
				}
				if d := time.Duration(up.Load()-start.UnixNano()) - c.server; d.Abs() > play {
					t.Errorf("the server gave up %s off its time, want at most %s", d, play)
				}
				b.bye()
				_ = srv.Close()
			})
		})
	}
}

// When a connection is taken over, its board sees a cut, not silence.
func TestTakeOver(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		srv := newBroker(t)
		var up [2]atomic.Int64
		first := at(t, srv, client, link.Config{}, &up[0])
		second := at(t, srv, client, link.Config{}, &up[1])
		synctest.Wait()
		first.wantLost(false)
		must.OK(t, srv.Publish("down/b", []byte("hello"), false, 0))
		synctest.Wait()
		same(t, "the second one received", second.received(), []string{"down/b hello"})
		same(t, "the first one received", first.received(), []string(nil))
		first.bye()
		second.bye()
		_ = srv.Close()
	})
}

// Line faults reach the client unfiltered: lost, repeated and late messages.
func TestLossyLine(t *testing.T) {
	for name, c := range map[string]struct {
		lossy link.Lossy
		want  []string // of the two messages sent
	}{
		"lost":     {link.Lossy{Percent: 100}, nil},
		"repeated": {link.Lossy{DuplicatePercent: 100}, []string{"down/a 0", "down/a 0", "down/a 1", "down/a 1"}},
		"late":     {link.Lossy{DelayMs: 700}, []string{"down/a 0", "down/a 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, client string) {
				srv := newBroker(t)
				var up atomic.Int64
				b := at(t, srv, client, link.Config{}, &up)
				b.line.Set(link.State{Lossy: c.lossy})
				for i := range 2 {
					must.OK(t, srv.Publish("down/a", fmt.Append(nil, i), false, 0))
				}
				early := c.want
				if c.lossy.DelayMs > 0 {
					early = nil
				}
				time.Sleep(699 * time.Millisecond)
				synctest.Wait()
				same(t, "received within 699 ms", b.received(), early)
				time.Sleep(time.Millisecond)
				synctest.Wait()
				same(t, "received", b.received(), c.want)
				time.Sleep(5 * time.Minute) // pings get through
				synctest.Wait()
				b.wantAlive()
				b.line.Set(link.State{})
				must.OK(t, srv.Publish("down/b", []byte("clean"), false, 0))
				time.Sleep(time.Second) // a ping is in flight
				synctest.Wait()
				same(t, "received at last", b.received(), append(slices.Clone(c.want), "down/b clean"))
				b.bye()
				_ = srv.Close()
			})
		})
	}
}

// Over TCP, light can't poll its line, so a goroutine waits on it.
func TestTCP(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			srv := newBroker(t)
			accepted, served := make(chan net.Conn, 1), make(chan error, 1)
			go func() {
				c, err := l.Accept()
				accepted <- c
				if err == nil {
					err = srv.EstablishConnection("tcp", c)
				}
				served <- err
			}()
			conn := must.Get(link.Dial(context.WithoutCancel(t.Context()), l.Addr().String(), 1, nil))(t)
			got, lost := make(chan string, 9), make(chan error, 9)
			line := link.Wrap(conn, link.Config{})
			b := mqtt.New(client, mqtt.Config{Conn: line, BoardID: "brd", Password: "secret", KeepAlive: keepAlive, PingTimeout: pingTimeout,
				WriteTimeout: time.Minute, Answer: time.Minute, Receive: func(topic string, p []byte) { got <- topic + " " + string(p) },
				Lost: func(err error) { lost <- err }, Go: func(f func()) { go f() }})
			must.OK(t, b.Connect(topics))
			for i := range 3 {
				b.Publish("down/b", fmt.Append(nil, i)) // it is subscribed to this topic itself
				if m, want := <-got, fmt.Sprintf("down/b %d", i); m != want {
					t.Errorf("got %q, want %q", m, want)
				}
			}
			_ = l.Close()
			_ = (<-accepted).Close()
			if err := <-lost; err == nil {
				t.Error("lost without an error")
			}
			b.Close()
			_ = line.Close()
			<-served
			_ = srv.Close()
		})
	}
}
