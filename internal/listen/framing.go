package listen

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
)

// Serve is s.Serve, but rejects requests with both Content-Length and Transfer-Encoding, whose length is ambiguous. A
// proxy in front that goes by the other header would pass one caller's bytes on as the start of another's request.
// net/http hides the Content-Length, so this reads the bytes itself.
func Serve(s *http.Server, l net.Listener) error {
	return s.Serve(framedListener{l})
}

type framedListener struct{ net.Listener }

// Accept implements net.Listener.
func (l framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framed{Conn: c}, nil
}

// framed is a connection whose requests are tracked as they are read.
type framed struct {
	net.Conn
	f         framing
	ambiguous atomic.Bool
}

// Read implements net.Conn.
func (c *framed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.ambiguous.Load() && !c.f.read(p[:n]) {
		c.ambiguous.Store(true)
	}
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) && plain.Conn != nil { // net/http would answer this, but doesn't see a TLS connection here
		_, _ = io.WriteString(plain.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nThis listener speaks https.\n")
	}
	return n, err
}

type framedKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, framedKey{}, c)
}

// ambiguous reports whether some request on the connection so far has an ambiguous length.
func ambiguous(r *http.Request) bool {
	c, ok := r.Context().Value(framedKey{}).(*framed)
	return ok && c.ambiguous.Load()
}

// framing tracks requests: a head, then a body of known length or in chunks.
type framing struct {
	state   int
	line    []byte // so far; only the start of a long one
	begun   bool   // the head has a first line
	length  int64  // of the body, or what is left of it or of a chunk; -1 = unknown
	chunked bool
}

const (
	inHead = iota
	inBody
	inSize // of a chunk
	inChunk
	afterChunk
	inTrailer
)

// longest is how much of a line is needed: a header's name, a length.
const longest = 64

// read processes the next bytes; false if requests can't be delimited, or can be in two ways.
func (f *framing) read(p []byte) bool {
	for len(p) > 0 {
		if f.state == inBody || f.state == inChunk {
			n := min(int64(len(p)), f.length)
			f.length -= n
			p = p[n:]
			switch {
			case f.length > 0:
			case f.state == inBody:
				f.state = inHead
			default:
				f.state = afterChunk
			}
			continue
		}
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		f.line = append(f.line, part[:min(len(part), longest-len(f.line))]...)
		if i < 0 {
			return true
		}
		p = p[i+1:]
		line := bytes.TrimSuffix(f.line, []byte("\r"))
		f.line = f.line[:0]
		if !f.next(line) {
			return false
		}
	}
	return true
}

// next processes a line.
func (f *framing) next(line []byte) bool {
	switch f.state {
	case inHead:
		return f.head(line)
	case inSize:
		digits, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(digits)), 16, 63)
		if f.length, f.state = n, inChunk; n == 0 {
			f.state = inTrailer
		}
		return err == nil && n >= 0
	case afterChunk:
		f.state = inSize
		return len(line) == 0
	default:
		if len(line) == 0 {
			*f = framing{line: f.line}
		}
		return true
	}
}

func (f *framing) head(line []byte) bool {
	switch {
	case !f.begun:
		f.begun, f.length, f.chunked = len(line) > 0, -1, false // empty lines before a request are skipped
		return true
	case len(line) == 0:
		f.begun = false
		switch {
		case f.chunked:
			f.state = inSize
		case f.length > 0:
			f.state = inBody
		}
		return true
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		f.chunked = true
	case bytes.EqualFold(name, []byte("Content-Length")):
		n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		if err != nil || n < 0 || f.length >= 0 && f.length != n {
			return false // net/http refuses it, too
		}
		f.length = n
	}
	return !f.chunked || f.length < 0
}
