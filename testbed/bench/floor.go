package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/boardsim/link"
	light "github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/crew"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/testbed"
)

// bare is the way of a door command without anything of ours: HTTP, broker, board, answer. With a ledger, claim and
// result are durable on the way.
type bare struct {
	mq     *mqtt.Server
	ledger *ledger  // nil = none
	boards []func() // ends each
	listen net.Listener
	web    *http.Server
	mu     sync.Mutex
	wait   map[string]chan struct{}
	crew   *crew.Crew // of light boards
}

// patience is how long a board of the floor may take to connect.
const patience = 30 * time.Second

var errNoBoard = errors.New("a board of the floor didn't connect in time")

func topic(board int) string { return fmt.Sprintf("b/%d", board) }

func startRelay(ctx context.Context, c setup) (*subject, error) { return startFloor(ctx, c, false) }

func startDurable(ctx context.Context, c setup) (*subject, error) { return startFloor(ctx, c, true) }

func startFloor(ctx context.Context, c setup, durable bool) (_ *subject, err error) {
	f := &bare{wait: map[string]chan struct{}{}, crew: crew.New()}
	defer func() {
		if err != nil {
			_ = f.stop()
		}
	}()
	if durable {
		if f.ledger, err = openLedger(); err != nil {
			return nil, err
		}
	}
	if err := f.broker(ctx, c); err != nil {
		return nil, err
	}
	if f.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	f.web = &http.Server{Handler: http.HandlerFunc(f.command), ReadHeaderTimeout: time.Minute}
	go func() { _ = f.web.Serve(f.listen) }()
	callers := newCallers(c.callers)
	s := &subject{stop: f.stop, call: func(ctx context.Context, caller, n int) error {
		body := []byte(fmt.Sprintf(`{"board":%d,"command":"open"}`, (caller*7919+n)%c.boards))
		return callers[caller].post(ctx, "http://"+f.listen.Addr().String()+"/", http.Header{}, body)
	}}
	if durable {
		s.commits = f.ledger.commits.Load
	}
	return s, nil
}

// broker starts the broker and connects the boards.
func (f *bare) broker(ctx context.Context, c setup) error {
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumClientWritesPending = 64
	f.mq = mqtt.New(&mqtt.Options{Capabilities: caps, InlineClient: true, SysTopicResendInterval: 3600, Logger: slog.New(slog.DiscardHandler),
		ClientNetReadBufferSize: 1024, ClientNetWriteBufferSize: 1024})
	if err := f.mq.AddHook(&floorHook{f: f}, nil); err != nil {
		return err
	}
	memory := pipe.NewListener("floor")
	var l net.Listener = memory
	dial := func() (net.Conn, error) { return memory.Dial(ctx) }
	if c.link == "tcp" {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		l = tcp
		dial = func() (net.Conn, error) { return net.Dial("tcp", tcp.Addr().String()) }
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = f.mq.EstablishConnection("floor", conn) }()
		}
	}()
	for i := range c.boards {
		if c.client == testbed.Light {
			if err := f.light(topic(i), dial); err != nil {
				return err
			}
			continue
		}
		b := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://floor").SetProtocolVersion(4).SetCleanSession(true).SetClientID(topic(i)).
			SetAutoReconnect(false).SetWriteTimeout(5 * time.Second).
			SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return dial() }))
		if t := b.Connect(); !t.WaitTimeout(patience) || t.Error() != nil {
			return cmp.Or(t.Error(), errNoBoard)
		}
		answer := func(b paho.Client, m paho.Message) { b.Publish("r", 0, false, m.Payload()) }
		if t := b.Subscribe(topic(i), 0, answer); !t.WaitTimeout(patience) || t.Error() != nil {
			return cmp.Or(t.Error(), errNoBoard)
		}
		f.boards = append(f.boards, func() { b.Disconnect(0) })
	}
	return nil
}

// light connects a board with our own client.
func (f *bare) light(id string, dial func() (net.Conn, error)) error {
	conn, err := dial()
	if err != nil {
		return err
	}
	line := link.Wrap(conn, link.Config{})
	var b light.Client
	b = light.New(light.Light, light.Config{Conn: line, BoardID: id, Password: "floor", KeepAlive: 30 * time.Second, PingTimeout: 10 * time.Second, WriteTimeout: 5 * time.Second,
		Answer: 30 * time.Second, Receive: func(_ string, p []byte) { b.Publish("r", p) }, Lost: func(error) {}, Go: f.crew.Go})
	f.boards = append(f.boards, func() { b.Close(); _ = line.Close() })
	return b.Connect([]string{id})
}

// command is the whole way.
func (f *bare) command(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var in struct {
		Board   int    `json:"board"`
		Command string `json:"command"`
	}
	if err != nil || json.Unmarshal(raw, &in) != nil {
		http.Error(w, "bad body", http.StatusBadRequest)
		return
	}
	id := nextID()
	if f.ledger != nil && f.ledger.write(write{id: id, body: raw}) != nil {
		http.Error(w, "not durable", http.StatusServiceUnavailable)
		return
	}
	done := make(chan struct{})
	f.mu.Lock()
	f.wait[id] = done
	f.mu.Unlock()
	out, _ := json.Marshal(map[string]any{"id": id, "command": in.Command})
	if f.mq.Publish(topic(in.Board), out, false, 0) != nil {
		http.Error(w, "not published", http.StatusBadGateway)
		return
	}
	select {
	case <-done:
	case <-r.Context().Done():
		return
	}
	answer, _ := json.Marshal(map[string]any{"success": true, "data": map[string]any{"commandId": id, "outcome": "reported"}})
	if f.ledger != nil && f.ledger.write(write{id: id, body: answer, settle: true}) != nil {
		http.Error(w, "not durable", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

// reported wakes the caller that waits for a command.
func (f *bare) reported(payload []byte) {
	var r struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(payload, &r) != nil {
		return
	}
	f.mu.Lock()
	done := f.wait[r.ID]
	delete(f.wait, r.ID)
	f.mu.Unlock()
	if done != nil {
		close(done)
	}
}

func (f *bare) stop() error {
	if f.web != nil {
		_ = f.web.Close()
	}
	for _, b := range f.boards {
		b()
	}
	f.crew.Close()
	if f.mq != nil {
		_ = f.mq.Close()
	}
	if f.ledger != nil {
		return f.ledger.close()
	}
	return nil
}

// floorHook admits everyone and receives the boards' reports.
type floorHook struct {
	mqtt.HookBase
	f *bare
}

func (*floorHook) ID() string { return "floor" }

func (*floorHook) Provides(b byte) bool {
	return b == mqtt.OnConnectAuthenticate || b == mqtt.OnACLCheck || b == mqtt.OnPublish
}

func (*floorHook) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

func (*floorHook) OnACLCheck(*mqtt.Client, string, bool) bool { return true }

func (h *floorHook) OnPublish(_ *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if pk.TopicName == "r" {
		h.f.reported(pk.Payload)
		return pk, packets.CodeSuccessIgnore
	}
	return pk, nil
}
