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

// Write implements net.Conn. A refusal of net/http's own becomes one in the form of the API, so that callers can decode
// every answer in the same way.
func (c *framed) Write(p []byte) (int, error) {
	line, rest, _ := bytes.Cut(p, []byte("\r\n"))
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) || !bytes.HasPrefix(p[len(line):], own) {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(refusal(line, rest[len(own)-2:])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refusal is the API's answer to a request that isn't HTTP as we read it. line is net/http's status line, text its
// explanation.
func refusal(line, text []byte) []byte {
	why := "the request can't be read as HTTP"
	switch _, detail, ok := strings.Cut(string(text), ": "); {
	case bytes.HasPrefix(line, []byte("HTTP/1.1 431")):
		why = fmt.Sprintf("the headers of the request are larger than %d KiB", maxHeader>>10)
	case ok:
		why += ": " + detail
	case bytes.HasPrefix(line, []byte("HTTP/1.1 501")):
		why += ": the only transfer encoding is chunked"
	default:
		why += ": look at its first line, at escapes (%xx) in its path, and at its headers"
	}
	body := invalid(why)
	return fmt.Appendf(nil, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n%s",
		len(body), id.Request(), body)
}

// invalid is the body of an answer to a request that can't be read.
func invalid(why string) []byte {
	body, err := json.Marshal(struct {
		Error      string `json:"error"`
		Message    string `json:"message"`
		StatusCode int    `json:"statusCode"`
	}{"invalid_body", why, http.StatusBadRequest})
	if err != nil {
		panic(err) // strings and a number
	}
	return body
}
