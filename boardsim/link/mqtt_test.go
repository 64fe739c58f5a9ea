package link_test

import (
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/pipe"
)

// allow lets everybody do everything.
type allow struct{ mqtt.HookBase }

func (*allow) ID() string                                              { return "allow" }
func (*allow) Provides(b byte) bool                                    { return b == mqtt.OnConnectAuthenticate || b == mqtt.OnACLCheck }
func (*allow) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }
func (*allow) OnACLCheck(*mqtt.Client, string, bool) bool              { return true }

// The real client and the real broker over a line: what a fault does to them,
// in the time that they take to notice.
func TestLineUnderMQTT(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		state         link.State
		board, server time.Duration // when each end gives up
	}{
		{"cut", link.State{}, 0, 0},
		{"half-open", link.State{HalfOpen: true}, 20 * time.Second, 25 * time.Second},
		{"one way up", link.State{OnewayUp: true}, 20 * time.Second, 25 * time.Second},
		{"one way down", link.State{OnewayDown: true}, 20 * time.Second, 20 * time.Second}, // is told of the board's close
	} {
		bubble(t, c.name, func(t *testing.T) {
			srv := mqtt.New(&mqtt.Options{InlineClient: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err := srv.AddHook(&allow{}, nil); err != nil {
				t.Fatal(err)
			}
			board, server := pipe.New()
			line := link.Wrap(board, link.Config{BoardID: "b"})
			var up, down atomic.Int64 // when each end gave up, Unix ns
			go func() {
				_ = srv.EstablishConnection("memory", server)
				up.Store(time.Now().UnixNano())
			}()
			o := paho.NewClientOptions().AddBroker("tcp://memory").SetClientID("b").SetKeepAlive(20 * time.Second).
				SetPingTimeout(3 * time.Second).SetAutoReconnect(false).SetProtocolVersion(4)
			o.SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return line, nil })
			o.SetConnectionLostHandler(func(paho.Client, error) { down.Store(time.Now().UnixNano()) })
			client := paho.NewClient(o)
			if tok := client.Connect(); tok.Wait() && tok.Error() != nil {
				t.Fatal(tok.Error())
			}
			got := make(chan string, 9)
			client.Subscribe("down", 0, func(_ paho.Client, m paho.Message) { got <- string(m.Payload()) }).Wait()
			if err := srv.Publish("down", []byte("hello"), false, 0); err != nil || <-got != "hello" {
				t.Fatal(err)
			}
			time.Sleep(65 * time.Second) // keep-alive passes a clean line
			if up.Load() != 0 || down.Load() != 0 {
				t.Fatal("lost on a clean line")
			}
			start := time.Now().UnixNano()
			line.Set(c.state)
			if c.state == (link.State{}) {
				line.Cut()
			}
			time.Sleep(100 * time.Second)
			synctest.Wait()
			for end, at := range map[string]time.Duration{"board": time.Duration(down.Load()-start) - c.board, "server": time.Duration(up.Load()-start) - c.server} {
				if at != 0 {
					t.Errorf("the %s gave up %s later than it should", end, at)
				}
			}
			client.Disconnect(0)
			_ = line.Close()
			line.Cut()
			_ = srv.Close()
		})
	}
}
