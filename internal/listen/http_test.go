package listen

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
)

// over runs f against h on an in-memory listener, in fake time.
func over(t *testing.T, h http.HandlerFunc, f func(t *testing.T, dial func() net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := pipe.NewListener("t")
		s := Server(h)
		ended := make(chan struct{})
		go func() { defer close(ended); _ = Serve(s, l) }()
		f(t, func() net.Conn {
			c := must.Get(l.Dial(context.Background()))(t)
			return c
		})
		_ = s.Close()
		<-ended
	})
}

func reading(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func status(t *testing.T, c net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestSlowBodies: a client that never finishes its body is answered when its time is up; one that sends a long body
// in time is answered, however long it took.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path         string
		bytes        int // one byte per second
		want         int
		after, early time.Duration
	}{
		{"/entry/open", 100, 400, 10 * time.Second, 9 * time.Second},
		{"/entry/open", 8, 200, 8 * time.Second, 7 * time.Second},
		{"/space/v1/customers/import", 100, 400, 30 * time.Second, 29 * time.Second},
		{"/space/v1/customers/import", 25, 200, 25 * time.Second, 24 * time.Second}, // longer than an answer's deadline
	} {
		over(t, reading, func(t *testing.T, dial func() net.Conn) {
			conn, began := dial(), time.Now()
			var sender sync.WaitGroup
			defer sender.Wait()
			defer conn.Close()
			_, _ = io.WriteString(conn, "POST "+c.path+" HTTP/1.1\r\nHost: t\r\nContent-Length: "+strconv.Itoa(c.bytes)+"\r\n\r\n")
			sender.Go(func() {
				for range c.bytes {
					time.Sleep(time.Second)
					if _, err := conn.Write([]byte("x")); err != nil {
						return
					}
				}
			})
			if got := status(t, conn); got != c.want {
				t.Errorf("%s, %d bytes: %d, want %d", c.path, c.bytes, got, c.want)
			}
			if d := time.Since(began); d < c.early || d > c.after+time.Second {
				t.Errorf("%s, %d bytes: answered after %v, want %v to %v", c.path, c.bytes, d, c.early, c.after+time.Second)
			}
		})
	}
}

// TestUnreadBodies: a client that sends its whole body before reading gets the answer, whether the handler read part
// of the body or none. A client that waits for 100 Continue isn't asked for a body that isn't needed.
func TestUnreadBodies(t *testing.T) {
	t.Parallel()
	const size = 12 << 20 // an import may have up to 8 MiB
	part := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 64<<10))
		w.WriteHeader(http.StatusBadRequest)
	}
	none := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		head string
		body int
		want int
	}{
		"unread":  {none, "", size, 401},
		"in part": {part, "", size, 400},
		"waits":   {none, "Expect: 100-continue\r\n", 0, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over(t, c.h, func(t *testing.T, dial func() net.Conn) {
				conn := dial()
				defer func() { _ = conn.Close() }()
				_, err := io.WriteString(conn, "POST /x HTTP/1.1\r\nHost: t\r\n"+c.head+"Content-Length: "+strconv.Itoa(size)+"\r\n\r\n")
				if err == nil {
					_, err = conn.Write(make([]byte, c.body))
				}
				if got := status(t, conn); err != nil || got != c.want {
					t.Errorf("got status %d, error %v, want %d and the whole body sent", got, err, c.want)
				}
			})
		})
	}
}

// TestLongWork: the deadline for reading a body doesn't cut off the work after it.
func TestLongWork(t *testing.T) {
	t.Parallel()
	over(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		select {
		case <-time.After(20 * time.Second):
			w.WriteHeader(http.StatusOK)
		case <-r.Context().Done():
			w.WriteHeader(http.StatusInternalServerError)
		}
	}, func(t *testing.T, dial func() net.Conn) {
		conn := dial()
		defer conn.Close()
		for range 2 { // the second time on a connection that has already had an answer
			_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}")
			if got := status(t, conn); got != http.StatusOK {
				t.Errorf("status %d, want 200", got)
			}
		}
	})
}

// TestHeaders: at most 16 KiB, within 5 s.
func TestHeaders(t *testing.T) {
	t.Parallel()
	over(t, reading, func(t *testing.T, dial func() net.Conn) {
		for size, want := range map[int]int{15 << 10: 200, 17 << 10: 400} {
			conn := dial()
			go func() {
				_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: t\r\nX-Big: "+strings.Repeat("x", size)+"\r\n\r\n")
			}()
			if got := status(t, conn); got != want {
				t.Errorf("%d bytes: %d, want %d", size, got, want)
			}
			_ = conn.Close()
		}
		conn, began := dial(), time.Now()
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\n")
		if _, err := conn.Read(make([]byte, 1)); err != io.EOF || time.Since(began) > HeaderTimeout+time.Second {
			t.Errorf("got %v after %v, want %v and at most %v", err, time.Since(began), io.EOF, HeaderTimeout+time.Second)
		}
	})
}

// TestSlowReader: a client that doesn't read is cut off when the answer's time is up.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	big := make([]byte, 8<<20)
	var wrote atomic.Int64
	over(t, func(w http.ResponseWriter, _ *http.Request) {
		began := time.Now()
		_, _ = w.Write(big)
		wrote.Store(int64(time.Since(began)))
	}, func(t *testing.T, dial func() net.Conn) {
		conn := dial()
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: t\r\n\r\n")
		time.Sleep(answerTimeout + time.Second)
		if d := time.Duration(wrote.Load()); d != answerTimeout {
			t.Errorf("the writer was held for %v, want %v", d, answerTimeout)
		}
	})
}

// TestLoopbackHosts: a foreign host name that resolves to this machine can't read anything (DNS rebinding).
func TestLoopbackHosts(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for _, c := range []struct {
		addr, host string
		want       int
	}{
		{"127.0.0.1:1", "127.0.0.1:1", 200}, {"127.0.0.1:1", "localhost:1", 200}, {"127.0.0.1:1", "[::1]:1", 200}, {"127.0.0.1:1", "127.9.9.9", 200},
		{"127.0.0.1:1", "evil.example", 421}, {"127.0.0.1:1", "127.0.0.1.evil.example:1", 421}, {"127.0.0.1:1", "", 421}, {"127.0.0.1:1", "10.0.0.1", 421},
		{"10.0.0.1:1", "server:1", 200}, {"0.0.0.0:1", "server:1", 200},
	} {
		addr := must.Get(net.ResolveTCPAddr("tcp", c.addr))(t)
		w := httptest.NewRecorder()
		LoopbackHosts(addr, ok).ServeHTTP(w, &http.Request{Host: c.host})
		if w.Code != c.want {
			t.Errorf("%s at %s: %d, want %d", c.host, c.addr, w.Code, c.want)
		}
		var got struct {
			Error, Message string
			StatusCode     int
		}
		if c.want != 200 && (json.Unmarshal(w.Body.Bytes(), &got) != nil || got.Error != "misdirected_request" || got.StatusCode != 421 || got.Message == "") {
			t.Errorf("%s at %s: got %s, want a failure in the form of the API", c.host, c.addr, w.Body)
		}
	}
}
