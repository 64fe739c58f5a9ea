package main

import (
	"crypto/tls"
	"encoding/json"
	"sync"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/wire"
)

// thinServer is the least that boards need of a server behind somebody else's broker: it
// answers hellos, hands out one revision of content, and acknowledges reports if told to.
type thinServer struct {
	t    *testing.T
	mqtt mqtt.Client

	mu      sync.Mutex
	changed *sync.Cond
	epochs  map[string]int64 // by board
	seq     int64
	hellos  map[string][]wire.Hello // by board
	synced  map[string]wire.SyncAck
	reports map[string][]wire.Report // by command
	mute    bool                     // reports aren't acknowledged
}

// serveThin connects to a broker and stays, also over its restarts.
func serveThin(t *testing.T, broker string, secure *tls.Config, password string) *thinServer {
	t.Helper()
	s := &thinServer{t: t, epochs: map[string]int64{}, hellos: map[string][]wire.Hello{}, synced: map[string]wire.SyncAck{}, reports: map[string][]wire.Report{}}
	s.changed = sync.NewCond(&s.mu)
	o := mqtt.NewClientOptions().AddBroker("ssl://" + broker).SetTLSConfig(secure).SetClientID("thin-server").
		SetUsername("server").SetPassword(password).SetProtocolVersion(4).SetCleanSession(true).SetOrderMatters(false).
		SetConnectRetry(true).SetConnectRetryInterval(20 * time.Millisecond).SetMaxReconnectInterval(50 * time.Millisecond).
		SetOnConnectHandler(func(c mqtt.Client) { c.Subscribe(wire.Prefix+"+/+", 0, s.receive) })
	s.mqtt = mqtt.NewClient(o)
	if token := s.mqtt.Connect(); !token.WaitTimeout(30*time.Second) || token.Error() != nil {
		t.Fatalf("the server can't connect to %s: %v", broker, token.Error())
	}
	t.Cleanup(func() { s.mqtt.Disconnect(0) })
	return s
}

func (s *thinServer) send(board, channel string, message any) {
	raw, err := json.Marshal(message)
	if err != nil {
		s.t.Error(err)
	}
	s.mqtt.Publish(wire.Topic(board, channel), 0, false, raw)
}

func (s *thinServer) ack(board string, a wire.Ack) {
	a.Epoch, a.SessionMs, a.Time, a.Accepted = s.epochs[board], sessionMs(), clock.WallNow().UnixMilli(), true
	s.send(board, wire.DownAck, a)
}

func sessionMs() int64 { return clock.Mono().Milliseconds() + 1 }

// content is the same for all boards: revision 1 with nothing in it but a time zone.
func content() wire.Sync {
	return wire.Sync{To: 1, Snapshot: true, Timezone: "Asia/Seoul", PhoneKey: "key", Digest: access.Sum{}.String()}
}

func (s *thinServer) receive(_ mqtt.Client, m mqtt.Message) {
	board, channel, ok := wire.ParseTopic(m.Topic())
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	switch channel {
	case wire.UpHello:
		var h wire.Hello
		s.read(m, &h)
		s.epochs[board]++
		s.hellos[board] = append(s.hellos[board], h)
		s.ack(board, wire.Ack{Type: wire.AckHello})
		if h.Revision == 0 {
			s.send(board, wire.DownSync, content())
		}
	case wire.UpAck: // runs both ways: the server's own come back, too
		var a wire.SyncAck
		if s.read(m, &a); a.Type == "sync" {
			s.synced[board] = a
		}
	case wire.UpRpt:
		var r wire.Report
		s.read(m, &r)
		s.reports[r.CommandID] = append(s.reports[r.CommandID], r)
		if !s.mute {
			s.ack(board, wire.Ack{Type: wire.AckRpt, CommandID: r.CommandID})
		}
	}
}

func (s *thinServer) read(m mqtt.Message, out any) {
	if err := json.Unmarshal(m.Payload(), out); err != nil {
		s.t.Errorf("%s: %v: %s", m.Topic(), err, m.Payload())
	}
}

// open sends the command to open a door.
func (s *thinServer) open(board, door, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	s.send(board, wire.DownCmd, wire.Command{ID: id, Epoch: s.epochs[board], Seq: s.seq, DoorID: door, Channel: 1, Command: wire.CmdOpen, NotAfterMs: sessionMs() + 5000})
}

// mutely stops or resumes the acknowledgement of reports.
func (s *thinServer) mutely(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = on
}

// until waits until something is true of the server.
func (s *thinServer) until(what string, is func() bool) {
	s.t.Helper()
	over := false
	late := clock.WallAfter(time.Minute, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		over = true
		s.changed.Broadcast()
	})
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !is() {
		if over {
			s.t.Fatalf("no %s within a minute", what)
		}
		s.changed.Wait()
	}
}
