package scenario

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/contract"
)

// client speaks the public API: keys become tokens, every attempt is seen.
type client struct {
	base    string
	http    *http.Client
	local   bool // a loopback target: exchanges may come from 127.x.y.z
	domain  func() time.Time
	promise *contract.Contract // of the target; nil = answers are not checked

	mu     sync.Mutex
	tokens map[string]*tokenSlot
	used   int // exchanges made, picks the source address
}

type tokenSlot struct {
	mu    sync.Mutex
	token string
	until time.Time // domain time
}

// answer is one HTTP answer.
type answer struct {
	Status  int
	Raw     []byte
	Body    any
	Headers map[string]string
	Ms      float64
}

// field reads a top-level field of the body.
func (a *answer) field(name string) any {
	m, _ := a.Body.(map[string]any)
	return m[name]
}

func (a *answer) text(path ...string) string {
	var v any = a.Body
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	s, _ := v.(string)
	return s
}

// short says an answer in one line.
func (a *answer) short() string {
	return fmt.Sprintf("%d %s", a.Status, brief(string(bytes.TrimSpace(a.Raw)), 240))
}

const maxBody = 64 << 20

// errUnreachable is the target's own silence: connection refused, no answer.
type errUnreachable struct{ err error }

func (e *errUnreachable) Error() string { return e.err.Error() }
func (e *errUnreachable) Unwrap() error { return e.err }

func newClient(base string) *client {
	c := &client{base: base, tokens: map[string]*tokenSlot{}, http: &http.Client{
		Transport:     transport(nil),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if u, err := url.Parse(base); err == nil {
		ip := net.ParseIP(u.Hostname())
		c.local = u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() && ip.To4() != nil
	}
	return c
}

func transport(local net.Addr) *http.Transport {
	d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: local}
	return &http.Transport{DialContext: d.DialContext, MaxIdleConns: 512, MaxIdleConnsPerHost: 512, IdleConnTimeout: 30 * time.Second}
}

// once keeps Go's transport from resending a POST by itself.
type once struct{ io.Reader }

func (once) Close() error { return nil }

// send makes one attempt.
func send(ctx context.Context, hc *http.Client, method, target string, header http.Header, body []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, err
	}
	if body != nil || method == http.MethodPost {
		req.Body, req.ContentLength = once{bytes.NewReader(body)}, int64(len(body))
	}
	if header != nil {
		req.Header = header
	}
	start := clock.Mono()
	resp, err := hc.Do(req)
	if err != nil {
		return nil, &errUnreachable{err}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, &errUnreachable{err}
	}
	a := &answer{Status: resp.StatusCode, Raw: raw, Headers: map[string]string{}, Ms: float64((clock.Mono() - start).Microseconds()) / 1000}
	for k := range resp.Header {
		a.Headers[k] = resp.Header.Get(k)
	}
	_ = json.Unmarshal(raw, &a.Body)
	return a, nil
}

// read asks the target for its documents: every answer is held against them.
func (c *client) read(ctx context.Context) {
	c.promise = contract.Read(func(path string) ([]byte, error) {
		a, err := send(ctx, c.http, http.MethodGet, c.base+path, nil, nil)
		if err == nil && a.Status != http.StatusOK {
			err = errors.New(a.short())
		}
		if err != nil {
			return nil, err
		}
		return a.Raw, nil
	})
}

// slot finds the token of a key.
func (c *client) slot(key string) *tokenSlot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.tokens[key]
	if s == nil {
		s = &tokenSlot{}
		c.tokens[key] = s
	}
	return s
}

// token returns a live token of a key, exchanging it when needed.
func (c *client) token(ctx context.Context, key string) (string, error) {
	s := c.slot(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && c.domain().Before(s.until) {
		return s.token, nil
	}
	for try := 0; ; try++ {
		a, err := c.exchange(ctx, key)
		if err != nil {
			return "", err
		}
		if a.Status == http.StatusTooManyRequests && try < 3 {
			if err := sleep(ctx, retryAfter(a)); err != nil {
				return "", err
			}
			continue
		}
		if a.Status != http.StatusOK {
			return "", fmt.Errorf("token exchange: %s", a.short())
		}
		ttl, _ := a.field("data").(map[string]any)["expiresIn"].(float64)
		s.token = a.text("data", "accessToken")
		s.until = c.domain().Add(time.Duration(ttl)*time.Second - time.Minute)
		return s.token, nil
	}
}

func retryAfter(a *answer) time.Duration {
	n, err := strconv.Atoi(a.Headers["Retry-After"])
	if err != nil || n < 1 || n > 61 {
		n = 5
	}
	return time.Duration(n) * time.Second
}

// forget drops a token that was refused.
func (c *client) forget(key, token string) {
	s := c.slot(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == token {
		s.token = ""
	}
}

// exchange makes one exchange. The limit is 30 a minute and address, so on a
// loopback target every 20 come from an address of their own.
func (c *client) exchange(ctx context.Context, key string) (*answer, error) {
	hc := c.http
	if c.local {
		c.mu.Lock()
		n := c.used / 20
		c.used++
		c.mu.Unlock()
		t := transport(&net.TCPAddr{IP: net.IPv4(127, 77, byte(n>>8), byte(n))})
		t.DisableKeepAlives = true
		hc = &http.Client{Transport: t}
	}
	body, _ := json.Marshal(map[string]string{"key": key})
	a, err := send(ctx, hc, http.MethodPost, c.base+"/core/v1/auth/apikey/token", jsonHeader(), body)
	if err != nil && c.local && errors.Is(err, errAddr) {
		c.local = false
		return c.exchange(ctx, key)
	}
	return a, err
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

func sleep(ctx context.Context, d time.Duration) error {
	over := make(chan struct{})
	t := clock.WallAfter(d, func() { close(over) })
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-over:
		return nil
	}
}

func hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:12])
}
