package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// held opens n connections, writes to each, holds them open for a while, and closes them.
func (a *arena) held(n int, first string, then func(i int, c net.Conn)) int {
	var mu sync.Mutex
	var all []net.Conn
	each(n, func(i int) {
		c, err := dial(a.http())
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, first)
		if then != nil {
			then(i, c)
		}
		mu.Lock()
		all = append(all, c)
		mu.Unlock()
	})
	wait(*hold)
	for _, c := range all {
		_ = c.Close()
	}
	return len(all)
}

func malformedHTTP(a *arena) (int, []string) {
	good := "POST /device/v1/devices/dor_x/commands HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nIdempotency-Key: k\r\n\r\n{}"
	forms := []func(r *rand.Rand) string{
		func(r *rand.Rand) string { return string(noise(r)) },
		func(r *rand.Rand) string { return good[:r.IntN(len(good))] },
		func(r *rand.Rand) string { b := []byte(good); b[r.IntN(len(b))] ^= 1 << r.IntN(8); return string(b) },
		func(r *rand.Rand) string { return fmt.Sprintf("X%d /nope HTTP/1.1\r\nHost: x\r\n\r\n", r.Uint64()) },
		func(*rand.Rand) string {
			return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"
		},
		func(*rand.Rand) string {
			return "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"
		},
		func(*rand.Rand) string { return "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n" },
		func(*rand.Rand) string { return "GET / HTTP/9.9\r\n\r\n" },
	}
	each(*requests, func(i int) {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		c, err := dial(a.http())
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, forms[i%len(forms)](r))
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		_, _ = c.Read(make([]byte, 512))
	})
	return *requests, nil
}

func noise(r *rand.Rand) []byte {
	b := make([]byte, 1+r.IntN(300))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// slowBodies announce a body and don't send it. If they are held long enough, they are answered within their 10 s.
func slowBodies(a *arena) (int, []string) {
	n := a.held(*readers, "POST /entry/open HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", nil)
	c, err := dial(a.http())
	if err != nil {
		return n, []string{err.Error()}
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST /entry/open HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	_ = c.SetReadDeadline(time.Now().Add(10*time.Second + patient))
	b := make([]byte, 12)
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "HTTP/1.1 400" {
		return n, []string{fmt.Sprintf("a slow body got %q, %v", b, err)}
	}
	return n, nil
}

func headerBombs(a *arena) (int, []string) {
	before := heap()
	bomb := "GET /livez HTTP/1.1\r\nHost: x\r\nX-Big: " + strings.Repeat("x", 1<<20)
	grown := uint64(0)
	n := a.held(*readers, "", func(i int, c net.Conn) {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(c, bomb)
		if i == *readers-1 {
			grown = heap() - min(before, heap())
		}
	})
	if grown > uint64(*readers)*200<<10+32<<20 {
		return n, []string{fmt.Sprintf("%d MB are held", grown>>20)}
	}
	return n, nil
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// idleReaders request the reference's script without gzip and don't read it.
func idleReaders(a *arena) (int, []string) {
	before, grown := heap(), uint64(0)
	script := a.script()
	n := a.held(*readers, "GET "+script+" HTTP/1.1\r\nHost: x\r\n\r\n", func(i int, _ net.Conn) {
		if i == *readers-1 {
			wait(*hold)
			grown = heap() - min(before, heap())
		}
	})
	if script == "" || grown > 64<<20 {
		return n, []string{fmt.Sprintf("%d MB are held by readers of %q", grown>>20, script)}
	}
	return n, nil
}

// script finds the address of the reference's script in its page.
func (a *arena) script() string {
	page := a.get("/core/v1/docs", "")
	_, rest, _ := strings.Cut(page, "/docs/assets/")
	name, _, ok := strings.Cut(rest, ".js")
	if !ok {
		return ""
	}
	return "/docs/assets/" + name + ".js"
}

func (a *arena) get(path, token string) string {
	req := must.Get(http.NewRequestWithContext(context.Background(), http.MethodGet, a.tb.Ready.HTTP+path, nil))(a.t)
	req.Header.Set("Accept", "text/html, application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp := must.Get(http.DefaultClient.Do(req))(a.t)
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

// foreignIDs requests other places' objects on every route that names one.
func foreignIDs(a *arena) (size int, wrong []string) {
	mine, theirs, victim := a.client(0), a.client(1), a.world.Places[1]
	made := func(path, field, name string) string { // something of theirs that exists
		now := a.tb.Clock().Now()
		got := must.Get(theirs.Call(context.Background(), http.MethodPost, path, "", map[string]any{"externalRef": "foreign-" + name, "phone": "01012345678",
			"startsAt": now.Format(time.RFC3339), "endsAt": now.Add(time.Hour).Format(time.RFC3339)}))(a.t)
		var body struct{ Data map[string]any }
		if err := json.Unmarshal(got.Body, &body); err != nil || got.Status != http.StatusOK {
			a.t.Fatalf("%s: %d %s, %v; want 200", path, got.Status, got.Body, err)
		}
		return body.Data[field].(string)
	}
	ids := strings.NewReplacer("{placeId}", victim.ID, "{id}", victim.Boards[0].Doors[0].ID, "{boardId}", victim.Boards[0].ID,
		"{permitId}", made("/space/v1/partner/entry-permits", "permitId", "permit"), "{membershipId}", "mem_0000000000000000000000",
		"{reservationId}", made("/space/v1/reservations", "reservationId", "reservation"))
	for _, name := range []string{"core", "space", "device"} {
		var doc struct {
			Paths map[string]map[string]struct {
				Scope string `json:"x-required-scope"`
			} `json:"paths"`
		}
		if err := json.Unmarshal([]byte(a.get("/"+name+"/v1/openapi.json", "")), &doc); err != nil {
			return size, []string{err.Error()}
		}
		for path, ops := range doc.Paths {
			for method, op := range ops {
				if !strings.Contains(path, "{") || op.Scope == "none" || op.Scope == "" {
					continue
				}
				size++
				a, err := mine.Call(context.Background(), strings.ToUpper(method), ids.Replace(path), "foreign", []byte(`{"capability":"door","command":"open","hours":{"week":{}}}`))
				if err != nil {
					wrong = append(wrong, err.Error())
					continue
				}
				if a.Status != http.StatusNotFound && a.Status != http.StatusForbidden || strings.Contains(string(a.Body), victim.Boards[0].Doors[0].Name+`"`) {
					wrong = append(wrong, fmt.Sprintf("%s %s: %d", method, path, a.Status))
				}
			}
		}
	}
	if size < 10 {
		wrong = append(wrong, fmt.Sprintf("only %d routes were found", size))
	}
	return size, wrong
}
