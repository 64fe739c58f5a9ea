package gateway

import (
	"bytes"
	"context"
	"errors"
	"runtime/pprof"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/wire"
)

// session is one connection on its way through the broker's library. The library's own loop would use two goroutines
// with large stacks per connection, and a subscription tree that nobody reads: messages go directly to a board's
// connection, see link.
type session struct {
	g    *Gateway
	c    *guard
	h    *hook
	cl   *mqtt.Client
	rest []byte // the start of a packet that hasn't arrived completely
	over bool   // touched by whoever reads: one at a time
}

// brokerLabels mark the goroutines of connections in profiles.
var brokerLabels = pprof.WithLabels(context.Background(), pprof.Labels("part", "broker"))

var errEnded = errors.New("gateway: the connection has ended")

// attend greets one connection. After that, a connection in memory is read when it has data; for any other connection,
// the goroutine stays with it to its end.
func (g *Gateway) attend(c *guard) {
	s := &session{g: g, c: c, h: &hook{g: g}}
	pprof.SetGoroutineLabels(brokerLabels)
	if !s.safely(s.greet) {
		return
	}
	if w, ok := c.Conn.(pipe.Watched); ok {
		w.Watch(pipe.NewDriver(w.TryRead, g.crew.Go, s.got).Wake)
		return
	}
	buf := make([]byte, readBuffer)
	for s.read(buf) {
	}
}

// readBuffer is what a connection that can't be watched keeps for reading.
const readBuffer = 512

func (s *session) read(buf []byte) bool {
	n, err := s.c.Conn.Read(buf)
	return s.got(buf[:n], err)
}

// safely does part of the work. An error or a panic ends this connection and nothing else.
func (s *session) safely(do func() error) bool {
	err := errPanic
	defer func() {
		if v := recover(); v != nil {
			s.g.count.Panics.Add(1)
			s.g.cfg.Log.Error("a board's connection caused a panic and ends", "panic", v)
		}
		if err != nil {
			s.end(err)
		}
	}()
	err = do()
	return err == nil
}

// got handles the result of a read; false ends the reading.
func (s *session) got(b []byte, err error) bool {
	if s.over {
		return false
	}
	return s.safely(func() error {
		if len(b) > 0 {
			if bad := s.take(b); bad != nil {
				return bad
			}
		}
		return err
	})
}

// greet admits the connection: CONNECT, the board's credentials, CONNACK.
func (s *session) greet() error {
	g, c := s.g, s.c
	g.count.Accepted.Add(1)
	_ = c.Conn.SetDeadline(clock.WallNow().Add(g.cfg.Handshake)) // for writes too: TLS writes before it has read
	if err := c.greet(); err != nil {
		return err
	}
	if err := c.whole(); err != nil {
		return err
	}
	s.cl = g.mq.NewClient(c, "boards", "", false)
	pk, err := s.next()
	if err != nil {
		return err
	}
	s.cl.ParseConnect("boards", pk)
	if code := pk.ConnectValidate(); code != packets.CodeSuccess {
		_ = g.mq.SendConnack(s.cl, code, false, nil)
		return code
	}
	if err := s.h.OnConnect(s.cl, pk); err != nil {
		return err
	}
	s.alive()
	l := c.link.Load()
	if l == nil {
		_ = g.mq.SendConnack(s.cl, packets.ErrBadUsernameOrPassword, false, nil)
		return packets.ErrBadUsernameOrPassword
	}
	l.b.pace() // connecting again and again costs more than messages
	s.h.OnSessionEstablish(s.cl, pk)
	s.register()
	return g.mq.SendConnack(s.cl, packets.CodeSuccess, false, nil)
}

// register makes this the connection of its client id and ends an earlier one. A board's earlier connection was closed
// already; a helper's is closed here.
func (s *session) register() {
	s.g.mu.Lock()
	old, _ := s.g.mq.Clients.Get(s.cl.ID)
	s.g.mq.Clients.Add(s.cl)
	s.g.mu.Unlock()
	if old != nil {
		old.Stop(packets.ErrSessionTakenOver)
	}
}

// alive extends the keep-alive's deadline.
func (s *session) alive() {
	_ = s.c.SetDeadline(clock.WallNow().Add(time.Duration(s.cl.State.Keepalive) * time.Second * 3 / 2))
}

// take handles complete packets and keeps the start of the next one.
func (s *session) take(b []byte) error {
	if len(s.rest) > 0 {
		s.rest = append(s.rest, b...)
		b = s.rest
	}
	for len(b) > 0 {
		n, err := frame(b)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		s.c.first, b = b[:n], b[n:]
		if err := s.packet(); err != nil {
			return err
		}
	}
	if len(b) == 0 {
		s.rest = nil
	} else {
		s.rest = append(s.rest[:0], b...)
	}
	return nil
}

// frame is the length of the packet that b begins with; 0 = it is incomplete.
func frame(b []byte) (int, error) {
	fh := packets.FixedHeader{}
	if err := fh.Decode(b[0]); err != nil {
		return 0, err
	}
	for i := 1; i < len(b); i++ {
		if i > 4 {
			return 0, packets.ErrMalformedVariableByteInteger
		}
		if b[i]&0x80 != 0 {
			continue
		}
		n := i + 1 + remaining(b[1:i+1])
		switch {
		case n-i > maxPacket:
			return 0, packets.ErrPacketTooLarge
		case n > len(b):
			return 0, nil
		}
		return n, nil
	}
	return 0, nil
}

// next has the library parse the packet in c.first.
func (s *session) next() (packets.Packet, error) {
	fh := packets.FixedHeader{}
	if err := s.cl.ReadFixedHeader(&fh); err != nil {
		return packets.Packet{}, err
	}
	return s.cl.ReadPacket(&fh)
}

// packet handles the packet in c.first.
func (s *session) packet() error {
	s.alive()
	err := s.handle()
	if err == nil && s.cl.Closed() {
		return errEnded
	}
	return err
}

func (s *session) handle() error {
	if l := s.c.link.Load(); l != nil {
		if channel, payload, ok := plainUplink(s.c.first, l.b.id); ok {
			s.c.first = nil
			l.hears()
			l.uplink(channel, bytes.Clone(payload))
			return nil
		}
	}
	pk, err := s.next()
	if err != nil {
		return err
	}
	if l := s.c.link.Load(); l != nil && pk.FixedHeader.Type != packets.Publish { // which uplink counts
		l.b.pace()
	}
	if pk.FixedHeader.Type == packets.Subscribe {
		return s.subscribe(pk)
	}
	return s.g.mq.InjectPacket(s.cl, pk)
}

// plainUplink reads a PUBLISH of QoS 0 to one of a board's own topics, as nearly all packets
// are. For every other one the library says what is wrong with it, and what follows.
func plainUplink(packet []byte, boardID string) (channel string, payload []byte, ok bool) {
	if packet[0] != packets.Publish<<4 {
		return "", nil, false
	}
	head := 1
	for packet[head]&0x80 != 0 {
		head++
	}
	body := packet[head+1:]
	if len(body) < 2 {
		return "", nil, false
	}
	end := 2 + int(body[0])<<8 + int(body[1])
	if end > len(body) {
		return "", nil, false
	}
	rest, ok := bytes.CutPrefix(body[2:end], []byte(wire.Prefix))
	if !ok || len(rest) <= len(boardID) || string(rest[:len(boardID)]) != boardID || rest[len(boardID)] != '/' {
		return "", nil, false
	}
	rest = rest[len(boardID)+1:]
	for _, channel := range wire.Up {
		if channel == string(rest) {
			return channel, body[end:], true
		}
	}
	return "", nil, false
}

// subscribe grants a board its own topics. It stores nothing: see link.
func (s *session) subscribe(pk packets.Packet) error {
	if code := pk.SubscribeValidate(); code != packets.CodeSuccess {
		return code
	}
	ack := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Suback}, PacketID: pk.PacketID}
	for _, f := range pk.Filters {
		code := f.Qos
		if !s.h.OnACLCheck(s.cl, f.Filter, false) {
			code = packets.ErrUnspecifiedError.Code
		}
		ack.ReasonCodes = append(ack.ReasonCodes, code)
	}
	return s.cl.WritePacket(ack)
}

// end is the end of the connection.
func (s *session) end(err error) {
	s.over, s.rest = true, nil
	g, c := s.g, s.c
	_ = c.Close()
	if s.cl != nil {
		s.cl.Stop(err)
		g.mu.Lock()
		if now, _ := g.mq.Clients.Get(s.cl.ID); now == s.cl {
			g.mq.Clients.Delete(s.cl.ID)
		}
		g.mu.Unlock()
	}
	l := c.link.Load()
	switch {
	case l == nil:
		g.count.Refused.Add(1)
	case errors.Is(err, packets.ErrPacketTooLarge):
		l.b.drop(dropOversized, "", "", 1)
	}
	g.cfg.Log.Debug("connection ended", "error", err)
	g.greeting.done(c)
	g.mu.Lock()
	delete(g.conns, c)
	g.mu.Unlock()
	if l != nil {
		g.count.Connected.Add(-1)
		if l.helper {
			l.b.helpers.Add(-1)
		} else {
			l.b.enqueue(item{l: l})
		}
	}
	g.handlers.Done()
}
