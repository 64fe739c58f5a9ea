package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/internal/report"
)

// What a report shows of a step that didn't pass.
const (
	tracedCalls = 6    // the last requests of its last try
	tracedBytes = 4000 // of a body
	tracedItems = 20   // of a list
)

// trace keeps the last requests of a step's try, for the report of a step that
// doesn't pass. A step inside another one has its own.
type trace struct {
	mu    sync.Mutex
	calls []traced
}

type traced struct {
	method, url string
	body        []byte
	answer      *answer // nil: err
	err         error
	made        *report.Exchange // by a load, which has masked it; the rest is empty then
}

type traceKey struct{}

// on makes requests with the context known to the trace.
func (t *trace) on(ctx context.Context) context.Context { return context.WithValue(ctx, traceKey{}, t) }

// traceCall tells the step that a request belongs to of it.
func traceCall(ctx context.Context, method, url string, body []byte, a *answer, err error) {
	traceKeep(ctx, traced{method: method, url: url, body: body, answer: a, err: err})
}

// traceLoad tells the step of requests that a load has chosen.
func traceLoad(ctx context.Context, chosen []report.Exchange) {
	for i := range chosen {
		traceKeep(ctx, traced{made: &chosen[i]})
	}
}

func traceKeep(ctx context.Context, c traced) {
	t, _ := ctx.Value(traceKey{}).(*trace)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.calls) == tracedCalls {
		t.calls = slices.Delete(t.calls, 0, 1)
	}
	t.calls = append(t.calls, c)
}

// again forgets the try before.
func (t *trace) again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = nil
}

// shown are the requests as a report may show them.
func (t *trace) shown(m *mask) (out []report.Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.made != nil {
			out = append(out, *c.made)
			continue
		}
		x := report.Exchange{Method: c.method, URL: m.secret(c.url), Request: m.body(c.body)}
		if c.err != nil {
			x.Error = m.secret(c.err.Error())
		}
		if c.answer != nil {
			x.Status, x.Answer, x.Ms = c.answer.Status, m.body(c.answer.Raw), c.answer.Ms
			for _, name := range []string{"X-Request-Id", "Idempotent-Replayed", "Retry-After", "X-Place-Kind"} {
				if v := c.answer.Headers[name]; v != "" {
					if x.Headers == nil {
						x.Headers = map[string]string{}
					}
					x.Headers[name] = v
				}
			}
		}
		out = append(out, x)
	}
	return out
}

// evidence are the lists in a step's result: what its expectations counted.
func (m *mask) evidence(out fields) (shown []report.Evidence) {
	for _, name := range keysOf(out) {
		list, ok := out[name].([]any)
		if !ok || name == "it" || name == "answers" || name == "statuses" { // answers stand with their requests
			continue
		}
		e := report.Evidence{Name: name, Count: len(list), Items: []string{}}
		for _, item := range list[:min(len(list), tracedItems)] {
			raw, err := json.Marshal(item)
			if err != nil {
				continue
			}
			e.Items = append(e.Items, m.body(raw))
		}
		shown = append(shown, e)
	}
	return shown
}

// body masks a body as a whole and cuts it then: half a token would be one, too.
func (m *mask) body(raw []byte) string {
	text := m.secret(string(raw))
	if len(text) > tracedBytes {
		return text[:tracedBytes] + " … (cut)"
	}
	return text
}

// secret masks by the names of fields, too: a phone of any country is one.
func (m *mask) secret(text string) string { return m.text(inbox.Mask(text)) }
