package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// call is one request in progress.
type call struct {
	api *api
	op  *openapi.Operation
	w   http.ResponseWriter
	r   *http.Request
	id  string // X-Request-Id

	who   auth.Principal
	door  place.Door    // x-resource door
	board place.Board   // x-resource board
	query openapi.Query // checked; headers too
	html  bool          // answer with a page
	token string        // of the entry link that was pressed
	seen  seen

	began  time.Duration
	came   time.Time // for the inbox: domain time
	status int
	code   string
}

// list is a success with a total.
type list struct {
	items any
	total int
}

type success struct {
	Success bool `json:"success"`
	Data    any  `json:"data"`
}

type page struct {
	Success bool `json:"success"`
	Data    any  `json:"data"`
	Total   int  `json:"total"`
}

// answer is any response that is not an envelope.
type answer struct {
	status  int
	kind    string // content type
	body    []byte
	replays bool // Idempotent-Replayed
}

const (
	typeJSON = "application/json"
	typeHTML = "text/html; charset=utf-8"
)

// serve runs an operation.
func (a *api) serve(op *openapi.Operation, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{api: a, op: op, w: w, r: r, id: requestID(r), began: clock.Mono(), came: a.cfg.Inbox.Now(), html: op.Page && wantsPage(r, op)}
		head := w.Header()
		head.Set("X-Request-Id", c.id)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Cache-Control", "no-store")
		if op.Successor != "" {
			head.Set("Deprecation", deprecated)
			head.Set("Link", "<"+c.fill(op.Successor)+`>; rel="successor-version"`)
		}
		defer c.finish()
		v, err := c.run(h)
		if err != nil {
			c.fail(err)
			return
		}
		c.succeed(v)
	}
}

// deprecated is the day the single device path set was introduced (RFC 9745).
var deprecated = "@" + strconv.FormatInt(time.Date(2026, 9, 28, 0, 0, 0, 0, time.UTC).Unix(), 10)

// run goes through the checks in their order and then calls the handler, which reads the body.
func (c *call) run(h handler) (any, error) {
	if c.away() {
		return nil, fail.New(fail.StorageUnavailable, "the server is restarting; try again")
	}
	for _, step := range []func() error{c.gate, c.authenticate, c.authorize, c.find, c.readParams} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return h(c)
}

// finish turns a panic into a 500 and calls the observer.
func (c *call) finish() {
	if p := recover(); p != nil {
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		c.api.log(c, slog.LevelError, "panic", "panic", p, "stack", string(debug.Stack()))
		if c.status == 0 {
			c.write(failureOf(internalError(), c.op.Legacy), http.StatusInternalServerError)
			c.code = fail.InternalError
		}
	}
	if o := c.api.cfg.Observe; o != nil {
		o(Observation{Route: c.op.Path, Method: c.op.Method, Status: c.status, Code: c.code, Elapsed: clock.Mono() - c.began, Context: c.r.Context()})
	}
	c.api.log(c, slog.LevelDebug, "request", "status", c.status, "code", c.code, "took", clock.Mono()-c.began)
}

// log writes a line that names the route, but never the query, a body or a header.
func (a *api) log(c *call, level slog.Level, what string, args ...any) {
	if !a.cfg.Log.Enabled(c.r.Context(), level) {
		return
	}
	a.cfg.Log.Log(c.r.Context(), level, what, append([]any{"request", c.id, "method", c.r.Method, "route", c.op.Path, "place", c.who.PlaceID}, args...)...)
}

func (c *call) succeed(v any) {
	switch v := v.(type) {
	case answer:
		if v.replays {
			c.w.Header().Set("Idempotent-Replayed", "true")
		}
		c.send(v.status, v.kind, v.body)
	case list:
		c.write(page{true, v.items, v.total}, http.StatusOK)
	default:
		c.write(success{true, v}, http.StatusOK)
	}
}

func (c *call) fail(err error) {
	e := c.api.errorOf(c, err)
	c.code = e.Code
	errorHeaders(c.w.Header(), e, c.op.Scope)
	if c.html {
		c.failPage(e)
		return
	}
	c.auditRefusal(e)
	c.write(failureOf(e, c.op.Legacy), e.Status())
}

func (c *call) write(v any, status int) { c.send(status, typeJSON, encode(v)) }

func (c *call) send(status int, kind string, body []byte) {
	c.status, c.seen.answer = status, body
	h := c.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.record() // before the answer: the caller may ask for the entry at once
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(body) // a caller that hung up is not our fault
	}
}

// encode writes JSON without HTML escapes and without a trailing newline.
func encode(v any) []byte {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.text.Reset()
	if err := e.json.Encode(v); err != nil {
		panic("api: " + err.Error()) // our own types always encode
	}
	return bytes.Clone(bytes.TrimSuffix(e.text.Bytes(), []byte("\n")))
}

// encoder is pooled: its buffer has already grown to the size of an answer.
type encoder struct {
	text bytes.Buffer
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(&e.text)
	e.json.SetEscapeHTML(false)
	return e
}}

// path is a parameter of the path.
func (c *call) path(name string) string {
	v := chi.URLParam(c.r, name)
	if c.r.URL.RawPath != "" {
		if u, err := url.PathUnescape(v); err == nil {
			return u
		}
	}
	return v
}

// fill puts the path's own parameters into a template.
func (c *call) fill(template string) string {
	if strings.Contains(template, "{id}") {
		return strings.Replace(template, "{id}", url.PathEscape(c.path("id")), 1)
	}
	return template
}

const harmless = "-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// requestID is the caller's own if it is harmless, else a new one.
func requestID(r *http.Request) string {
	own := r.Header.Get("X-Request-Id")
	if len(own) >= 8 && len(own) <= 64 && strings.Trim(own, harmless) == "" {
		return own
	}
	return id.Request()
}
