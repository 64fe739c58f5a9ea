package listen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
)

// asked sends bytes in pieces and returns the statuses of the answers, until the server closes the connection or n
// have arrived.
func asked(t *testing.T, conn net.Conn, text string, n int, piece func() int) (got []int) {
	t.Helper()
	defer conn.Close()
	go func() {
		for text != "" {
			k := min(max(piece(), 1), len(text))
			if _, err := io.WriteString(conn, text[:k]); err != nil {
				return
			}
			text = text[k:]
		}
	}()
	r := bufio.NewReader(conn)
	for len(got) < n {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return got
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		got = append(got, resp.StatusCode)
	}
	return got
}

const (
	post    = "POST /a HTTP/1.1\r\nHost: t\r\n"
	length  = "Content-Length: 4\r\n"
	chunked = "Transfer-Encoding: chunked\r\n"
	secret  = "GET /smuggled HTTP/1.1\r\nHost: t\r\n\r\n"
)

// TestTwoLengths: a request with two conflicting lengths is refused, and nothing after it on the connection is
// treated as a request (request smuggling).
func TestTwoLengths(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"CL.TE":                     post + length + chunked + "\r\n0\r\n\r\n",
		"TE.CL":                     post + chunked + length + "\r\n0\r\n\r\n",
		"another spelling":          post + "content-length:4\r\ntRANSFER-eNCODING:chunked\r\n\r\n0\r\n\r\n",
		"behind long headers":       post + "X-Long: " + strings.Repeat("x", 5000) + "\r\n" + length + chunked + "\r\n0\r\n\r\n",
		"bare LF":                   "POST /a HTTP/1.1\nHost: t\nContent-Length: 4\nTransfer-Encoding: chunked\n\n0\r\n\r\n",
		"HTTP/1.0":                  "POST /a HTTP/1.0\r\nHost: t\r\nConnection: keep-alive\r\n" + length + chunked + "\r\nabcd",
		"second on its connection":  "GET / HTTP/1.1\r\nHost: t\r\n\r\n" + post + length + chunked + "\r\n0\r\n\r\n",
		"after a body with lengths": post + "Content-Length: 30\r\n\r\n" + "Transfer-Encoding: chunked\r\n\r\n" + post + length + chunked + "\r\n0\r\n\r\n",
		"after chunks":              post + chunked + "\r\n3;x=y\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n" + post + length + chunked + "\r\n0\r\n\r\n",
		"two different lengths":     post + length + "Content-Length: 5\r\n\r\nabcde",
	} {
		smuggled := false
		over(t, func(w http.ResponseWriter, r *http.Request) {
			smuggled = smuggled || r.URL.Path == "/smuggled"
			reading(w, r)
		}, func(t *testing.T, dial func() net.Conn) {
			got := asked(t, dial(), text+secret, 9, func() int { return len(text) + len(secret) })
			if len(got) == 0 || got[len(got)-1] != http.StatusBadRequest || smuggled {
				t.Errorf("%s: answers %v, what follows was taken for a request: %v; want the last 400 and nothing after it", name, got, smuggled)
			}
		})
	}
}

// TestOneLength: requests with one length are answered, whatever preceded them, however they are cut, and even if
// their bodies contain text that looks like headers.
func TestOneLength(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	bodies := []string{"", "{}", length + chunked + "\r\n", "0\r\n\r\n", strings.Repeat("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 50)}
	for range 200 {
		var text strings.Builder
		n := 1 + rng.IntN(6)
		for range n {
			body := bodies[rng.IntN(len(bodies))]
			switch rng.IntN(4) {
			case 0:
				text.WriteString("GET / HTTP/1.1\r\nHost: t\r\nX-Note: Transfer-Encoding: chunked\r\n\r\n")
			case 1, 2:
				fmt.Fprintf(&text, "%sContent-Length: %d\r\n\r\n%s", post, len(body), body)
			default:
				text.WriteString(post + chunked + "\r\n")
				for part := range strings.SplitSeq(body, "\n") {
					if part != "" {
						fmt.Fprintf(&text, "%x;ext=%s\r\n%s\r\n", len(part), strings.Repeat("e", rng.IntN(90)), part)
					}
				}
				text.WriteString("0\r\n\r\n")
			}
		}
		over(t, reading, func(t *testing.T, dial func() net.Conn) {
			got := asked(t, dial(), text.String(), n, func() int { return 1 + rng.IntN(300) })
			for _, status := range got {
				if status != http.StatusOK {
					t.Fatalf("%q: answers %v, want 200", text.String(), got)
				}
			}
			if len(got) != n {
				t.Fatalf("%q: %d answers, want %d", text.String(), len(got), n)
			}
		})
	}
}
