// Package byhand is an MQTT 3.1.1 connection that does what it is told, packet by packet: scenarios take a board's
// place with it and say what no well-made client would.
package byhand

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/clock"
)

// Message is a message in either direction, or a will.
type Message struct {
	Topic   string
	Payload []byte
	QoS     byte // 0, 1 or 2
	Retain  bool
}

// Hello is what CONNECT says.
type Hello struct {
	ClientID, Username, Password string
	KeepAlive                    int  // seconds, 0 = none
	Silent                       bool // don't send the pings that keep the connection alive
	Kept                         bool // a session that outlasts the connection, instead of a clean one
	Level                        byte // of the protocol: 4 is MQTT 3.1.1
	Will                         *Message
}

// Conn is a connection. Its methods are safe for concurrent use.
type Conn struct {
	conn net.Conn
	hear func(Message)
	over chan struct{} // closed when the connection has ended

	turn    sync.Mutex // one request at a time
	answers chan packets.Packet
	write   sync.Mutex
	last    uint16 // packet id
}

// Errors of a connection.
var (
	ErrEnded  = errors.New("the connection has ended")
	ErrSilent = errors.New("the server does not answer")
)

// answerTime bounds waiting for an answer, in wall time.
const answerTime = 10 * time.Second

// maxPacket is the longest packet accepted, far above the 32 KiB of a page.
const maxPacket = 1 << 20

// Dial connects to tcp://host:port or mqtts://host:port and sends nothing yet. hear is called for each message, in
// order and one at a time.
func Dial(ctx context.Context, address string, conf *tls.Config, hear func(Message)) (*Conn, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	switch u.Scheme {
	case "tcp", "mqtt":
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	case "ssl", "tls", "mqtts":
		conn, err = (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", u.Host)
	default:
		err = fmt.Errorf("%q is not the address of a broker: tcp://host:port or mqtts://host:port", address)
	}
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, hear: hear, over: make(chan struct{}), answers: make(chan packets.Packet, 1)}
	go c.read()
	return c, nil
}

// Over is closed when the connection has ended, by either side.
func (c *Conn) Over() <-chan struct{} { return c.over }

// Connect sends CONNECT and returns the code of the CONNACK, 0 = accepted. ErrEnded: the server closed the connection
// instead.
func (c *Conn) Connect(h Hello) (code byte, err error) {
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}, ProtocolVersion: h.Level}
	pk.Connect = packets.ConnectParams{ProtocolName: []byte("MQTT"), Clean: !h.Kept, Keepalive: uint16(h.KeepAlive), //nolint:gosec // its callers' 0..65535
		ClientIdentifier: h.ClientID, UsernameFlag: h.Username != "", Username: []byte(h.Username),
		PasswordFlag: h.Password != "", Password: []byte(h.Password)}
	if w := h.Will; w != nil {
		pk.Connect.WillFlag, pk.Connect.WillTopic, pk.Connect.WillPayload = true, w.Topic, w.Payload
		pk.Connect.WillQos, pk.Connect.WillRetain = w.QoS, w.Retain
	}
	got, err := c.ask(&pk, packets.Connack)
	if err == nil && got.ReasonCode == 0 && h.KeepAlive > 0 && !h.Silent {
		go c.ping(time.Duration(h.KeepAlive) * time.Second / 2)
	}
	return got.ReasonCode, err
}

// Subscribe asks for topics with QoS 0 and returns the codes of the SUBACK, one for each: 0 = granted, 128 = refused.
func (c *Conn) Subscribe(topics []string) (codes []byte, err error) {
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Subscribe, Qos: 1}, ProtocolVersion: 4, PacketID: c.id()}
	for _, t := range topics {
		pk.Filters = append(pk.Filters, packets.Subscription{Filter: t})
	}
	got, err := c.ask(&pk, packets.Suback)
	return got.ReasonCodes, err
}

// Publish sends a message; with QoS 1 or 2 it returns when the server has acknowledged it. ErrEnded: the server closed
// the connection.
func (c *Conn) Publish(m Message) error {
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: m.QoS, Retain: m.Retain}, ProtocolVersion: 4,
		TopicName: m.Topic, Payload: m.Payload}
	switch m.QoS {
	case 0:
		return c.send(&pk)
	case 1:
		pk.PacketID = c.id()
		_, err := c.ask(&pk, packets.Puback)
		return err
	}
	pk.PacketID = c.id()
	if _, err := c.ask(&pk, packets.Pubrec); err != nil {
		return err
	}
	_, err := c.ask(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pubrel, Qos: 1}, PacketID: pk.PacketID}, packets.Pubcomp)
	return err
}

// Disconnect ends the connection cleanly.
func (c *Conn) Disconnect() {
	_ = c.send(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Disconnect}})
	c.Drop()
}

// Drop ends the connection without a word.
func (c *Conn) Drop() {
	_ = c.conn.Close()
	<-c.over
}

func (c *Conn) id() uint16 {
	c.write.Lock()
	defer c.write.Unlock()
	c.last++
	return max(c.last, 1)
}

// ping keeps the connection alive until it ends.
func (c *Conn) ping(every time.Duration) {
	for {
		due := make(chan struct{})
		timer := clock.WallAfter(every, func() { close(due) })
		select {
		case <-due:
			_ = c.send(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingreq}})
		case <-c.over:
			timer.Stop()
			return
		}
	}
}

// ask sends a packet and waits for its answer.
func (c *Conn) ask(pk *packets.Packet, want byte) (packets.Packet, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := c.send(pk); err != nil {
		return packets.Packet{}, err
	}
	late := make(chan struct{})
	defer clock.WallAfter(answerTime, func() { close(late) }).Stop()
	for {
		select {
		case got := <-c.answers:
			if got.FixedHeader.Type == want {
				return got, nil
			}
		case <-c.over:
			select { // the answer came just before the end
			case got := <-c.answers:
				if got.FixedHeader.Type == want {
					return got, nil
				}
			default:
			}
			return packets.Packet{}, ErrEnded
		case <-late:
			return packets.Packet{}, ErrSilent
		}
	}
}

func (c *Conn) send(pk *packets.Packet) error {
	var buf bytes.Buffer
	if err := encode(pk, &buf); err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	_ = c.conn.SetWriteDeadline(clock.WallNow().Add(answerTime))
	if _, err := c.conn.Write(buf.Bytes()); err != nil {
		return ErrEnded
	}
	return nil
}

func encode(pk *packets.Packet, to *bytes.Buffer) error {
	switch pk.FixedHeader.Type {
	case packets.Connect:
		return pk.ConnectEncode(to)
	case packets.Subscribe:
		return pk.SubscribeEncode(to)
	case packets.Publish:
		return pk.PublishEncode(to)
	case packets.Pubrel:
		return pk.PubrelEncode(to)
	case packets.Pingreq:
		return pk.PingreqEncode(to)
	}
	return pk.DisconnectEncode(to)
}

// read reads packets until the connection ends.
func (c *Conn) read() {
	defer close(c.over)
	defer func() { _ = c.conn.Close() }()
	in := bufio.NewReader(c.conn)
	for {
		pk, err := next(in)
		if err != nil {
			return
		}
		switch pk.FixedHeader.Type {
		case packets.Publish:
			c.hear(Message{pk.TopicName, pk.Payload, pk.FixedHeader.Qos, pk.FixedHeader.Retain})
		case packets.Pingresp:
		default:
			select {
			case c.answers <- pk:
			default: // nobody asked
			}
		}
	}
}

// next reads a packet. Types that only clients send end the connection.
func next(in *bufio.Reader) (pk packets.Packet, err error) {
	first, err := in.ReadByte()
	if err != nil {
		return pk, err
	}
	if err := pk.FixedHeader.Decode(first); err != nil {
		return pk, err
	}
	size, _, err := packets.DecodeLength(in)
	if err != nil || size > maxPacket {
		return pk, fmt.Errorf("a packet of %d bytes: %w", size, cmp.Or(err, error(packets.ErrPacketTooLarge)))
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(in, body); err != nil {
		return pk, err
	}
	pk.ProtocolVersion, pk.FixedHeader.Remaining = 4, size
	switch pk.FixedHeader.Type {
	case packets.Connack:
		if size > 2 { // a server that refuses MQTT 5 answers in its form
			pk.ReasonCode = body[1]
			return pk, nil
		}
		err = pk.ConnackDecode(body)
	case packets.Publish:
		err = pk.PublishDecode(body)
	case packets.Suback:
		err = pk.SubackDecode(body)
	case packets.Puback, packets.Pubrec, packets.Pubcomp, packets.Pingresp:
	default:
		err = packets.ErrProtocolViolation
	}
	return pk, err
}
