package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
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

// String describes an answer in a test's messages; it works for nil, too.
func (a *Answer) String() string {
	if a == nil {
		return "no answer"
	}
	return fmt.Sprintf("%d %.300s", a.Status, a.Body)
}

// maxBody bounds an answer; History has no limit.
const maxBody = 64 << 20

// Request is one attempt, with a bearer token, an idempotency key and a JSON body ("" and nil = none). It has no
// GetBody, or Go's transport would by itself resend a POST with an Idempotency-Key when a kept-alive connection breaks.
func Request(ctx context.Context, method string, to *url.URL, token, key string, body []byte) *http.Request {
	header := http.Header{}
	if len(body) > 0 {
		header["Content-Type"] = []string{"application/json"}
	}
	if token != "" {
		header["Authorization"] = []string{"Bearer " + token}
	}
	if key != "" {
		header["Idempotency-Key"] = []string{key}
	}
	return request(ctx, method, to, header, body)
}

func request(ctx context.Context, method string, to *url.URL, header http.Header, body []byte) *http.Request {
	req := &http.Request{Method: method, URL: to, Host: to.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header}
	if body != nil || header.Get("Idempotency-Key") != "" {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if header.Get("Transfer-Encoding") == "chunked" { // Go's transport ignores the header and asks for the length
		req.ContentLength = -1
	}
	return req.WithContext(ctx)
}

// Send makes one attempt; it never sends anything twice. header may be nil, as may body for none. Errors:
// ErrUnreachable if there is no complete answer, or an invalid address.
func Send(ctx context.Context, hc *http.Client, method, target string, header http.Header, body []byte) (*Answer, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	if header == nil {
		header = http.Header{}
	}
	return send(hc, request(ctx, method, to, header, body))
}

func send(hc *http.Client, req *http.Request) (*Answer, error) {
	start := clock.Mono()
	resp, err := hc.Do(req)
	if err != nil {
		return nil, unanswered{req, err}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := Body(resp, maxBody+1)
	if err == nil && len(raw) > maxBody {
		err = fmt.Errorf("the answer is longer than %d bytes", maxBody)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s %s: %w", ErrUnreachable, req.Method, req.URL.Path, err)
	}
	return &Answer{resp.StatusCode, resp.Header, raw, clock.Mono() - start}, nil
}

// unanswered is a request to which no answer began.
type unanswered struct {
	req *http.Request
	err error // net/http's
}

// Error says where and why, without the words in which net/http wraps that.
func (u unanswered) Error() string {
	why := u.err
	if e, ok := errors.AsType[*url.Error](why); ok {
		why = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](why); ok && e.Op == "dial" {
		why = e.Err
	}
	text := why.Error()
	if e, ok := errors.AsType[*os.SyscallError](why); ok {
		text = e.Err.Error()
	}
	return fmt.Sprintf("%s: %s %s: %s", ErrUnreachable, u.req.Method, strings.TrimSuffix(u.req.URL.Redacted(), "?"), text)
}

// Unwrap are ErrUnreachable and the cause.
func (u unanswered) Unwrap() []error { return []error{ErrUnreachable, u.err} }

// wholeAtOnce is how much is allocated for a body on the strength of its Content-Length.
const wholeAtOnce = 1 << 20

// Body reads an answer's body to its end, or to most bytes. The caller closes it.
func Body(resp *http.Response, most int64) ([]byte, error) {
	if n := resp.ContentLength; n > 0 && n <= min(most, wholeAtOnce) && resp.Body != http.NoBody {
		raw := make([]byte, n)
		got, err := io.ReadFull(resp.Body, raw)
		if errors.Is(err, io.EOF) { // nothing came: as for a HEAD. A body that broke off is an ErrUnexpectedEOF
			err = nil
		}
		return raw[:got], err
	}
	return io.ReadAll(io.LimitReader(resp.Body, most))
}
