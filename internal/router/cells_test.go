package router_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router"
	"github.com/doorlab/doorlab/internal/router/routertest"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// cells is a router in front of three servers that answer with their number and with what they were sent.
type cells struct {
	world      *world.World
	base, mqtt string
	numbers    string // sip.map, as read by a PBX
	servers    []*httptest.Server
}

func startCells(t *testing.T, serve func(cell int, w http.ResponseWriter, r *http.Request), edit func(*router.File)) *cells {
	return startCellsOf(t, func(*router.Config) {}, serve, edit)
}

func startCellsOf(t *testing.T, change func(*router.Config), serve func(cell int, w http.ResponseWriter, r *http.Request), edit func(*router.File)) *cells {
	t.Helper()
	c := &cells{world: world.Default(1, 40)}
	rc := router.Config{World: c.world, Shards: 3}
	change(&rc)
	for i := 1; i <= rc.Shards; i++ {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/readyz" {
				serve(i, w, r)
			}
		})
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		c.servers = append(c.servers, s)
		rc.CellHTTP = append(rc.CellHTTP, s.Listener.Addr().String())
		rc.CellMQTT = append(rc.CellMQTT, brokerOf(t, i))
		rc.CellSIP = append(rc.CellSIP, phoneOf(t, i))
	}
	front := routertest.Listen(t)
	front.Start(rc, func(f *router.File) {
		if edit != nil {
			edit(f)
		}
		if f.Name == "sip.map" {
			c.numbers = f.Text
		}
	})
	c.base, c.mqtt = front.HTTP, front.MQTT
	return c
}

// brokerOf accepts connections and, once it has read anything, says which cell it is.
func brokerOf(t *testing.T, cell int) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if _, err := conn.Read(make([]byte, 1)); err == nil {
					_, _ = conn.Write([]byte{byte('0' + cell)})
				}
			}()
		}
	}()
	return l.Addr().String()
}

// phoneOf answers every call with its cell.
func phoneOf(t *testing.T, cell int) string {
	t.Helper()
	conn := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		for {
			_, from, err := conn.ReadFrom(make([]byte, 100))
			if err != nil {
				return
			}
			_, _ = conn.WriteTo([]byte{byte('0' + cell)}, from)
		}
	}()
	return conn.LocalAddr().String()
}

// call does what a PBX with sip.map does with a number.
func (c *cells) call(t *testing.T, number string) string {
	t.Helper()
	for line := range strings.Lines(c.numbers) {
		called, addr, _ := strings.Cut(strings.TrimSpace(line), " ")
		if called != number {
			continue
		}
		conn := must.Get(net.Dial("udp", addr))(t)
		defer func() { _ = conn.Close() }()
		must.Get(conn.Write([]byte("INVITE sip:" + number)))(t)
		b := make([]byte, 1)
		must.Get(conn.Read(b))(t)
		return string(b)
	}
	return ""
}

// whose calls each for every place of the world with the cell that serves it.
func (c *cells) whose(each func(cell string, p world.Place)) {
	for i := 1; i <= 3; i++ {
		for _, p := range c.world.Shard(shard.Shard{Index: i, Of: 3}).Places {
			each(strconv.Itoa(i), p)
		}
	}
}

func (c *cells) do(t *testing.T, method, path, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, c.base+path, strings.NewReader(body)))(t)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	res := must.Get(http.DefaultClient.Do(r))(t)
	defer func() { _ = res.Body.Close() }()
	b := must.Get(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(b), res.Header
}

func number(cell int, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, cell) }

// tokenOf looks like a server's token. A router trusts its form; the server verifies it.
func tokenOf(place string) string {
	b, _ := json.Marshal(map[string]string{"sub": "key_1", "place": place})
	return "Bearer eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString(b) + ".c2ln"
}

// dial connects as a board, in two pieces, and returns what the broker says.
func dial(t *testing.T, addr, user string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", addr))(t)
	defer func() { _ = conn.Close() }()
	field := func(s string) string { return string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }
	body := field("MQTT") + "\x04\xc2\x00\x1e" + field(user) + field(user) + field("a password of a board")
	packet := string([]byte{0x10, byte(len(body))}) + body
	for _, part := range []string{packet[:20], packet[20:]} {
		must.Get(conn.Write([]byte(part)))(t)
	}
	b, err := io.ReadAll(conn)
	if err != nil {
		t.Logf("%s: %v", user, err)
	}
	return string(b)
}
