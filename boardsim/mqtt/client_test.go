package mqtt_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/pipe"
)

// Both clients send the same bytes: no will, a clean session, QoS 0, nothing retained, and the acknowledgements that
// a message asks for.
func TestBothClientsSendTheSameBytes(t *testing.T) {
	t.Parallel()
	var sent [][]string
	for _, client := range clients {
		synctest.Test(t, func(t *testing.T) {
			b, s := met(t, client)
			b.client.Publish("up/a", []byte("hello"))
			b.client.Publish("up/b", nil)
			b.client.Publish("up/c", []byte(strings.Repeat("x", 20000)))
			synctest.Wait()
			s.publish(t, "down/a", "one", 1, 7, false)
			s.publish(t, "down/a", "two", 2, 8, false)
			time.Sleep(3 * keepAlive / 2)
			synctest.Wait()
			sent = append(sent, s.seen)
			part(b, s)
		})
	}
	same(t, "light beside paho", sent[1], sent[0])
	words := []string{"Connect", "Subscribe", "Publish", "Publish", "Publish", "Puback", "Pubrec", "Pubcomp", "Pingreq"}
	var got []string
	for _, line := range sent[0] {
		word, _, _ := strings.Cut(line, " ")
		got = append(got, word)
	}
	same(t, "what was sent", got, words)
	if connect := sent[0][0]; !strings.HasPrefix(connect, "Connect 10") || !strings.Contains(connect, "00044d51545404c20014") {
		t.Errorf("CONNECT is %s, want MQTT 3.1.1, flags c2 (name, password, clean; no will), 20 s", connect)
	}
}

func TestReceive(t *testing.T) {
	eachMet(t, func(t *testing.T, b *board, s *server) {
		long := strings.Repeat("page!", 13000)
		s.publish(t, "down/a", "plain", 0, 0, false)
		s.publish(t, "down/b", "", 0, 0, false)
		s.publish(t, "down/a", "retained", 0, 0, true)
		s.publish(t, "down/a", "once", 1, 3, false)
		s.publish(t, "down/a", "exactly", 2, 4, false)
		s.publish(t, "down/b", long, 0, 0, false)
		same(t, "received", b.received(), []string{"down/a plain", "down/b ", "down/a retained", "down/a once", "down/a exactly", "down/b 65000 bytes page!"})
		b.wantAlive()
	})
}

// While a board handles one message, the next ones wait.
func TestOneAtATime(t *testing.T) {
	eachMet(t, func(t *testing.T, b *board, s *server) {
		for _, m := range []string{"slow", "second", "slow", "fourth"} {
			s.publish(t, "down/a", m, 0, 0, false)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		same(t, "received", b.received(), []string{"down/a slow", "down/a second", "down/a slow", "down/a fourth"})
	})
}

// A stream may arrive cut into any pieces.
func TestPieces(t *testing.T) {
	eachMet(t, func(t *testing.T, b *board, s *server) {
		var stream strings.Builder
		var want []string
		for i := range 40 {
			pk := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
			pk.TopicName, pk.Payload = "down/a", []byte(fmt.Sprintf("%d", i))
			_ = pk.Write(&stream)
			want = append(want, fmt.Sprintf("down/a %d", i))
		}
		all := []byte(stream.String())
		for at, n := 0, 1; at < len(all); at, n = at+n, n%97+1 {
			_, _ = s.conn.Write(all[at:min(at+n, len(all))])
			synctest.Wait()
		}
		same(t, "received", b.received(), want)
	})
}

func TestConnectFails(t *testing.T) {
	for name, c := range map[string]struct {
		s    *server
		want error // nil = any error
		took time.Duration
	}{
		"wrong password":           {&server{connack: 5}, mqtt.ErrLogin, 0},
		"wrong name or password":   {&server{connack: 4}, mqtt.ErrLogin, 0},
		"server unavailable":       {&server{connack: 3}, nil, 0},
		"subscription refused":     {&server{suback: 0x80}, mqtt.ErrRefused, 0},
		"no answer":                {&server{quiet: map[byte]bool{packets.Connect: true}}, mqtt.ErrTimeout, answer},
		"no answer to SUBSCRIBE":   {&server{quiet: map[byte]bool{packets.Subscribe: true}}, mqtt.ErrTimeout, answer},
		"the server closes before": {nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, client string) {
				a, other := pipe.New()
				s := &server{}
				if c.s == nil {
					_ = other.Close()
				} else {
					*s = server{connack: c.s.connack, suback: c.s.suback, quiet: c.s.quiet}
				}
				s.conn = other
				go s.run()
				b := newBoard(t, client, a, link.Config{})
				start := time.Now()
				err := b.client.Connect(topics)
				if err == nil || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("got %v, want an error, %v", err, c.want)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				part(b, s)
			})
		})
	}
}

// A server that violates the protocol loses its board.
func TestGarbage(t *testing.T) {
	for name, raw := range map[string]string{
		"type 0":          "\x00\x00",
		"type 15":         "\xf0\x00",
		"topic beyond it": "\x30\x03\x00\x09a",
	} {
		t.Run(name, func(t *testing.T) {
			eachMet(t, func(t *testing.T, b *board, s *server) {
				_, _ = io.WriteString(s.conn, raw)
				time.Sleep(time.Millisecond)
				synctest.Wait()
				b.wantLost(false)
			})
		})
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	t.Run("the server closes", func(t *testing.T) {
		eachMet(t, func(t *testing.T, b *board, s *server) {
			_ = s.conn.Close()
			synctest.Wait()
			b.wantLost(false)
		})
	})
	t.Run("reset", func(t *testing.T) {
		eachMet(t, func(t *testing.T, b *board, s *server) {
			b.line.Cut()
			synctest.Wait()
			b.wantLost(false)
			b.client.Publish("up/a", nil) // too late, but harmless
		})
	})
	t.Run("the board closes", func(t *testing.T) {
		each(t, func(t *testing.T, client string) {
			b, s := met(t, client)
			b.client.Close()
			synctest.Wait()
			last := s.seen[len(s.seen)-1]
			part(b, s)
			time.Sleep(time.Hour)
			b.wantAlive()
			if client == mqtt.Light && last != "Disconnect e000" { // paho sends it if it can do so immediately
				t.Errorf("the last packet is %s, want DISCONNECT", last)
			}
		})
	})
	t.Run("the server stops reading", func(t *testing.T) {
		eachMet(t, func(t *testing.T, b *board, s *server) {
			s.stalled.Store(true)
			start := time.Now()
			for range 4 { // 64 KiB fit into the buffer
				b.client.Publish("up/a", make([]byte, 30000))
			}
			time.Sleep(pingTimeout + keepAlive)
			b.wantLost(true)
			if took := b.at.Sub(start); took > 7*time.Second {
				t.Errorf("lost after %s, want the write deadline of 5 s", took)
			}
		})
	})
}

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	t.Run("a quiet line", func(t *testing.T) {
		eachMet(t, func(t *testing.T, b *board, s *server) {
			last := time.Now()
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			b.wantAlive()
			if n := len(s.at); n < 20 || n > 30 {
				t.Errorf("%d pings in 10 minutes, want one each 20 to 30 s", n)
			}
			for _, at := range s.at {
				if gap := at.Sub(last); gap < keepAlive || gap > 3*keepAlive/2 {
					t.Errorf("a ping after %s, want 20 to 30 s: the server gives up after 1.5 keep-alives", gap)
				}
				last = at
			}
		})
	})
	t.Run("the server falls silent", func(t *testing.T) {
		eachMet(t, func(t *testing.T, b *board, s *server) {
			s.mu.Lock()
			s.quiet = map[byte]bool{packets.Pingreq: true}
			s.mu.Unlock()
			start := time.Now()
			time.Sleep(time.Minute)
			synctest.Wait()
			b.wantLost(true)
			if took := b.at.Sub(start); took < keepAlive+pingTimeout || took > keepAlive+pingTimeout+10*time.Second {
				t.Errorf("lost after %s, want a keep-alive and what a ping may take", took)
			}
		})
	})
	t.Run("who publishes and hears nothing pings", func(t *testing.T) {
		eachMet(t, func(t *testing.T, b *board, s *server) {
			for range 10 {
				time.Sleep(keepAlive / 2)
				b.client.Publish("up/a", nil)
			}
			synctest.Wait()
			b.wantAlive()
			if len(s.at) < 3 {
				t.Errorf("%d pings in 100 s, want at least 3", len(s.at))
			}
		})
	})
}
