package judge

import (
	"encoding/json"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// lose adds a request that gets no answer, ms after it was sent.
func (h *builder) lose(method, path string, ms int64) {
	sent := h.wall + 1
	h.wall += ms * 1e6
	h.emit(history.CallEvent(history.CallIn{Method: method, Path: path, PlaceID: "plc_a", SentAt: h.at, SentNs: sent}))
}

// TestUnansweredHours: hours that somebody else changed meanwhile, without an answer, are kept by the next change. A server
// that has started since, or has had its time, changes nothing more.
func TestUnansweredHours(t *testing.T) {
	t.Parallel()
	const path = "/core/v1/places/plc_a"
	hours := func(h *builder, rev int64, week string) {
		h.emit(history.Event{Kind: history.Content, PlaceID: "plc_a", Revision: rev, Op: history.ContentHours, Text: `{"timezone":"Asia/Seoul","week":` + week + `}`})
	}
	for name, c := range map[string]struct {
		before func(h *builder)
		bad    bool
	}{
		"nobody else":                     {func(*builder) {}, true},
		"somebody":                        {func(h *builder) { h.lose("PATCH", path, 100) }, false},
		"somebody, for long":              {func(h *builder) { h.lose("PATCH", path, 60_000) }, false},
		"somebody who only looked":        {func(h *builder) { h.lose("GET", path, 100) }, true},
		"somebody at another place":       {func(h *builder) { h.lose("PATCH", "/core/v1/places/plc_b", 100) }, true},
		"somebody with something else":    {func(h *builder) { h.lose("POST", "/space/v1/memberships/import", 100) }, true},
		"somebody whose server died":      {func(h *builder) { h.lose("PATCH", path, 100); h.emit(history.Event{Kind: history.Started}) }, true},
		"somebody, more than 20 s before": {func(h *builder) { h.lose("PATCH", path, 100); h.wall += (unheardMs + 100) * 1e6 }, true},
	} {
		h := newBuilder()
		h.emit(history.Event{Kind: history.Started})
		h.base("plc_a")
		c.before(h)
		sent := h.wall + 1
		hours(h, 2, `{"tue":[["09:00","18:00"]]}`)
		hours(h, 3, `{"mon":[["09:00","18:00"]],"tue":[["09:00","18:00"]]}`)
		h.emit(history.CallEvent(history.CallIn{Method: "PATCH", Path: path, PlaceID: "plc_a", Status: 200, SentAt: h.at, SentNs: sent,
			Request: []byte(`{"hours":{"week":{"mon":[["09:00","18:00"]]}}}`), Answer: []byte(`{"data":{}}`)}))
		if v := hrs1(NewView(h.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("%s: %s, want a breach: %v", name, v, c.bad)
		}
	}
}

// TestUnansweredImports: what an import without an answer, or one that failed in the middle, has left isn't known.
func TestUnansweredImports(t *testing.T) {
	t.Parallel()
	const path = "/space/v1/memberships/import"
	failed := func(status int) func(h *builder) {
		return func(h *builder) {
			h.emit(history.CallEvent(history.CallIn{Method: "POST", Path: path, PlaceID: "plc_a", Status: status, SentAt: h.at, SentNs: h.wall + 1, Answer: []byte(`{"error":"e"}`)}))
		}
	}
	start := func(h *builder) { h.emit(history.Event{Kind: history.Started}) }
	for name, c := range map[string]struct {
		between []func(h *builder)
		bad     bool
	}{
		"nothing":                       {nil, true},
		"one without an answer":         {[]func(h *builder){func(h *builder) { h.lose("POST", path, 100) }}, false},
		"... and its server's death":    {[]func(h *builder){func(h *builder) { h.lose("POST", path, 100) }, start}, false},
		"one that failed in the middle": {[]func(h *builder){failed(503)}, false},
		"one that was refused":          {[]func(h *builder){failed(400)}, true},
		"a change of hours":             {[]func(h *builder){func(h *builder) { h.lose("PATCH", "/core/v1/places/plc_a", 100) }}, true},
		"one, and another one since": {[]func(h *builder){func(h *builder) { h.lose("POST", path, 100) }, start,
			func(h *builder) { h.imports(0, "updated", "mem_1") }}, true},
	} {
		h := newBuilder()
		start(h)
		h.imports(0, "created", "mem_1")
		for _, plant := range c.between {
			plant(h)
		}
		h.imports(0, "updated", "mem_1")
		if v := imp1(NewView(h.events)); (v.FirstBad != nil) != c.bad {
			t.Errorf("%s between two imports of the same row: %s, want a breach: %v", name, v, c.bad)
		}
	}
}

// TestUnansweredTellsNothing: a request without an answer is no call, whatever it asked.
func TestUnansweredTellsNothing(t *testing.T) {
	t.Parallel()
	h := newBuilder()
	h.lose("POST", ExchangeRoute, 100)
	if v := NewView(h.events); len(v.known()) != 0 || len(v.unsure()) != 1 {
		t.Errorf("%d calls and %d that nobody knows about, want 0 and 1", len(v.known()), len(v.unsure()))
	}
	if e := h.events[0]; e.Kind != history.Unanswered || !json.Valid([]byte(e.Text)) || e.Status != 0 {
		t.Errorf("got %s, want a request without an answer", e)
	}
}
