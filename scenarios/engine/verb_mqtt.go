package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/byhand"
	"github.com/doorlab/doorlab/internal/history"
)

// How long await and quiet last by default, in wall time.
const (
	awaitTime = 10 * time.Second
	quietTime = 300 * time.Millisecond
)

func (m *MQTT) title() string {
	out := []string{m.As.raw}
	if m.Board.set() {
		out = append(out, "connect", m.Board.raw)
	}
	for _, w := range [][2]string{{"send", m.Send.raw}, {"await", m.Await}, {"quiet", m.Quiet}, {"close", m.Close}} {
		if w[1] != "" {
			out = append(out, w[0], w[1])
		}
	}
	return strings.TrimSpace(strings.Join(out, " "))
}

// asserts reports whether the step can fail because of what the server does.
func (m *MQTT) asserts() bool { return m.Board.set() || m.Await != "" || m.Quiet != "" }

// run connects, subscribes, sends, waits and closes.
func (m *MQTT) run(x *frame) (out fields, err error) {
	name := need(m.As.str(x.scope))
	name, out = cmp.Or(name, theHand), fields{}
	h := x.file.hands.get(name)
	if m.Board.set() {
		if h, err = m.connect(x, name, out); err != nil || h == nil {
			return out, err
		}
	}
	if h == nil {
		return out, fmt.Errorf("there is no connection %s; a step with board opens one", name)
	}
	if m.Send.set() {
		if err := m.send(x, h); err != nil {
			return out, err
		}
	}
	if m.Await != "" || m.Quiet != "" {
		if err := m.wait(x, h, out); err != nil {
			return out, err
		}
	}
	switch m.Close {
	case "disconnect":
		h.conn.Disconnect()
	case "drop":
		h.conn.Drop()
	}
	return out, nil
}

// connect detaches the simulated board and opens a connection in its place; nil = the server refused it as expected.
func (m *MQTT) connect(x *frame, name string, out fields) (*hand, error) {
	b := x.simulated(m.Board, "it would lose its connection")
	var login struct{ MQTT, ClientID, Username, Password string }
	sure(x.run.lab.ask(x.ctx, b.owner, http.MethodPost, "/boards/"+esc(b.id)+"/detach", nil, &login))
	x.file.hands.boards.Store(b.id, true)
	x.run.mask.add(login.Password)
	x.run.emit(history.Event{Kind: history.Hand, BoardID: b.id})
	hello := byhand.Hello{ClientID: login.ClientID, Username: login.Username, Password: login.Password, KeepAlive: 30, Level: 4}
	if m.Connect != nil {
		m.Connect.fill(x, b.id, &hello)
	}
	h := &hand{board: b.id, auto: m.Auto, hide: func(s string) { x.run.mask.add(s) }}
	h.mu.Lock() // hear answers over conn
	conn, err := byhand.Dial(x.ctx, login.MQTT, x.run.target.TLS, h.hear)
	h.conn = conn
	h.mu.Unlock()
	sure(err)
	h.ended = h.conn.Over()
	x.file.hands.put(name, h)
	code, err := h.conn.Connect(hello)
	if err != nil {
		return nil, failed("no answer to CONNECT: %s", err)
	}
	out["connack"] = int64(code)
	if want := x.count(m.Connack, 0); int(code) != want {
		return nil, failed("expected CONNACK %d\nfound %d", want, code)
	}
	if code != 0 {
		h.conn.Drop()
		if m.more() {
			return nil, errRefusedHand
		}
		return nil, nil
	}
	return h, m.subscribe(x, h, out)
}

// more reports whether the step does something over the connection besides opening it.
func (m *MQTT) more() bool { return m.Send.set() || m.Await != "" || m.Quiet != "" }

var errRefusedHand = errors.New("a connection that is refused as expected can't send or wait")

// simulated is a simulated board, or the first of several, even if this file has taken its place; a real one is refused,
// and why says what would come of it.
func (x *frame) simulated(r Ref, why string) *boardInfo {
	b := x.boards(r)[0]
	_, ours := x.file.hands.boards.Load(b.id)
	switch {
	case b.real && !ours:
		panic(stop{fmt.Errorf("board %s is a real one: %s", b.id, why)})
	case x.run.lab == nil || b.owner == "":
		panic(stop{fmt.Errorf("no control listener has board %s", b.id)})
	}
	return b
}

// fill replaces what CONNECT says differently.
func (c *Connect) fill(x *frame, board string, h *byhand.Hello) {
	take := func(to *string, from *Text) {
		if from != nil {
			*to = need(from.str(x.scope))
		}
	}
	take(&h.ClientID, c.ClientID)
	take(&h.Username, c.Username)
	take(&h.Password, c.Password)
	h.KeepAlive, h.Kept, h.Silent = x.count(c.KeepAlive, h.KeepAlive), c.Kept, c.Silent
	h.Level = byte(x.count(c.Level, 4)) //nolint:gosec // lint allows 3 to 5
	if c.Will != nil {
		h.Will = &byhand.Message{Topic: topicOf(board, need(c.Will.Topic.str(x.scope))), Payload: []byte(need(c.Will.Raw.str(x.scope)))}
	}
}

func (m *MQTT) subscribe(x *frame, h *hand, out fields) error {
	wanted := []string{"cmd", "sync", "cfg", "ack"}
	if m.Subscribe != nil {
		wanted = nil
		for _, t := range *m.Subscribe {
			wanted = append(wanted, need(t.str(x.scope)))
		}
	}
	granted := []any{}
	out["granted"] = granted
	if len(wanted) == 0 {
		return nil
	}
	for i, w := range wanted {
		wanted[i] = topicOf(h.board, w)
	}
	codes, err := h.conn.Subscribe(wanted)
	if err != nil {
		return failed("no answer to SUBSCRIBE: %s", err)
	}
	for i, c := range codes {
		granted = append(granted, int64(c))
		if c > 2 && m.Subscribe == nil {
			return failed("the server refused the subscription to %s: %#x", wanted[i], c)
		}
	}
	out["granted"] = granted
	return nil
}

func (m *MQTT) send(x *frame, h *hand) error {
	channel := need(m.Send.str(x.scope))
	msg := byhand.Message{Topic: topicOf(h.board, channel), Payload: m.content(x), QoS: byte(x.count(m.QoS, 0)), Retain: m.Retain} //nolint:gosec // lint allows 0 to 2
	if h.over() {                                                                                                                  // not because of this message
		return failed("publishing to %s: the connection had ended before", channel)
	}
	h.forget(cmp.Or(m.Await, m.Quiet))
	if err := h.conn.Publish(msg); err != nil && !(errors.Is(err, byhand.ErrEnded) && m.Await == theEnd) {
		return failed("publishing to %s: %s", channel, err)
	}
	return nil
}

// content is the payload that the step sends.
func (m *MQTT) content(x *frame) []byte {
	switch {
	case m.Payload != nil:
		return need(json.Marshal(need(m.Payload.eval(x.scope))))
	case m.Raw != nil:
		return []byte(need(m.Raw.str(x.scope)))
	}
	return []byte("{}")
}

// wait waits for what the step awaits, or makes sure that it doesn't come.
func (m *MQTT) wait(x *frame, h *hand, out fields) error {
	limit := quietTime
	if m.Await != "" {
		limit = awaitTime
	}
	if m.For != nil {
		limit = need(m.For.dur(x.scope))
	}
	channel, wrong := cmp.Or(m.Await, m.Quiet), error(nil)
	got := h.next(x.ctx, channel, limit, func(r received) bool {
		if m.Where == nil {
			return true
		}
		ok, err := m.Where.decides(x.scope.child(r.fields()))
		wrong = cmp.Or(err, wrong)
		return ok
	})
	switch {
	case x.ctx.Err() != nil:
		return x.ctx.Err()
	case m.Quiet != "" && got != nil:
		return failed("a message arrived on %s, but quiet expected none: %s", channel, brief(got.payload, 400))
	case m.Quiet != "" && wrong != nil:
		return wrong
	case m.Quiet != "" && channel != theEnd && h.over():
		return failed("the connection has ended, so %s can't come", channel)
	case m.Quiet != "":
		return nil
	case got == nil && channel != theEnd && h.over():
		return failed("%s before the connection ended%s%s", m.waited(channel), h.instead(channel), because(wrong))
	case got == nil:
		return failed("%s within %s%s%s", m.waited(channel), limit, h.instead(channel), because(wrong))
	}
	maps.Copy(out, got.fields())
	return nil
}

// waited says what the step waited for in vain.
func (m *MQTT) waited(channel string) string {
	switch {
	case channel == theEnd:
		return "the server didn't close the connection"
	case m.Where != nil:
		return "no " + channel + " with " + m.Where.Src + " came"
	}
	return "no " + channel + " came"
}

// anyHand stands for the names of connections that are computed in the run.
const anyHand = ""

// mqtt reports what the form alone doesn't show: parts that do nothing without others, and numbers that can't be right.
func (c *checker) mqtt(m *MQTT, pos Pos) {
	name := cmp.Or(m.As.raw, theHand)
	templated := strings.Contains(name, "${")
	if m.Board.set() {
		c.hands[name] = true
		c.hands[anyHand] = c.hands[anyHand] || templated
	} else if !c.hands[name] && !templated && !c.hands[anyHand] {
		c.b.Problem(pos, "no connection %q in this file yet: a step with board opens one", name)
	}
	for _, p := range []struct {
		given bool
		what  string
		needs bool
		other string
	}{
		{m.Connect != nil, "connect", m.Board.set(), "board"},
		{m.Connack != nil, "connack", m.Board.set(), "board"},
		{m.Subscribe != nil, "subscribe", m.Board.set(), "board"},
		{m.Auto != nil, "auto", m.Board.set(), "board"},
		{m.Payload != nil, "payload", m.Send.set(), "send"},
		{m.Raw != nil, "raw", m.Send.set(), "send"},
		{m.QoS != nil, "qos", m.Send.set(), "send"},
		{m.Retain, "retain", m.Send.set(), "send"},
		{m.Where != nil, "where", m.Await+m.Quiet != "", "await or quiet"},
		{m.For != nil, "for", m.Await+m.Quiet != "", "await or quiet"},
	} {
		if p.given && !p.needs {
			c.b.Problem(pos, "%s does nothing without %s", p.what, p.other)
		}
	}
	if m.Payload != nil && m.Raw != nil {
		c.b.Problem(pos, "a message has one payload: give payload or raw")
	}
	if m.Await != "" && m.Quiet != "" {
		c.b.Problem(pos, "await or quiet, not both in one step")
	}
	if !m.Board.set() && !m.Send.set() && m.Await+m.Quiet+m.Close == "" {
		c.b.Problem(pos, "the step does nothing: give board, send, await, quiet or close")
	}
	if code, ok := m.Connack.literal(); ok && code != 0 && m.more() {
		c.b.Problem(m.Connack.pos, "%s", errRefusedHand)
	}
	c.between("qos", m.QoS, 0, 2)
	c.between("connack", m.Connack, 0, 255)
	if m.Connect != nil {
		c.between("keepAlive", m.Connect.KeepAlive, 0, 65535)
		c.between("level", m.Connect.Level, 3, 5)
	}
}

// between checks a number that is written down.
func (c *checker) between(name string, n *Num, least, most int) {
	if f, ok := n.literal(); ok && (f != float64(int(f)) || int(f) < least || int(f) > most) {
		c.b.Problem(n.pos, "%s must be a whole number from %d to %d", name, least, most)
	}
}
