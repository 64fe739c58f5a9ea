package gateway

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

func sprintf(format string, v ...any) string { return fmt.Sprintf(format, v...) }

func TestAdmission(t *testing.T) {
	t.Parallel()
	with := func(id string, change func(*connectPacket)) []byte {
		c := good(id)
		change(&c)
		return c.bytes()
	}
	keep := func(s uint16) []byte { return with("brd_1", func(c *connectPacket) { c.keepAlive = s }) }
	const in, notAllowed, badID, badLevel = "20020000", "20020005", "20020002", "20020001"
	for _, c := range []struct {
		name, want string
		connect    []byte
	}{
		{"a board", in, good("brd_1").bytes()},
		{"keep-alive 5", in, keep(5)},
		{"keep-alive 60", in, keep(60)},
		{"keep-alive 4", notAllowed, keep(4)},
		{"keep-alive 61", notAllowed, keep(61)},
		{"no keep-alive", notAllowed, keep(0)},
		{"wrong password", notAllowed, with("brd_1", func(c *connectPacket) { c.pass = "two" })},
		{"empty password", notAllowed, with("brd_1", func(c *connectPacket) { c.pass = "" })},
		{"unknown board", notAllowed, with("brd_9", func(c *connectPacket) { c.user = "brd_9" })},
		{"another board's id", badID, with("brd_2", func(*connectPacket) {})},
		{"no id", badID, with("", func(*connectPacket) {})},
		{"a session to keep", notAllowed, with("brd_1", func(c *connectPacket) { c.flags = 0xc0 })},
		{"a will", notAllowed, with("brd_1", func(c *connectPacket) { c.flags |= 0x04; c.will = true })},
		{"a retained will", notAllowed, with("brd_1", func(c *connectPacket) { c.flags |= 0x24; c.will = true })},
		{"MQTT 5", "2003008400", with("brd_1", func(c *connectPacket) { c.level = 5 })},
		{"MQTT 6", badLevel, with("brd_1", func(c *connectPacket) { c.level = 6 })},
		{"MQTT 3.1", badLevel, with("brd_1", func(c *connectPacket) { c.name, c.level = "MQIsdp", 3 })},
		{"HTTP", "", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
		{"PINGREQ first", "", []byte{0xc0, 0}},
		{"a length that never ends", "", []byte{0x10, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{"64 KiB and more", "", []byte{0x10, 0x80, 0x80, 0x08, 0, 4, 'M', 'Q', 'T', 'T', 4}},
		{"helper", in, good("brd_1/up").bytes()},
		{"helper with a tail", in, good("brd_1/up-12_a.B").bytes()},
		{"helper with a long tail", badID, good("brd_1/up" + strings.Repeat("x", 33)).bytes()},
		{"helper with a topic", badID, good("brd_1/up/x").bytes()},
		{"another's helper", badID, good("brd_2/up").bytes()},
		{"helper with a wrong password", notAllowed, with("brd_1/up", func(c *connectPacket) { c.pass = "" })},
	} {
		rigged(t, c.name, func(t *testing.T, r *rig) {
			conn := r.dial()
			_, _ = conn.Write(c.connect)
			time.Sleep(2 * time.Second) // guesses are answered late
			got, closed := answer(t, conn)
			_ = conn.Close()
			if sprintf("%x", got) != c.want || closed != (c.want != in) {
				t.Errorf("answer %x (closed %v), want %s", got, closed, c.want)
			}
			synctest.Wait()
			n := r.Counts()
			if n.Connected.Load() != 0 || n.Accepted.Load() != 1 || c.want != in && n.Refused.Load() != 1 {
				t.Errorf("counts %+v, want none connected, one accepted, and a refusal if it isn't let in", n)
			}
			if r.Status("brd_1").State != "unknown" {
				t.Error("known before any hello")
			}
		})
	}
}

// TestHandshake: a client that doesn't finish CONNECT within 5 s is cut, whether it sends one byte per second or
// none.
func TestHandshake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		first int
	}{{"silent", 0}, {"header only", 2}, {"all but the password", len(good("brd_1").bytes()) - 1}} {
		rigged(t, c.name, func(t *testing.T, r *rig) {
			conn := r.dial()
			start := time.Now()
			_, _ = conn.Write(good("brd_1").bytes()[:c.first])
			if n, err := conn.Read(make([]byte, 9)); err == nil || n > 0 {
				t.Fatal(n, err)
			}
			if took := time.Since(start); took != 5*time.Second {
				t.Errorf("closed after %s, want %s", took, 5*time.Second)
			}
		})
	}
}

func TestHelpersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for i := range maxHelpers {
			conn := r.dial()
			_, _ = conn.Write(good(sprintf("brd_1/up-%d", i)).bytes())
			if got, closed := answer(t, conn); closed || got[3] != 0 {
				t.Fatalf("connection %d: got %x, closed %v, want it accepted", i, got, closed)
			}
			defer conn.Close()
			if i > 0 {
				continue
			}
			defer func() {
				_ = conn.Close()
				synctest.Wait()
				again := r.dial()
				_, _ = again.Write(good("brd_1/up-9").bytes())
				if got, closed := answer(t, again); closed || got[3] != 0 {
					t.Errorf("after one has gone: got %v, want an open, accepted connection", got)
				}
				_ = again.Close()
			}()
		}
		conn := r.dial()
		_, _ = conn.Write(good("brd_1/up-8").bytes())
		if got, closed := answer(t, conn); !closed || !bytes.Equal(got, []byte{0x20, 2, 0, 3}) {
			t.Errorf("one too many: got %x, closed %v; want 20020003 and true", got, closed)
		}
	})
}

func TestTopics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		b, other := r.online("brd_1"), r.online("brd_2")
		for topic, want := range map[string]byte{
			"sac/v1/brd_1/cmd": 0, "sac/v1/brd_1/sync": 0, "sac/v1/brd_1/cfg": 0, "sac/v1/brd_1/ack": 0,
			"#": 128, "sac/#": 128, "sac/v1/brd_1/#": 128, "sac/v1/brd_1/+": 128, "sac/v1/+/cmd": 128, "sac/v1/brd_2/cmd": 128,
			"sac/v1/brd_1/hello": 128, "sac/v1/brd_1/rpt": 128, "sac/v1/brd_1": 128, "sac/v1/brd_1/cmd/x": 128,
			"$SYS/broker/clients": 128, "$share/g/sac/v1/brd_1/cmd": 128, "sac/v2/brd_1/cmd": 128,
		} {
			tok := b.Subscribe(topic, 1, nil).(*paho.SubscribeToken)
			tok.Wait()
			if got := tok.Result()[strings.TrimPrefix(topic, "$share/g/")]; got != want && (want != 0 || got > 1) {
				t.Errorf("subscribe %s: %#x, want %#x", topic, got, want)
			}
		}
		refused := func() int64 { return r.Dropped()[dropForbidden] + r.Dropped()[dropRetained] }
		forbidden, uplinks := refused(), r.Counts().Uplinks.Load()
		for _, topic := range []string{"sac/v1/brd_2/hello", "sac/v1/brd_2/rpt", "sac/v1/brd_2/cmd", "sac/v1/brd_1/cmd", "sac/v1/brd_1/sync", "x"} {
			b.Publish(topic, 0, false, `{"proto":2}`).Wait()
		}
		b.Publish("sac/v1/brd_1/ping", 0, true, "{}").Wait() // retained
		synctest.Wait()
		after := r.Counts()
		if refused()-forbidden != 7 || after.Uplinks.Load() != uplinks {
			t.Errorf("forbidden %d, taken %d; want 7 and 0", refused()-forbidden, after.Uplinks.Load()-uplinks)
		}
		b.quiet()
		other.quiet()
		b.say(wire.UpPing, "{}")
		if b.ack().Type != wire.AckPing {
			t.Error("the connection did not stand it")
		}
		b.Publish("sac/v1/brd_1/ping", 1, false, "{}").Wait() // QoS 1 is accepted
		if b.ack().Type != wire.AckPing {
			t.Error("QoS 1")
		}
		b.Publish("sac/v1/brd_2/ping", 1, false, "{}")
		if !b.ended() {
			t.Error("QoS 1 to a foreign topic did not end the connection")
		}
	})
}

// TestNoGoodbye: a server that speaks MQTT 3.1.1 has no DISCONNECT, so it ends a connection without one.
func TestNoGoodbye(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := newRig(t).dial()
		const foreign = "\x32\x17\x00\x11sac/v1/brd_2/ping\x00\x01{}" // PUBLISH with QoS 1
		_, _ = conn.Write(append(good("brd_1").bytes(), foreign...))
		if got, closed := answer(t, conn); !closed || !bytes.Equal(got, []byte{0x20, 2, 0, 0}) {
			t.Errorf("got %x, closed %v; want the CONNACK 20020000 alone, and true", got, closed)
		}
	})
}

// TestHelper: what a helper says counts as the board's word, but it may not subscribe.
func TestHelper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := r.connect("brd_1/up-1")
		h.say(wire.UpHello, wire.Hello{Proto: wire.Version})
		if n := r.Counts(); r.Dropped()[dropEarly] != 1 || n.Hellos.Load() != 0 {
			t.Errorf("a helper alone: got %+v, want Early 1 and Hellos 0", n)
		}
		b := r.connect("brd_1")
		h.say(wire.UpHello, wire.Hello{Proto: wire.Version, Revision: 4})
		if a := b.ack(); a.Type != wire.AckHello {
			t.Errorf("got %+v, want a.Type = wire.AckHello", a)
		}
		h.quiet()
		tok := h.Subscribe("sac/v1/brd_1/cmd", 0, nil).(*paho.SubscribeToken)
		if tok.Wait(); tok.Result()["sac/v1/brd_1/cmd"] != 128 {
			t.Error("a helper may subscribe")
		}
		h.say(wire.UpRpt, wire.Report{CommandID: "cmd_1", Result: vocab.OK})
		if a := b.ack(); a.Type != wire.AckRpt || a.CommandID != "cmd_1" || !a.Accepted {
			t.Errorf(`got %+v, want a.Type = wire.AckRpt, a.CommandID = "cmd_1", a.Accepted`, a)
		}
		h.Disconnect(0)
		synctest.Wait()
		if s := r.Status("brd_1"); s.State != "online" {
			t.Error("a helper's end ended the board's presence")
		}
		if got := r.backs.all(); got != "connected brd_1 1 rev 4; report brd_1 cmd_1 ok" {
			t.Errorf(`got %v, want "connected brd_1 1 rev 4; report brd_1 cmd_1 ok"`, got)
		}
		if _, open := r.flight.Pending(); open != 0 {
			t.Logf("in flight: %d", open)
		}
	})
}
