package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/lang"
)

// hub keeps pages up to date for their viewers. Viewers of the same address in the same language share one rendering
// per second; without viewers, nothing is rendered.
type hub struct {
	parts func(*http.Request, Page) (map[string]string, error)

	mu     sync.Mutex
	shows  map[string]*showing
	over   chan struct{}
	ending sync.Once
}

// How often a page is rendered: one that takes more than a share of the time is rendered less often, but never so
// rarely that it is two seconds behind.
const (
	pace   = time.Second
	share  = 20
	rarest = 1500 * time.Millisecond
)

// maxStreams bounds the number of viewers: each stream is a connection.
const maxStreams = 32

func newHub(parts func(*http.Request, Page) (map[string]string, error)) *hub {
	return &hub{parts: parts, shows: map[string]*showing{}, over: make(chan struct{})}
}

func (h *hub) stop() { h.ending.Do(func() { close(h.over) }) }

// showing is one address with viewers.
type showing struct {
	h    *hub
	key  string
	page Page
	r    *http.Request // of the first viewer

	viewers map[*viewer]bool
	last    map[string]string
	failed  int // turns in a row
	timer   clock.Timer
}

// lostAfter is after how many turns in a row that failed viewers are told that what they see is old.
const lostAfter = 2

// stream is the id of what isn't a part: whether the parts are up to date.
const (
	stream    = ""
	streamOn  = "on"
	streamOff = "off"
)

// viewer is one stream. Newer content replaces what it has not been sent yet.
type viewer struct {
	mu      sync.Mutex
	pending map[string]string
	ready   chan struct{} // holds one
}

func (v *viewer) put(id, text string) {
	v.mu.Lock()
	v.pending[id] = text
	v.mu.Unlock()
	select {
	case v.ready <- struct{}{}:
	default:
	}
}

func (v *viewer) take() map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := v.pending
	v.pending = map[string]string{}
	return out
}

// join adds a viewer, who first gets the complete page.
func (h *hub) join(r *http.Request, p Page) (v *viewer, leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, s := range h.shows {
		n += len(s.viewers)
	}
	if n >= maxStreams {
		return nil, nil, false
	}
	key := lang.Of(r.Header.Get("Accept-Language")) + " " + r.URL.RequestURI()
	s := h.shows[key]
	if s == nil {
		s = &showing{h: h, key: key, page: p, r: kept(r), viewers: map[*viewer]bool{}, last: map[string]string{}}
		h.shows[key] = s
		s.timer = clock.WallAfter(0, s.turn)
	}
	v = &viewer{pending: map[string]string{}, ready: make(chan struct{}, 1)}
	s.viewers[v] = true
	for id, text := range s.last {
		v.put(id, text)
	}
	if s.failed >= lostAfter {
		v.put(stream, streamOff)
	}
	return v, func() { h.leave(s, v) }, true
}

// kept is a request that may outlive its connection: the router reuses its own.
func kept(r *http.Request) *http.Request {
	route := chi.NewRouteContext()
	if was := chi.RouteContext(r.Context()); was != nil {
		route.URLParams = chi.RouteParams{Keys: slices.Clone(was.URLParams.Keys), Values: slices.Clone(was.URLParams.Values)}
	}
	return r.Clone(context.WithValue(context.Background(), chi.RouteCtxKey, route))
}

func (h *hub) leave(s *showing, v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(s.viewers, v)
	if len(s.viewers) == 0 {
		s.timer.Stop()
		delete(h.shows, s.key)
	}
}

// turn renders the page once and sends what changed.
func (s *showing) turn() {
	began := clock.Mono()
	parts, err := s.h.parts(s.r, s.page)
	took := clock.Mono() - began
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if len(s.viewers) == 0 || s.h.shows[s.key] != s {
		return
	}
	if err != nil { // the server restarts, or what the page shows is gone: it stays as it was
		if s.failed++; s.failed == lostAfter {
			s.tell(stream, streamOff)
		}
	} else {
		if s.failed >= lostAfter {
			s.tell(stream, streamOn)
		}
		s.failed = 0
		for id, text := range parts {
			if was, ok := s.last[id]; ok && was == text {
				continue
			}
			s.last[id] = text
			s.tell(id, text)
		}
	}
	s.timer = clock.WallAfter(min(max(pace, share*took), rarest)-min(took, pace/2), s.turn)
}

// tell sends something to all viewers. Called with the hub's mu held.
func (s *showing) tell(id, text string) {
	for v := range s.viewers {
		v.put(id, text)
	}
}

// beat is how often a quiet stream shows that it is alive.
const beat = 10 * time.Second

// serve streams the page's parts until the reader leaves: events named "part"
// with {id, text}; without an id, text says whether they are up to date.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, p Page) {
	v, leave, ok := h.join(r, p)
	if !ok {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	guard(w.Header())
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	alive := make(chan struct{}, 1)
	var pulse clock.Timer
	again := func() {
		select {
		case alive <- struct{}{}:
		default:
		}
	}
	pulse = clock.WallAfter(beat, again)
	defer func() { pulse.Stop() }()
	_, err := fmt.Fprint(w, "retry: 1000\n\n")
	for err == nil {
		if err = out.Flush(); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-h.over:
			return
		case <-alive:
			_, err = fmt.Fprint(w, ": alive\n\n")
		case <-v.ready:
			for id, text := range v.take() {
				var b []byte
				if b, err = json.Marshal(map[string]string{"id": id, "text": text}); err != nil {
					return
				}
				if _, err = fmt.Fprintf(w, "event: part\ndata: %s\n\n", b); err != nil {
					return
				}
			}
		}
		pulse.Stop()
		pulse = clock.WallAfter(beat, again)
	}
}
