package mqtt

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/pipe"
)

// light reads when its line reports data, so while nothing happens it needs a timer but no goroutine. Over a line that
// can't report data, one goroutine waits.
type light struct {
	cfg Config

	// Touched by the reader only.
	rest   []byte          // the beginning of a packet
	halves map[uint16]bool // messages of QoS 2 received but not yet released; nil = none

	mu     sync.Mutex
	over   bool
	answer chan reply // receives the answer to CONNECT or SUBSCRIBE; nil = nobody waits
	heard  time.Duration
	sent   time.Duration // clock.Mono, both
	asked  time.Duration // of the unanswered ping; 0 = none
	by     time.Time     // the line's write deadline
	timer  clock.Timer
}

// reply is the server's answer, or why there is none.
type reply struct {
	kind  byte
	codes []byte
	err   error
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func newLight(c Config) *light { return &light{cfg: c} }

// watched is a line that reports when it can be read.
type watched interface {
	Watch(f func()) bool
	TryRead(p []byte) (int, error)
}

// Connect implements Client.
func (l *light) Connect(topics []string) error {
	if w, ok := l.cfg.Conn.(watched); !ok || !w.Watch(pipe.NewDriver(w.TryRead, l.cfg.Go, l.got).Wake) {
		go l.wait()
	}
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}, ProtocolVersion: 4}
	pk.Connect = packets.ConnectParams{ProtocolName: []byte("MQTT"), Clean: true, Keepalive: uint16(l.cfg.KeepAlive / time.Second),
		ClientIdentifier: l.cfg.BoardID, UsernameFlag: true, Username: []byte(l.cfg.BoardID), PasswordFlag: true, Password: []byte(l.cfg.Password)}
	codes, err := l.ask(&pk, packets.Connack)
	switch {
	case err != nil || codes[0] == 0:
	case codes[0] == 4 || codes[0] == packets.Err3NotAuthorized.Code: // 4: bad user name or password
		err = ErrLogin
	default:
		err = fmt.Errorf("%w: code %d", ErrRefused, codes[0])
	}
	if err == nil {
		l.mu.Lock()
		l.arm()
		l.mu.Unlock()
		err = l.subscribe(topics)
	}
	if err != nil {
		l.end()
	}
	return err
}

func (l *light) subscribe(topics []string) error {
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Subscribe, Qos: 1}, ProtocolVersion: 4, PacketID: 1}
	for _, t := range topics {
		pk.Filters = append(pk.Filters, packets.Subscription{Filter: t})
	}
	codes, err := l.ask(&pk, packets.Suback)
	if err == nil && len(codes) != len(topics) {
		err = fmt.Errorf("%w: %d answers to %d subscriptions", errPacket, len(codes), len(topics))
	}
	for i := range codes {
		if err == nil && codes[i] > 2 {
			err = fmt.Errorf("%w: subscription to %s: %#x", ErrRefused, topics[i], codes[i])
		}
	}
	return err
}

// ask sends a packet and waits for an answer of the wanted type.
func (l *light) ask(pk *packets.Packet, want byte) ([]byte, error) {
	answer := make(chan reply, 1)
	l.mu.Lock()
	l.answer = answer
	l.mu.Unlock()
	if err := l.write(pk); err != nil {
		return nil, err
	}
	late := make(chan struct{})
	defer clock.WallAfter(l.cfg.Answer, func() { close(late) }).Stop()
	select {
	case r := <-answer:
		if r.err == nil && r.kind != want {
			r.err = fmt.Errorf("%w: type %d is not an answer", errPacket, r.kind)
		}
		return r.codes, r.err
	case <-late:
		return nil, ErrTimeout
	}
}

// Publish implements Client.
func (l *light) Publish(topic string, payload []byte) {
	_ = l.write(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: topic, Payload: payload})
}

// Close implements Client.
func (l *light) Close() {
	_ = l.write(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Disconnect}})
	l.end()
}

// end stops everything; it returns false if that was done already.
func (l *light) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.over
	l.over = true
	if l.timer != nil {
		l.timer.Stop()
	}
	return !was
}

// lost ends the connection and notifies whoever waits.
func (l *light) lost(err error) {
	l.mu.Lock()
	answer := l.answer
	l.mu.Unlock()
	if !l.end() {
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%w: %w", ErrSilent, err)
	}
	_ = l.cfg.Conn.Close()
	if answer != nil {
		answer <- reply{err: err}
		return
	}
	l.cfg.Go(func() { l.cfg.Lost(err) })
}

// slack is how late a write may time out, which saves setting a deadline for every packet.
const slack = time.Second

// write sends a whole packet.
func (l *light) write(pk *packets.Packet) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if err := encode(pk, buf); err != nil {
		return err
	}
	l.mu.Lock()
	over := l.over
	l.sent = clock.Mono()
	if now := clock.WallNow(); now.Add(l.cfg.WriteTimeout).After(l.by) {
		l.by = now.Add(l.cfg.WriteTimeout + slack)
		_ = l.cfg.Conn.SetWriteDeadline(l.by)
	}
	l.mu.Unlock()
	if over {
		return net.ErrClosed
	}
	_, err := l.cfg.Conn.Write(buf.Bytes())
	if err != nil {
		l.lost(err)
	}
	return err
}

func encode(pk *packets.Packet, to *bytes.Buffer) error {
	switch pk.FixedHeader.Type {
	case packets.Connect:
		return pk.ConnectEncode(to)
	case packets.Subscribe:
		return pk.SubscribeEncode(to)
	case packets.Publish:
		return pk.PublishEncode(to)
	case packets.Pingreq:
		return pk.PingreqEncode(to)
	case packets.Puback:
		return pk.PubackEncode(to)
	case packets.Pubrec:
		return pk.PubrecEncode(to)
	case packets.Pubcomp:
		return pk.PubcompEncode(to)
	}
	return pk.DisconnectEncode(to)
}

// wait reads a line that can't be watched.
func (l *light) wait() {
	buf := make([]byte, 512) // one for each board
	for {
		n, err := l.cfg.Conn.Read(buf)
		if !l.got(buf[:n], err) {
			return
		}
	}
}

// got handles the result of a read; false ends the reading.
func (l *light) got(b []byte, err error) bool {
	if len(b) > 0 {
		if bad := l.take(b); bad != nil {
			err = bad
		}
	}
	if err != nil {
		l.lost(err)
	}
	return err == nil
}

// take handles complete packets and keeps the start of the next one.
func (l *light) take(b []byte) error {
	l.mu.Lock()
	l.heard = clock.Mono()
	l.mu.Unlock()
	if len(l.rest) > 0 {
		l.rest = append(l.rest, b...)
		b = l.rest
	}
	for len(b) > 0 {
		pk, n, err := decode(b)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		b = b[n:]
		if err := l.handle(&pk); err != nil {
			return err
		}
	}
	if len(b) == 0 {
		l.rest = nil
	} else {
		l.rest = append(l.rest[:0], b...)
	}
	return nil
}
