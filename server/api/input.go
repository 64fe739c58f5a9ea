package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/doorlab/doorlab/server/fail"
)

// readParams checks headers, then the query.
func (c *call) readParams() (err error) {
	c.query, err = c.op.ReadParams(c.r.Header, c.r.URL.RawQuery)
	return err
}

// taking makes a handler that takes the request's decoded body; checking it comes last.
func taking[T any](h func(c *call, body T) (any, error)) handler {
	return func(c *call) (any, error) {
		var body T
		if err := c.readBody(&body); err != nil {
			return nil, err
		}
		return h(c, body)
	}
}

// takingFew is taking for bodies that repeat: one that has passed is not checked and decoded again. T must not contain
// pointers.
func takingFew[T any](h func(c *call, body T) (any, error)) handler {
	var passed few[T]
	return func(c *call) (any, error) {
		raw, err := c.readAll(c.op.Body.Max)
		if err != nil {
			return nil, err
		}
		kinds := c.r.Header.Values("Content-Type")
		plain := len(kinds) == 1 && kinds[0] == typeJSON && c.r.Header["Content-Encoding"] == nil
		if body, ok := passed.get(raw); ok && plain {
			return h(c, body)
		}
		var body T
		if err := c.decodeBody(raw, &body); err != nil {
			return nil, err
		}
		if plain {
			passed.put(raw, body)
		}
		return h(c, body)
	}
}

// few are short bodies that have passed the checks. The checks depend on nothing else.
type few[T any] struct {
	mu sync.RWMutex
	of map[string]T
}

// Limits of few; when it is full it starts over.
const (
	mostFew = 256
	longFew = 256 // bytes
)

func (f *few[T]) get(raw []byte) (v T, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	v, ok = f.of[string(raw)]
	return v, ok
}

func (f *few[T]) put(raw []byte, v T) {
	if len(raw) > longFew {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil || len(f.of) >= mostFew {
		f.of = map[string]T{}
	}
	f.of[string(raw)] = v
}

// readBody reads, checks and decodes the body into v. For an absent optional body v keeps its zero value.
func (c *call) readBody(v any) error {
	raw, err := c.readAll(c.op.Body.Max)
	if err != nil {
		return err
	}
	return c.decodeBody(raw, v)
}

func (c *call) decodeBody(raw []byte, v any) error {
	if len(raw) == 0 && !c.op.Body.Required {
		return nil
	}
	if len(c.r.Header.Values("Content-Type")) > 1 {
		return fail.New(fail.InvalidBody, "Content-Type is given more than once")
	}
	if coding := strings.Join(c.r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		return fail.New(fail.InvalidBody, "the body must not be compressed or encoded; leave out Content-Encoding")
	}
	return c.op.Body.Decode(raw, c.r.Header.Get("Content-Type"), v)
}

// maxAtOnce is how much is allocated for a body on the strength of its Content-Length.
const maxAtOnce = 4 << 10

// binarySize is a limit as people read it: 64 KiB, 8 MiB.
func binarySize(n int64) string {
	if n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MiB"
	}
	return strconv.FormatInt(n>>10, 10) + " KiB"
}

func (c *call) readAll(limit int64) ([]byte, error) {
	tooLarge := fail.New(fail.BodyTooLarge, "the body is larger than "+binarySize(limit), "maxBytes", limit)
	if c.r.ContentLength > limit {
		return nil, tooLarge
	}
	from := http.MaxBytesReader(c.w, c.r.Body, limit)
	var raw []byte
	var err error
	if n := c.r.ContentLength; n > 0 && n <= maxAtOnce {
		raw = make([]byte, n)
		_, err = io.ReadFull(from, raw)
	} else {
		raw, err = io.ReadAll(from)
	}
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fail.New(fail.InvalidBody, "the body took too long to arrive: at most 10 s, an import's 30 s")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fail.New(fail.InvalidBody, "the body ended before it was complete")
	case err != nil:
		return nil, fail.New(fail.InvalidBody, "the body could not be read; look at its chunks")
	}
	c.seen.body = raw
	return raw, nil
}
