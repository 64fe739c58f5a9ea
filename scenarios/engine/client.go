package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/internal/loopback"
)

// public is the client for the public API: keys become tokens, and every attempt is recorded.
type public struct {
	base    string
	trust   *tls.Config
	http    *http.Client
	local   bool // a loopback target: exchanges may come from 127.x.y.z
	domain  func() time.Time
	promise *contract.Contract // of the target; nil = answers are not checked

	mu     sync.Mutex
	told   func(q request, from string, sent sending, a *answer) // called after each exchange; nil = not called
	tokens map[string]*client.Token
	used   int // exchanges made, picks the source address
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
	s, _ := a.value(path...).(string)
	return s
}

// value is the value at a path of the body, nil for none.
func (a *answer) value(path ...string) any {
	v := a.Body
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

// short describes an answer in one line.
func (a *answer) short() string {
	if a.Body != nil {
		return fmt.Sprintf("%d %s", a.Status, brief(a.Body, 240))
	}
	return fmt.Sprintf("%d %s", a.Status, brief(string(bytes.TrimSpace(a.Raw)), 240))
}

func newClient(base string, trust *tls.Config) *public {
	c := &public{base: base, trust: trust, tokens: map[string]*client.Token{}, http: &http.Client{
		Transport:     transport(nil, trust),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if u, err := url.Parse(base); err == nil {
		c.local = loopback.Is(u.Hostname())
	}
	return c
}

func transport(source net.IP, trust *tls.Config) *http.Transport {
	d := net.Dialer{Timeout: 5 * time.Second}
	if source != nil {
		loopback.From(&d, source)
	}
	return &http.Transport{DialContext: d.DialContext, TLSClientConfig: trust, MaxIdleConns: 512, MaxIdleConnsPerHost: 512, IdleConnTimeout: 30 * time.Second}
}

// send makes one attempt and decodes the answer.
func send(ctx context.Context, hc *http.Client, method, target string, header http.Header, body []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	got, err := client.Send(ctx, hc, method, target, header, body)
	if err != nil {
		return nil, err
	}
	a := &answer{Status: got.Status, Raw: got.Body, Headers: map[string]string{}, Ms: float64(got.Took.Microseconds()) / 1000}
	for k := range got.Header {
		a.Headers[k] = got.Header.Get(k)
	}
	_ = json.Unmarshal(got.Body, &a.Body) // whatever is not JSON has no fields
	return a, nil
}

// read fetches the target's documents, against which every answer is checked.
func (c *public) read(ctx context.Context) (err error) {
	c.promise, err = contract.Read(func(path string) ([]byte, error) {
		a, err := send(ctx, c.http, http.MethodGet, c.base+path, nil, nil)
		if err == nil && a.Status != http.StatusOK {
			err = errors.New(a.short())
		}
		if err != nil {
			return nil, err
		}
		return a.Raw, nil
	})
	return err
}

// token is a key's token.
func (c *public) token(key string) *client.Token {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tokens[key]
	if t == nil {
		t = &client.Token{Now: c.domain, Ask: func(ctx context.Context) (client.Exchanged, error) { return c.ask(ctx, key) }}
		t.SetPatient(true)
		c.tokens[key] = t
	}
	return t
}

// ask makes one exchange.
func (c *public) ask(ctx context.Context, key string) (x client.Exchanged, err error) {
	a, err := c.exchange(ctx, key)
	if err != nil {
		return x, err
	}
	data, _ := a.field("data").(map[string]any)
	seconds, _ := data["expiresIn"].(float64)
	switch x = (client.Exchanged{Token: a.text("data", "accessToken"), Life: time.Duration(seconds) * time.Second}); {
	case a.Status == http.StatusTooManyRequests:
		return x, &client.Limited{After: client.RetryAfter(a.Headers["Retry-After"])}
	case a.Status >= http.StatusInternalServerError: // the server is restarting
		return x, fmt.Errorf("token exchange: %w: %s", client.ErrUnavailable, a.short())
	case denied(a.Status):
		return x, &deniedKey{a}
	case a.Status != http.StatusOK:
		return x, fmt.Errorf("token exchange: %s", a.short())
	case x.Token == "" || x.Life <= 0:
		return x, fmt.Errorf("token exchange: not a token result: %s", a.short())
	}
	return x, nil
}

// deniedKey is an exchange that the server refused because of the key.
type deniedKey struct{ answer *answer }

func (d *deniedKey) Error() string { return "token exchange: " + d.answer.short() }

// denied reports whether a status says that the caller may not do this.
func denied(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// exchange makes one exchange. The limit is 30 per minute per address, so against a loopback target every 20 exchanges
// use a new address.
func (c *public) exchange(ctx context.Context, key string) (*answer, error) {
	hc, from := c.http, ""
	if c.local {
		c.mu.Lock()
		n := c.used / 20
		c.used++
		c.mu.Unlock()
		addr := loopback.Exchanges.Source(n)
		from = addr.String()
		t := transport(addr, c.trust)
		t.DisableKeepAlives = true
		hc = &http.Client{Transport: t}
	}
	body, _ := json.Marshal(map[string]string{"key": key})
	sent := sending{c.domain().UnixMilli(), clock.WallNow().UnixNano()}
	a, err := send(ctx, hc, http.MethodPost, c.base+exchangePath, jsonHeader(), body)
	traceCall(ctx, http.MethodPost, exchangePath, body, a, err)
	if err == nil && c.told != nil {
		c.told(request{method: http.MethodPost, path: exchangePath, body: body, own: true}, from, sent, a)
	}
	return a, err
}

const exchangePath = "/core/v1/auth/apikey/token"

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

func hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:12])
}
