package attack

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/loopback"
)

var (
	sources   atomic.Int64
	unreached atomic.Int64 // connections that weren't made
)

// dial connects from one of many source addresses and leaves no port in TIME_WAIT.
func dial(addr string) (net.Conn, error) {
	var d net.Dialer
	loopback.From(&d, loopback.Load.Source(int(sources.Add(1))%2000))
	d.Timeout = 10 * time.Second
	c, err := d.Dial("tcp", addr)
	if err != nil {
		unreached.Add(1)
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	return c, err
}

// each runs f n times, 64 at a time.
func each(n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, 64) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

func text(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

func packet(kind byte, body []byte) []byte {
	b := []byte{kind}
	for n := len(body); ; {
		x := byte(n & 0x7f)
		if n >>= 7; n > 0 {
			b = append(b, x|0x80)
			continue
		}
		return append(append(b, x), body...)
	}
}

func connect(id, user, pass string) []byte {
	b := append(text(nil, "MQTT"), 4, 0xc2, 0, 30)
	return packet(0x10, text(text(text(b, id), user), pass))
}

func publish(topic, payload string) []byte { return packet(0x30, append(text(nil, topic), payload...)) }

// say connects, sends b and returns what comes back: at first within patience, then for another 20 ms.
func say(addr string, b []byte, patience time.Duration) []byte {
	c, err := dial(addr)
	if err != nil {
		return nil
	}
	defer c.Close()
	_, _ = c.Write(b)
	_ = c.SetReadDeadline(time.Now().Add(patience))
	first := make([]byte, 4096)
	n, err := c.Read(first)
	if err != nil {
		return nil
	}
	_ = c.SetReadDeadline(time.Now().Add(brief))
	rest, _ := io.ReadAll(io.LimitReader(c, 4096))
	return append(first[:n], rest...)
}

// brief is patience with those who need no answer; patient is for answers that matter, however busy the machine is.
const (
	brief   = 20 * time.Millisecond
	patient = 10 * time.Second
)

func malformedMQTT(a *arena) (int, []string) {
	good := connect("brd_x", "brd_x", "x")
	each(*malformed, func(i int) {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		b := bytes.Clone(good)
		switch i % 6 {
		case 0: // random bytes
			b = make([]byte, 1+r.IntN(200))
			for j := range b {
				b[j] = byte(r.Uint32())
			}
		case 1: // an endless length field
			b = []byte{0x10, 0xff, 0xff, 0xff, 0xff, 0xff}
		case 2: // announces 256 MB
			b = []byte{0x10, 0xff, 0xff, 0xff, 0x7f, 0, 4, 'M', 'Q', 'T', 'T', 4}
		case 3: // truncated
			b = b[:r.IntN(len(b))]
		case 4: // one bit flipped
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		case 5: // MQTT 5, with trailing bytes
			b[8] = 5
		}
		say(a.mqtt(), b, brief)
	})
	return *malformed, nil
}

func wrongPasswords(a *arena) (int, []string) {
	n := max(*malformed/50, 20)
	board := a.world.Places[1].Boards[0].ID
	var in atomic.Int64
	each(n, func(i int) {
		if got := say(a.mqtt(), connect(board, board, fmt.Sprint("guess", i)), patient); len(got) >= 4 && got[3] == 0 {
			in.Add(1)
		}
	})
	if in.Load() > 0 {
		return n, []string{"a guess was let in"}
	}
	return n, nil
}

func silentPeers(a *arena) (size int, wrong []string) {
	var mu sync.Mutex
	var held []net.Conn
	each(*silent, func(int) {
		if c, err := dial(a.mqtt()); err == nil {
			mu.Lock()
			held = append(held, c)
			mu.Unlock()
		}
	})
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	began := time.Now()
	resp, err := http.Get(a.tb.Ready.HTTP + "/livez")
	if err != nil {
		return len(held), []string{"HTTP: " + err.Error()}
	}
	_ = resp.Body.Close()
	c, err := dial(a.mqtt()) // a client that speaks is answered among all the silent ones
	if err != nil {
		return len(held), []string{"MQTT: " + err.Error()}
	}
	defer c.Close()
	_, _ = c.Write([]byte{0x10, 16, 0, 4, 'M', 'Q', 'T', 'T', 5, 0})
	_ = c.SetReadDeadline(time.Now().Add(patient))
	if _, err := c.Read(make([]byte, 1)); err != nil {
		wrong = append(wrong, "a peer that speaks: "+err.Error())
	}
	if d := time.Since(began); *strict && d > 3*time.Second {
		wrong = append(wrong, "others waited "+d.String())
	}
	wait(*hold)
	return len(held), wrong
}

// validBoard is a board with a valid password that talks about other boards' doors, commands and people, in 25 ways.
func validBoard(a *arena) (int, []string) {
	lab := client.Client{Base: a.tb.Ready.Control, Token: a.tb.Ready.ControlToken}
	mine, other := a.world.Places[2].Boards[0], a.world.Places[1].Boards[0]
	var seat struct{ ClientID, Username, Password string }
	if err := lab.Do(context.Background(), http.MethodPost, "/lab/v1/boards/"+mine.ID+"/detach", nil, &seat); err != nil {
		return 0, []string{err.Error()}
	}
	topic := func(id, ch string) string { return "sac/v1/" + id + "/" + ch }
	door, own := other.Doors[0].ID, mine.Doors[0].ID
	record := func(door, grant string) string {
		return fmt.Sprintf(`{"records":[{"seq":1,"doorId":%q,"at":%d,"result":"opened","reason":"onsite","grantId":%q}]}`, door, time.Now().UnixMilli(), grant)
	}
	tries := [][]byte{
		publish(topic(other.ID, "rpt"), `{"commandId":"cmd_x","result":"ok"}`), publish(topic(other.ID, "hello"), `{"proto":2}`),
		publish(topic(other.ID, "cmd"), `{"id":"cmd_x","command":"open","channel":1}`), publish(topic(other.ID, "sync"), `{"revision":9}`),
		publish(topic(other.ID, "rec"), record(door, "")), publish(topic(other.ID, "ack"), `{"type":"sync","revision":9}`),
		publish(topic(other.ID, "state"), `{"doors":[]}`), publish(topic(other.ID, "digest"), `{"revision":1}`),
		publish(topic(mine.ID, "cmd"), `{"id":"cmd_x","command":"open","channel":1}`), publish(topic("+", "cmd"), `{}`),
		publish("$SYS/x", "x"), publish("$share/a/"+topic(other.ID, "cmd"), "x"), publish("sac/v1/"+other.ID+"/../cmd", "x"),
		publish(topic(mine.ID, "rpt"), `{"commandId":"cmd_x","result":"ok"}`), publish(topic(mine.ID, "rpt"), `{"commandId":"","result":"ok"}`),
		publish(topic(mine.ID, "rpt"), fmt.Sprintf(`{"commandId":"cmd_x","result":"ok","standing":{"channel":1,"doorId":%q,"state":"unlocked","leaf":"closed"}}`, door)),
		publish(topic(mine.ID, "rec"), record(door, "")), publish(topic(mine.ID, "rec"), record(own, "pmt_x' OR 1=1 --")),
		publish(topic(mine.ID, "state"), fmt.Sprintf(`{"doors":[{"channel":1,"doorId":%q,"state":"open","leaf":"open"}]}`, door)),
		publish(topic(mine.ID, "ack"), `{"type":"sync","revision":9007199254740991}`), publish(topic(mine.ID, "digest"), `{"revision":9007199254740991,"digest":"x"}`),
		packet(0x82, append([]byte{0, 1}, append(text(nil, topic(other.ID, "cmd")), 0)...)), packet(0x82, append([]byte{0, 2}, append(text(nil, "#"), 0)...)),
		packet(0x82, append([]byte{0, 3}, append(text(nil, "sac/v1/+/cmd"), 0)...)), packet(0x31, append(text(nil, topic(other.ID, "cmd")), "x"...)),
	}
	var wrong []string
	for i, b := range tries {
		got := say(a.mqtt(), bytes.Join([][]byte{connect(mine.ID, mine.ID, seat.Password), publish(topic(mine.ID, "hello"), `{"proto":2,"boot":1,"revision":0,"outageAgeMs":0}`), b}, nil), patient)
		if len(got) < 4 || got[0] != 0x20 || got[3] != 0 {
			wrong = append(wrong, fmt.Sprintf("try %d: the board wasn't let in: %x", i, got[:min(len(got), 8)]))
		}
		if bytes.Contains(got, []byte(other.ID)) || bytes.Contains(got, []byte(door)) {
			wrong = append(wrong, fmt.Sprintf("try %d: something of another board came down", i))
		}
	}
	if err := lab.Do(context.Background(), http.MethodPost, "/lab/v1/boards/"+mine.ID+"/attach", nil, nil); err != nil {
		wrong = append(wrong, err.Error())
	}
	return len(tries), wrong
}
