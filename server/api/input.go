package api

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/doorlab/doorlab/server/fail"
)

// readParams checks headers, then the query.
func (c *call) readParams() (err error) {
	c.query, err = c.op.ReadParams(c.r.Header, c.r.URL.RawQuery)
	return err
}

// taking is a handler that gets its request's body, the last of the checks.
func taking[T any](h func(c *call, body T) (any, error)) handler {
	return func(c *call) (any, error) {
		var body T
		if err := c.readBody(&body); err != nil {
			return nil, err
		}
		return h(c, body)
	}
}

// readBody reads, checks and decodes the body into v. v is the zero value for
// an absent body that isn't required.
func (c *call) readBody(v any) error {
	b := c.op.Body
	raw, err := c.readAll(b.Max)
	c.seen.body = raw
	if err != nil || len(raw) == 0 && !b.Required {
		return err
	}
	return b.Decode(raw, c.r.Header.Get("Content-Type"), v)
}

func (c *call) readAll(limit int64) ([]byte, error) {
	tooLarge := fail.New(fail.BodyTooLarge, "the body is larger than "+strconv.FormatInt(limit>>10, 10)+" KiB", "maxBytes", limit)
	if c.r.ContentLength > limit {
		return nil, tooLarge
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, fail.New(fail.InvalidBody, "the body could not be read")
	}
	return raw, nil
}
