package loadtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// fake implements the command contract in memory: tokens valid for 900 s, doors, and keys that repeat their answer.
type fake struct {
	now    func() time.Time
	doors  int
	work   func(n int) (status int, reason string) // for the n-th new command; nil: reported
	ahead  time.Duration                           // the server's clock jumped
	scopes string                                  // of the keys, as JSON; "": they are revoked
	most   int                                     // exchanges that the limit allows; 0 = any number
	docs   string                                  // the published document of /device; "" = none

	mu        sync.Mutex
	exchanges []string // remote addresses
	tokens    map[string]time.Time
	requests  int // command requests received
	meaning   map[string]string
	answers   map[string]*result
	order     []string // keys in order of arrival
	breaches  []string
}

type result struct {
	done   chan struct{}
	status int
	body   []byte
}

func newFake() *fake {
	return &fake{now: time.Now, doors: 3, scopes: `"device:door"`, tokens: map[string]time.Time{}, meaning: map[string]string{}, answers: map[string]*result{}}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/openapi.json") && (f.docs == "" || !strings.HasPrefix(r.URL.Path, "/device/")):
		_, _ = w.Write([]byte(`{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{}}`))
	case r.URL.Path == "/device/v1/openapi.json":
		reply(w, 200, f.docs)
	case r.URL.Path == tokenPath:
		f.exchange(w, r)
	case !f.authorized(r):
		reply(w, 401, `{"error":"token_expired","message":"expired","statusCode":401}`)
	case r.URL.Path == "/device/v1/devices" && !strings.Contains(f.scopes, "device:door"):
		reply(w, 403, `{"error":"insufficient_scope","message":"no","statusCode":403}`)
	case r.URL.Path == "/device/v1/devices":
		var rows []map[string]string
		for i := range f.doors {
			rows = append(rows, map[string]string{"id": fmt.Sprintf("dor_%d", i), "kind": "door"})
		}
		body, _ := json.Marshal(map[string]any{"success": true, "data": rows, "total": len(rows)})
		reply(w, 200, string(body))
	default:
		f.command(w, r)
	}
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (f *fake) exchange(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exchanges = append(f.exchanges, r.RemoteAddr)
	if f.scopes == "" {
		reply(w, 401, `{"error":"invalid_api_key","message":"no","statusCode":401}`)
		return
	}
	if f.most > 0 && len(f.exchanges) > f.most {
		w.Header().Set("Retry-After", "60")
		reply(w, 429, `{"error":"rate_limited","message":"no","statusCode":429}`)
		return
	}
	token := fmt.Sprintf("t%d", len(f.exchanges))
	f.tokens[token] = f.now().Add(f.ahead)
	reply(w, 200, fmt.Sprintf(`{"success":true,"data":{"accessToken":%q,"expiresIn":900,"placeId":"plc_1","scopes":[%s]}}`, token, f.scopes))
}

func (f *fake) authorized(r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	issued, ok := f.tokens[token]
	return ok && f.now().Add(f.ahead).Sub(issued) < 900*time.Second
}

func (f *fake) command(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key, what := r.Header.Get("Idempotency-Key"), r.URL.Path+string(body)
	f.mu.Lock()
	f.requests++
	f.order = append(f.order, key)
	if key == "" || len(body) == 0 || r.Header.Get(hitHeader) != "" {
		f.breaches = append(f.breaches, "bad request "+what)
	}
	if known, ok := f.meaning[key]; ok && known != what {
		f.breaches = append(f.breaches, "reused key for "+what)
	}
	res, again := f.answers[key]
	if !again {
		res = &result{done: make(chan struct{})}
		f.answers[key], f.meaning[key] = res, what
	}
	n := len(f.answers) - 1
	f.mu.Unlock()
	if !again {
		f.answer(res, n)
	}
	select {
	case <-res.done:
	case <-r.Context().Done():
		return
	}
	if again {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	reply(w, res.status, string(res.body))
}

func (f *fake) answer(res *result, n int) {
	defer close(res.done)
	status, reason := 200, ""
	if f.work != nil {
		status, reason = f.work(n)
	}
	res.status, res.body = status, fmt.Appendf(nil, `{"success":true,"data":{"commandId":"cmd_%d","outcome":"reported"}}`, n)
	if status != 200 {
		res.body = fmt.Appendf(nil, `{"error":"device_%s","message":"no","statusCode":%d,"details":{"reason":%q,"commandId":"cmd_%d"}}`, reason, status, reason, n)
	}
}

// memory is a transport without a network, for tests in fake time.
type memory struct{ h http.Handler }

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RemoteAddr = "127.0.0.1:1"
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() { m.h.ServeHTTP(w, r); close(done) }()
	select {
	case <-done:
		return w.Result(), nil
	case <-r.Context().Done():
		<-done // the handlers here respect the context
		return nil, r.Context().Err()
	}
}

// bubble returns target and options of a run against f in fake time.
func bubble(f *fake) (Target, Options) {
	return Target{HTTP: "http://127.0.0.1:1", Places: []Place{{PlaceID: "plc_1", Name: "Test", Kind: "live", APIKey: "sacl_x"}}},
		Options{transport: memory{f}, Clock: clock.Real{}, Seed: 1}
}

// log collects events.
type log struct {
	mu     sync.Mutex
	events []history.Event
}

func (l *log) add(e history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *log) of(kind string) (list []history.Event) {
	for _, e := range l.events {
		if e.Kind == kind && e.Key != "" {
			list = append(list, e)
		}
	}
	return list
}

func mustParse(t *testing.T, text string) Plan {
	t.Helper()
	p := must.Get(parse("test.yaml", []byte(text)))(t)
	return p
}

// dropper is a listener whose connections can be cut while requests are in progress.
type dropper struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (d *dropper) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err == nil {
		d.mu.Lock()
		d.conns = append(d.conns, c)
		d.mu.Unlock()
	}
	return c, err
}

func hosts(addresses []string) (list []string) {
	for _, a := range addresses {
		host, _, _ := net.SplitHostPort(a)
		list = append(list, host)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
