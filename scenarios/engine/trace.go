package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/mask"
	"github.com/doorlab/doorlab/internal/report"
)

// What a report shows of a step that didn't pass.
const (
	tracedCalls = 6    // the last requests of its last try
	tracedBytes = 4000 // of a body
	tracedItems = 20   // of a list
)

// trace keeps the last requests of a step's latest try, for the report of a step that doesn't pass. A nested step has
// its own.
type trace struct {
	mu    sync.Mutex
	calls []traced
}

type traced struct {
	method, url string
	body        []byte
	answer      *answer // nil: err
	err         error
	made        *report.Exchange // made, and masked, by a load; then the rest is empty
}

type traceKey struct{}

// on attaches the trace to the context, so that requests made with it are recorded.
func (t *trace) on(ctx context.Context) context.Context { return context.WithValue(ctx, traceKey{}, t) }

// traceCall records a request in the trace of its step.
func traceCall(ctx context.Context, method, url string, body []byte, a *answer, err error) {
	traceKeep(ctx, traced{method: method, url: url, body: body, answer: a, err: err})
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

// again forgets the previous try.
func (t *trace) again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = nil
}

// shown are the requests as a report may show them.
func (t *trace) shown(m *masker) (out []report.Exchange) {
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
			x.Status, x.Answer, x.Ms, x.Headers = c.answer.Status, m.body(c.answer.Raw), c.answer.Ms, telling(c.answer.Headers)
		}
		out = append(out, x)
	}
	return out
}

// telling are the headers that a report shows, nil if there are none.
func telling(all map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"X-Request-Id", "Idempotent-Replayed", "Retry-After", "X-Place-Kind"} {
		if v := all[name]; v != "" {
			out[name] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// evidence are the lists in a step's result: what its expectations counted.
func (m *masker) evidence(out fields) (shown []report.Evidence) {
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

// body masks a complete body and then cuts it: half a token would be a secret, too.
func (m *masker) body(raw []byte) string {
	text := m.secret(string(raw))
	if len(text) > tracedBytes {
		return text[:tracedBytes] + " … (cut)"
	}
	return text
}

// secret masks by field names, too: any country's phone is a secret.
func (m *masker) secret(text string) string { return m.text(mask.Text(text)) }
