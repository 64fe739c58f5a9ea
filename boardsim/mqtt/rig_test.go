package mqtt_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
)

var clients = []string{mqtt.Paho, mqtt.Light}

var topics = []string{"down/a", "down/b"}

const (
	keepAlive   = 20 * time.Second
	pingTimeout = 3 * time.Second
	answer      = 10 * time.Second
)

// each runs a test once per client, in a bubble.
func each(t *testing.T, f func(t *testing.T, client string)) {
	t.Helper()
	t.Parallel()
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { f(t, client) })
		})
	}
}

// board is a client on a line, and what it was notified of.
type board struct {
	t      *testing.T
	client mqtt.Client
	line   *link.Line

	mu   sync.Mutex
	got  []string
	lost []error
	at   time.Time // when it was lost
	in   int       // running Receive calls
}

func newBoard(t *testing.T, client string, conn net.Conn, c link.Config) *board {
	b := &board{t: t, line: link.Wrap(conn, c)}
	b.client = mqtt.New(client, mqtt.Config{Conn: b.line, BoardID: "brd", Password: "secret", KeepAlive: keepAlive, PingTimeout: pingTimeout,
		WriteTimeout: 5 * time.Second, Answer: answer, Receive: b.receive, Lost: b.gone, Go: func(f func()) { go f() }})
	return b
}

func (b *board) receive(topic string, payload []byte) {
	b.mu.Lock()
	if b.in++; b.in > 1 {
		b.t.Error("two messages were handed over at once")
	}
	b.mu.Unlock()
	short := string(payload)
	if short == "slow" {
		time.Sleep(time.Second)
	}
	if len(payload) > 40 {
		short = fmt.Sprintf("%d bytes %.5s", len(payload), payload)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.in--
	b.got = append(b.got, topic+" "+short)
}

func (b *board) gone(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost, b.at = append(b.lost, err), time.Now()
}

// received are the messages received so far.
func (b *board) received() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

// wantLost: the client was told once that the connection ended, as silence or otherwise.
func (b *board) wantLost(silent bool) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lost) != 1 || errors.Is(b.lost[0], mqtt.ErrSilent) != silent {
		b.t.Errorf("lost %v, want one error, of silence: %t", b.lost, silent)
	}
}

// wantAlive: the client wasn't told of any end.
func (b *board) wantAlive() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lost) > 0 {
		b.t.Errorf("lost %v, want none", b.lost)
	}
}

func (b *board) bye() {
	b.client.Close()
	_ = b.line.Close()
	b.line.Cut()
}

// server is the other end, written by hand: it records packets and answers as configured.
type server struct {
	conn    net.Conn
	quiet   map[byte]bool // packet types that get no answer
	connack byte
	suback  byte

	stalled atomic.Bool // it stops reading after the next packet
	over    chan struct{}

	mu   sync.Mutex
	seen []string
	at   []time.Time // when pings arrived
}

func (s *server) run() {
	for {
		pk, err := packets.ReadPacket(s.conn)
		if err != nil {
			return
		}
		s.note(pk)
		if s.stalled.Load() {
			<-s.over
			return
		}
		switch pk := pk.(type) {
		case *packets.ConnectPacket:
			ack := packets.NewControlPacket(packets.Connack).(*packets.ConnackPacket)
			ack.ReturnCode = s.connack
			s.write(packets.Connect, ack)
		case *packets.SubscribePacket:
			ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
			ack.MessageID, ack.ReturnCodes = pk.MessageID, make([]byte, len(pk.Topics))
			ack.ReturnCodes[len(pk.Topics)-1] = s.suback
			s.write(packets.Subscribe, ack)
		case *packets.PingreqPacket:
			s.write(packets.Pingreq, packets.NewControlPacket(packets.Pingresp))
		case *packets.PubrecPacket:
			rel := packets.NewControlPacket(packets.Pubrel).(*packets.PubrelPacket)
			rel.MessageID = pk.MessageID
			s.write(packets.Pubrec, rel)
		}
	}
}

// note records a packet byte for byte.
func (s *server) note(pk packets.ControlPacket) {
	var b strings.Builder
	_ = pk.Write(&b)
	word, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", pk), "*packets."), "Packet")
	line := fmt.Sprintf("%s %x", word, b.String())
	switch pk := pk.(type) {
	case *packets.PingreqPacket:
		s.mu.Lock()
		s.at = append(s.at, time.Now())
		s.mu.Unlock()
	case *packets.SubscribePacket: // paho's order is that of a map, so it is random
		filters := slices.Clone(pk.Topics)
		slices.Sort(filters)
		line = fmt.Sprintf("%s %d %v %v", word, pk.MessageID, filters, pk.Qoss)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, line)
}

func (s *server) write(to byte, pk packets.ControlPacket) {
	if !s.quiet[to] {
		_ = pk.Write(s.conn)
	}
}

func (s *server) publish(t *testing.T, topic, payload string, qos byte, id uint16, retain bool) {
	t.Helper()
	pk := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	pk.TopicName, pk.Payload, pk.Qos, pk.MessageID, pk.Retain = topic, []byte(payload), qos, id, retain
	if err := pk.Write(s.conn); err != nil {
		t.Error(err)
	}
	synctest.Wait()
}

// met is a board connected in memory to a server written by hand.
func met(t *testing.T, client string) (*board, *server) {
	a, c := pipe.New()
	s := &server{conn: c, over: make(chan struct{})}
	go s.run()
	b := newBoard(t, client, a, link.Config{BoardID: "brd"})
	must.OK(t, b.client.Connect(topics))
	return b, s
}

// eachMet runs a test once per client, on a board that has met its server.
func eachMet(t *testing.T, f func(t *testing.T, b *board, s *server)) {
	t.Helper()
	each(t, func(t *testing.T, client string) {
		b, s := met(t, client)
		defer part(b, s)
		f(t, b, s)
	})
}

// part shuts everything down so that the bubble can end.
func part(b *board, s *server) {
	b.bye()
	_ = s.conn.Close()
	if s.over != nil {
		close(s.over)
	}
	synctest.Wait()
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
