// Package spans reports door commands to OpenTelemetry: from the HTTP request to the relay that moved. The server feeds
// it from its one trace hook; nothing here runs unless a tracer is configured. Attributes carry ids and outcomes, never
// phones, keys or tokens.
package spans

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/command"
)

// Tracer makes the spans. Make one with OTLP or New, and end it with Stop.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	base     time.Time // the machine's time at Mono 0

	mu     sync.Mutex
	relays map[string]time.Time // for each traced command in progress, when the relay moved; zero before
}

// OTLP sends spans to a collector by OTLP over HTTP, e.g. http://127.0.0.1:4318. Sending never delays a request; what
// the collector doesn't accept is dropped and logged. It returns an error for an invalid address.
func OTLP(ctx context.Context, collector string, log *slog.Logger) (*Tracer, error) {
	u, err := url.Parse(collector)
	if err != nil {
		return nil, err
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("must be a URL like http://127.0.0.1:4318")
	}
	e, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.JoinPath(path(u)).String()))
	if err != nil {
		return nil, err
	}
	if log != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("the collector didn't accept spans", "error", err) }))
	}
	return New(sdktrace.NewBatchSpanProcessor(e)), nil
}

// path is where collectors accept traces, unless the address has a path.
func path(u *url.URL) string {
	if strings.Trim(u.Path, "/") != "" {
		return ""
	}
	return "/v1/traces"
}

// New hands finished spans to a processor.
func New(p sdktrace.SpanProcessor) *Tracer {
	who := resource.NewSchemaless(attribute.String("service.name", "doorlab"))
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(p), sdktrace.WithResource(who))
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/doorlab/doorlab/server"), base: clock.WallNow().Add(-clock.Mono()), relays: map[string]time.Time{}}
}

// Stop sends what is left, within ctx's limit.
func (t *Tracer) Stop(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// request is a request in progress. The command's goroutine writes settled before the
// handler gets its answer.
type request struct {
	ctx  context.Context // with its span
	span trace.Span
	from time.Time

	mu      sync.Mutex
	settled time.Time // of its command
}

type inContext struct{}

// Handler begins a span for each request, under the caller's traceparent if it sent one.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{from: clock.WallNow()}
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, q.span = t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(q.from))
		q.ctx = ctx
		defer t.answered(q)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, inContext{}, q)))
	})
}

// answered ends a request's span.
func (t *Tracer) answered(q *request) {
	q.mu.Lock()
	settled := q.settled
	q.mu.Unlock()
	now := clock.WallNow()
	if !settled.IsZero() {
		t.span(q.ctx, "answer", settled, now)
	}
	q.span.End(trace.WithTimestamp(now))
}

// Request names a request's span once its route is known; routes contain no ids.
func (t *Tracer) Request(ctx context.Context, route, method string, status int, code string) {
	q, _ := ctx.Value(inContext{}).(*request)
	if q == nil {
		return
	}
	q.span.SetName(method + " " + route)
	q.span.SetAttributes(attribute.String("http.route", route), attribute.String("http.request.method", method), attribute.Int("http.response.status_code", status))
	if code != "" {
		q.span.SetAttributes(attribute.String("error.type", code))
	}
}

// Caller is the function for command.Config.Caller: the request behind a command; nil if it isn't traced, as with phone
// calls.
func (t *Tracer) Caller(ctx context.Context) any {
	if q, _ := ctx.Value(inContext{}).(*request); q != nil && q.span.IsRecording() {
		return q
	}
	return nil
}

// Command is called at each point of a command. It makes the spans when the outcome is committed, with the times from
// the trail.
func (t *Tracer) Command(p command.Point, c *command.Trail) {
	q, _ := c.Caller.(*request)
	if q == nil {
		return
	}
	switch p {
	case command.AfterClaim:
		t.expect(c.Intent.CommandID)
	case command.AfterCommit, command.Withdrawn:
		t.story(q, c)
	}
}

// story makes a command's spans, one after the other.
func (t *Tracer) story(q *request, c *command.Trail) {
	q.span.SetAttributes(attribute.String("doorlab.command_id", c.Intent.CommandID), attribute.String("doorlab.place_id", c.Intent.PlaceID),
		attribute.String("doorlab.door_id", c.Intent.DoorID), attribute.String("doorlab.command", c.Intent.Command), attribute.String("doorlab.outcome", string(c.Outcome)))
	moved := t.moved(c.Intent.CommandID)
	t.span(q.ctx, "decide", q.from, t.at(c.Decided))
	last := c.Decided
	for _, s := range []struct {
		name string
		at   time.Duration
	}{{"claim", c.Committed}, {"publish", c.Published}, {"board", c.Reported}, {"settle", c.Settled}} {
		if s.at == 0 {
			continue
		}
		ctx := t.span(q.ctx, s.name, t.at(last), t.at(s.at))
		if s.name == "board" && !moved.IsZero() {
			moved = within(t.at(last), moved, t.at(s.at))
			t.span(ctx, "relay", t.at(last), moved)
			t.span(ctx, "report", moved, t.at(s.at))
		}
		last = s.at
	}
	q.mu.Lock()
	q.settled = t.at(last)
	q.mu.Unlock()
}

// within moves a time into a span. The relay's comes from the wall clock, the others from the monotonic one, and the two
// can be read a moment apart.
func within(from, at, to time.Time) time.Time {
	switch {
	case at.Before(from):
		return from
	case at.After(to):
		return to
	}
	return at
}

// span records a finished span under the span of ctx.
func (t *Tracer) span(ctx context.Context, name string, from, to time.Time) context.Context {
	if to.Before(from) {
		to = from
	}
	ctx, s := t.tracer.Start(ctx, name, trace.WithTimestamp(from))
	s.End(trace.WithTimestamp(to))
	return ctx
}

func (t *Tracer) at(mono time.Duration) time.Time { return t.base.Add(mono) }
