package listen

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRefusals: a request that net/http refuses by itself is answered in the form of the API, and one that it accepts
// as the handler writes it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	over(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "HTTP/1.1 400") }, func(t *testing.T, dial func() net.Conn) {
		for request, want := range map[string]string{
			"GET /a%zz HTTP/1.1\r\nHost: t\r\n\r\n":                          "escapes (%xx)",
			"GET / HTTP/1.1\r\n\r\n":                                         "missing required Host header",
			"GET / HTTP/3.7\r\nHost: t\r\n\r\n":                              "unsupported protocol version",
			"POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n":  "the only transfer encoding is chunked",
			"GET / HTTP/1.1\r\nHost: t\r\nX: " + strings.Repeat("x", 17<<10): "larger than 16 KiB",
			"GET / HTTP/1.1\r\nHost: t\r\nExpect: a miracle\r\n\r\n":         "100-continue",
			"POST / HTTP/1.0\r\nExpect: 100\r\nContent-Length: 2\r\n\r\n{}":  "100-continue",
			"nonsense\r\n\r\n": "can't be read as HTTP",
			"GET / HTTP/1.1\r\nHost: t\r\nX-Y : z\r\n\r\n":                     "invalid header name",
			"GET /" + strings.Repeat("p", 17<<10) + " HTTP/1.1\r\nHost: t\r\n": "larger than 16 KiB",
		} {
			conn := dial()
			go func() { _, _ = io.WriteString(conn, request) }()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("%.30q: %v, want an answer", request, err)
				_ = conn.Close()
				continue
			}
			var got struct {
				Error, Message string
				StatusCode     int
			}
			err = json.NewDecoder(resp.Body).Decode(&got)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != 400 || got.StatusCode != 400 || got.Error != "invalid_body" || !strings.Contains(got.Message, want) || resp.Header.Get("X-Request-Id") == "" {
				t.Errorf("%.30q: %d %+v %v, want 400 invalid_body and %q", request, resp.StatusCode, got, err, want)
			}
			_ = conn.Close()
		}
		conn := dial()
		defer conn.Close()
		_, _ = io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n")
		if got := status(t, conn); got != http.StatusNotFound {
			t.Errorf("OPTIONS *: %d, want 404", got)
		}
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: t\r\n\r\n")
		if got := status(t, conn); got != http.StatusOK {
			t.Errorf("a good request: %d, want 200", got)
		}
		time.Sleep(time.Second) // net/http lingers for half a second after a refusal
	})
}
