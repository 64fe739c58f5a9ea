package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Answer is one HTTP answer, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration // monotonic, from the request to the last byte
}

// String is what a test says of an answer; of none, too.
func (a *Answer) String() string {
	if a == nil {
		return "no answer"
	}
	return fmt.Sprintf("%d %.300s", a.Status, a.Body)
}

// maxBody bounds an answer; History has no bound.
const maxBody = 64 << 20

// once keeps Go's transport from sending a request again by itself, which it
// does with a POST that carries an Idempotency-Key when a kept connection breaks.
type once struct{ io.Reader }

func (once) Close() error { return nil }

// Send makes one attempt; it never sends anything twice. header may be nil, body
// nil for none. Errors: ErrUnreachable when there is no whole answer, or of the
// address.
func Send(ctx context.Context, hc *http.Client, method, target string, header http.Header, body []byte) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	if body != nil || req.Header.Get("Idempotency-Key") != "" {
		req.Body, req.ContentLength = once{bytes.NewReader(body)}, int64(len(body))
	}
	start := clock.Mono()
	resp, err := hc.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err == nil && len(raw) > maxBody {
		err = fmt.Errorf("the answer is longer than %d bytes", maxBody)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s %s: %w", ErrUnreachable, method, req.URL.Path, err)
	}
	return &Answer{resp.StatusCode, resp.Header, raw, clock.Mono() - start}, nil
}
