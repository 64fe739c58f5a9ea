package gateway

import (
	"bytes"
	"crypto/subtle"
	"crypto/tls"
	"log/slog"
	"slices"
	"strings"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// Range of the keep-alive that a board may ask for, in seconds.
const (
	minKeepAlive = 5
	maxKeepAlive = 60
)

// A helper is a connection that only publishes, for tools that can't publish and subscribe on one connection. Its
// client id is the board's id, "/up", and up to maxHelperTail letters, digits, dots, dashes or underscores, so that
// several don't take each other over.
const (
	helperSuffix  = "/up"
	maxHelperTail = 32
	maxHelpers    = 8 // per board at the same time
)

// isHelper reports whether a client id is one of the user's helpers.
func isHelper(clientID, user string) bool {
	tail, ok := strings.CutPrefix(clientID, user+helperSuffix)
	return ok && len(tail) <= maxHelperTail && strings.Trim(tail, helperTail) == ""
}

const helperTail = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// broker creates the MQTT server. Its own listeners and event loop are not used: connections come from Serve, and
// nothing is retained or stored.
func (g *Gateway) broker() error {
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumPacketSize = maxPacket  // the default allocates 256 MiB for a 5-byte header
	caps.MaximumClientWritesPending = 0 // our outbox takes its place
	caps.RetainAvailable = 0
	caps.SharedSubAvailable = 0
	caps.WildcardSubAvailable = 0
	caps.MaximumSessionExpiryInterval = 1
	g.mq = mqtt.New(&mqtt.Options{Capabilities: caps, SysTopicResendInterval: 3600, Logger: slog.New(slog.DiscardHandler),
		ClientNetReadBufferSize: 16, ClientNetWriteBufferSize: 16}) // session does the buffering
	return g.mq.AddHook(&hook{g: g}, nil)
}

// hook receives the broker's questions and notifications.
type hook struct {
	mqtt.HookBase
	g *Gateway
}

// ID implements mqtt.Hook.
func (h *hook) ID() string { return "doorlab" }

// Provides implements mqtt.Hook.
func (h *hook) Provides(b byte) bool {
	return bytes.IndexByte([]byte{mqtt.OnACLCheck, mqtt.OnPacketRead, mqtt.OnPacketEncode, mqtt.OnPublish}, b) >= 0
}

// OnConnect admits or refuses a board. It must use MQTT 3.1.1, a clean session, no will (which would bypass the topic
// rules), its user name (or a helper's) as client id, and its password.
func (h *hook) OnConnect(cl *mqtt.Client, pk packets.Packet) error {
	g := h.g
	id, user := pk.Connect.ClientIdentifier, string(pk.Connect.Username)
	b := g.boards[user]
	helper := isHelper(id, user)
	c, _ := cl.Net.Conn.(*guard)
	code, wrong := packets.CodeSuccess, wrongIn(pk)
	switch {
	case id != user && !helper:
		code, wrong = packets.ErrClientIdentifierNotValid, "client id"
	case wrong != "":
		code = packets.ErrBadUsernameOrPassword // "not authorized" in 3.1.1
	case g.anothers(c, user):
		code, wrong = packets.ErrBadUsernameOrPassword, "certificate"
	case !g.passes(b, user, pk.Connect.Password):
		code, wrong = packets.ErrBadUsernameOrPassword, "password"
	case helper && b.helpers.Add(1) > maxHelpers:
		b.helpers.Add(-1)
		code, wrong = packets.ErrServerUnavailable, "too many helpers"
	}
	if code != packets.CodeSuccess && b != nil {
		b.refused(wrong)
	}
	if code == packets.ErrBadUsernameOrPassword { // slows down guessing; a board that knows its password doesn't wait
		g.sleep(g.cfg.Penalty)
	}
	if code != packets.CodeSuccess || c == nil { // c is never nil: Serve makes it
		_ = g.mq.SendConnack(cl, code, false, nil)
		return code
	}
	l := &link{b: b, cl: cl, conn: c, helper: helper}
	if !l.admit(board.HashPassword(g.cfg.Pepper, user, string(pk.Connect.Password))) {
		return packets.ErrBadUsernameOrPassword
	}
	g.greeting.done(c)
	if c.shut.Load() { // ended before it knew its link
		l.shut()
	}
	g.count.Connected.Add(1)
	return nil
}

// wrongIn names what a CONNECT may not have or must have, apart from names and password; "" if nothing is wrong.
func wrongIn(pk packets.Packet) string {
	switch c := pk.Connect; {
	case !c.Clean:
		return "clean session"
	case c.WillFlag:
		return "will"
	case pk.ProtocolVersion != 4:
		return "protocol level"
	case c.Keepalive < minKeepAlive, c.Keepalive > maxKeepAlive:
		return "keep-alive"
	}
	return ""
}

// admit makes l its connection's link, unless the password has been rotated since it was compared.
func (l *link) admit(passwordHash string) bool {
	b := l.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.st.PasswordHash != passwordHash {
		if l.helper { // no link, so its end gives nothing back
			b.helpers.Add(-1)
		}
		return false
	}
	if !l.helper {
		l.joined = b.g.cfg.Flight.Join(b.id, l.conn.RemoteAddr().String())
	}
	l.conn.link.Store(l) // from here on Rotated finds the connection
	return true
}

// passes compares a password in constant time, whether or not the board exists.
func (g *Gateway) passes(b *peer, user string, password []byte) bool {
	got, want := board.HashPassword(g.cfg.Pepper, user, string(password)), "no such board"
	if b != nil {
		b.mu.Lock()
		want = b.st.PasswordHash
		b.mu.Unlock()
	}
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}

// anothers reports whether the peer presents another board's certificate. A certificate whose common name is no board's
// id may be used by any board that knows its password.
func (g *Gateway) anothers(c *guard, user string) bool {
	if c == nil {
		return false
	}
	secured, ok := c.Conn.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return false
	}
	shown := secured.ConnectionState().PeerCertificates
	return len(shown) > 0 && shown[0].Subject.CommonName != user && g.boards[shown[0].Subject.CommonName] != nil
}

// OnSessionEstablish makes this the board's latest connection. It closes the previous one first, because the broker
// would wait for a peer that has stopped reading.
func (h *hook) OnSessionEstablish(cl *mqtt.Client, _ packets.Packet) {
	l := linkOf(cl)
	if l == nil || l.helper {
		return
	}
	l.b.mu.Lock()
	old := l.b.main
	l.b.main = l
	l.b.mu.Unlock()
	if old != nil {
		h.g.count.Takeovers.Add(1)
		_ = old.conn.Close()
		old.replaced()
	}
}

// OnACLCheck lets a board use its own topics, by exact name, and no others.
func (h *hook) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	l := linkOf(cl)
	if l == nil {
		return false
	}
	boardID, channel, ok := wire.ParseTopic(topic)
	allowed := wire.Down
	if write {
		allowed = wire.Up
	}
	if !ok || boardID != l.b.id || !slices.Contains(allowed, channel) || (l.helper && !write) || strings.ContainsAny(topic, "+#") {
		l.b.drop(dropForbidden, "", "topic", 1)
		return false
	}
	return true
}

// OnPacketEncode keeps out what a server doesn't say in MQTT 3.1.1: codes of MQTT 5, which the broker's own checks use in
// answers to CONNECT, and DISCONNECT.
func (h *hook) OnPacketEncode(_ *mqtt.Client, pk packets.Packet) packets.Packet {
	switch {
	case pk.FixedHeader.Type == packets.Connack && pk.ReasonCode > packets.Err3NotAuthorized.Code:
		pk.ReasonCode = packets.Err3NotAuthorized.Code
	case pk.FixedHeader.Type == packets.Disconnect:
		pk.FixedHeader.Type = packets.Reserved // has no encoding, so nothing is sent
	}
	return pk
}

// OnPacketRead notes that the board is alive.
func (h *hook) OnPacketRead(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if l := linkOf(cl); l != nil {
		l.hears()
	}
	return pk, nil
}

// OnPublish queues every uplink for the board's worker; it reaches no subscriber. It must not use the database: it runs
// on the connection's reader.
func (h *hook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	l := linkOf(cl)
	_, channel, ok := wire.ParseTopic(pk.TopicName)
	if l == nil || !ok {
		return pk, packets.CodeSuccessIgnore
	}
	if pk.FixedHeader.Retain {
		l.b.drop(dropRetained, channel, "", 1)
		return pk, packets.CodeSuccessIgnore
	}
	l.uplink(channel, pk.Payload)
	return pk, packets.CodeSuccessIgnore
}

// uplink queues what a board has published.
func (l *link) uplink(channel string, payload []byte) {
	b := l.b
	b.g.count.Uplinks.Add(1)
	b.g.cfg.Watch(b.id, false, channel, payload)
	b.pace()
	if l.helper { // speaks for the board's own connection
		b.mu.Lock()
		l = b.main
		b.mu.Unlock()
		if l == nil {
			b.drop(dropEarly, channel, "no connection", 1)
			return
		}
		b.hears()
	}
	b.enqueue(item{l: l, channel: channel, payload: payload})
}

func linkOf(cl *mqtt.Client) *link {
	if c, ok := cl.Net.Conn.(*guard); ok {
		return c.link.Load()
	}
	return nil
}
