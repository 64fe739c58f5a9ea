package listen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/doorlab/doorlab/internal/id"
)

// own is how net/http's own answers go on after the status line: to a request that it can't read, it writes plain text
// and never calls the handler.
var own = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// isOwn reports whether net/http wrote this by itself: plain text, or the 417 that it answers to an Expect other than
// 100-continue. No handler answers 417.
func isOwn(line, next []byte) bool {
	return bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && bytes.HasPrefix(next, own) || unexpected(line) && len(next) > 0
}

func unexpected(line []byte) bool {
	return bytes.HasPrefix(line, []byte("HTTP/1.")) && bytes.HasSuffix(line, []byte(" 417 Expectation Failed"))
}

// Write implements net.Conn. A refusal of net/http's own becomes one in the form of the API, so that callers can decode
// every answer in the same way.
func (c *framed) Write(p []byte) (int, error) {
	line, _, _ := bytes.Cut(p, []byte("\r\n"))
	if !isOwn(line, p[len(line):]) {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(refusal(line, bytes.TrimPrefix(p[len(line):], own))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refusal is the API's answer to a request that isn't HTTP as we read it. line is net/http's status line, text its
// explanation.
func refusal(line, text []byte) []byte {
	why := "the request can't be read as HTTP"
	switch _, detail, ok := strings.Cut(string(text), ": "); {
	case unexpected(line):
		why = "the only Expect that is supported is 100-continue"
	case bytes.HasPrefix(line, []byte("HTTP/1.1 431")):
		why = fmt.Sprintf("the headers of the request are larger than %d KiB", maxHeader>>10)
	case ok:
		why += ": " + detail
	case bytes.HasPrefix(line, []byte("HTTP/1.1 501")):
		why += ": the only transfer encoding is chunked"
	default:
		why += ": look at its first line, at escapes (%xx) in its path, and at its headers"
	}
	body := failure(http.StatusBadRequest, "invalid_body", why)
	return fmt.Appendf(nil, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n%s",
		len(body), id.Request(), body)
}

// refuse answers a request that no handler of the API sees.
func refuse(w http.ResponseWriter, status int, code, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", id.Request())
	w.WriteHeader(status)
	_, _ = w.Write(failure(status, code, why))
}

// failure is the body of such an answer.
func failure(status int, code, why string) []byte {
	body, err := json.Marshal(struct {
		Error      string `json:"error"`
		Message    string `json:"message"`
		StatusCode int    `json:"statusCode"`
	}{code, why, status})
	if err != nil {
		panic(err) // strings and a number
	}
	return body
}
