package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/byhand"
	"github.com/doorlab/doorlab/internal/each"
)

// theHand is the name of a connection that has none; theEnd stands for the end of a connection among the channels.
const (
	theHand = "hand"
	theEnd  = "end"
)

// hands are the connections over which a file speaks MQTT by hand. They end with the file.
type hands struct {
	mu     sync.Mutex
	byName map[string]*hand
	all    []*hand
	boards sync.Map // that were detached for them
}

func (s *hands) get(name string) *hand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

func (s *hands) put(name string, h *hand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	each.Put(&s.byName, name, h)
	s.all = append(s.all, h)
}

// hangUp ends all connections.
func (s *hands) hangUp() {
	s.mu.Lock()
	all := s.all
	s.all, s.byName = nil, nil
	s.mu.Unlock()
	for _, h := range all {
		h.conn.Disconnect()
	}
}

// hand is one connection and what has come over it.
type hand struct {
	conn  *byhand.Conn
	ended <-chan struct{} // closed when conn has ended
	board string
	auto  []string     // messages that are answered at once
	hide  func(string) // masks a secret in everything that is written

	pages []map[string]any // of a change that isn't complete yet; only hear uses them

	mu    sync.Mutex
	inbox []received    // not waited for yet
	news  chan struct{} // closed when the inbox grows; nil = nobody waits
}

// received is a message from the server.
type received struct {
	channel, topic string
	payload        any // decoded; text if it isn't JSON
	retained       bool
}

func (r received) fields() fields {
	return fields{"payload": r.payload, "topic": r.topic, "retained": r.retained}
}

// hear takes in a message, and answers it if the hand is to do so.
func (h *hand) hear(m byhand.Message) {
	got := received{channel: m.Topic[strings.LastIndex(m.Topic, "/")+1:], topic: m.Topic, retained: m.Retain}
	if json.Unmarshal(m.Payload, &got.payload) != nil {
		got.payload = string(m.Payload)
	}
	in, object := got.payload.(map[string]any)
	if key, ok := in["phoneKey"].(string); ok {
		h.hide(key)
	}
	if in["pages"] != nil && slices.Contains(h.auto, autoPage) {
		if in = h.joined(in); in == nil {
			return
		}
		got.payload = in
	}
	h.mu.Lock()
	h.inbox = append(h.inbox, got)
	if h.news != nil {
		close(h.news)
		h.news = nil
	}
	h.mu.Unlock()
	if object && slices.Contains(h.auto, got.channel) {
		h.answer(got.channel, in)
	}
}

func (h *hand) answer(channel string, in map[string]any) {
	to, say := goodAnswer(channel, in)
	raw, _ := json.Marshal(say)
	_ = h.conn.Publish(byhand.Message{Topic: topicOf(h.board, to), Payload: raw})
}

// autoPage is the answer to pages, except the one that completes a change.
const autoPage = "page"

// joined keeps a page and acknowledges it. With the last one it returns the change as it would have come in one
// message, before that nil.
func (h *hand) joined(in map[string]any) map[string]any {
	if in["page"] == 1.0 {
		h.pages = nil
	}
	h.pages = append(h.pages, in)
	if in["page"] != in["pages"] {
		h.answer("sync", in)
		return nil
	}
	whole := maps.Clone(h.pages[0])
	delete(whole, "page")
	delete(whole, "pages")
	for _, list := range []string{"remove", "upsert"} {
		var all []any
		for _, p := range h.pages {
			some, _ := p[list].([]any)
			all = append(all, some...)
		}
		if all != nil {
			whole[list] = all
		}
	}
	h.pages = nil
	return whole
}

// goodAnswer is what a board that works answers at once, and on which channel.
func goodAnswer(channel string, in map[string]any) (to string, say any) {
	switch channel {
	case "sync":
		page, _ := in["page"].(float64)
		pages, _ := in["pages"].(float64)
		if page < pages {
			return "ack", map[string]any{"type": "page", "revision": in["to"], "page": page}
		}
		return "ack", map[string]any{"type": "sync", "revision": in["to"], "digest": in["digest"]}
	case "cfg":
		return "ack", map[string]any{"type": "cfg", "id": in["id"], "result": "ok", "netloss": in["netloss"]}
	}
	return "rpt", map[string]any{"commandId": in["id"], "epoch": in["epoch"], "result": "ok"}
}

// topicOf is the topic of a board's channel; what has a slash or a wildcard is a topic already.
func topicOf(board, channel string) string {
	if strings.ContainsAny(channel, "/#+$") {
		return channel
	}
	return "sac/v1/" + board + "/" + channel
}

// forget drops what has come on a channel and wasn't waited for.
func (h *hand) forget(channel string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inbox = slices.DeleteFunc(h.inbox, func(r received) bool { return r.channel == channel })
}

// next waits for the next message of a channel that fits, and takes it and those of the channel before it. nil = none
// came within limit (wall time), or before ctx or the connection ended.
func (h *hand) next(ctx context.Context, channel string, limit time.Duration, fits func(received) bool) *received {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		over, news := h.over(), h.grows()
		if got := h.take(channel, fits); got != nil {
			return got
		}
		if over && channel == theEnd {
			return &received{channel: theEnd}
		}
		if over {
			return nil
		}
		select {
		case <-news:
		case <-h.ended:
		case <-ctx.Done():
			return nil
		}
	}
}

// grows is closed when the inbox grows: several steps may wait at once.
func (h *hand) grows() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.news == nil {
		h.news = make(chan struct{})
	}
	return h.news
}

func (h *hand) take(channel string, fits func(received) bool) *received {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range h.inbox {
		if r.channel != channel || !fits(r) {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(h.inbox[:i]), func(r received) bool { return r.channel == channel })
		h.inbox = append(left, h.inbox[i+1:]...)
		return &r
	}
	return nil
}

func (h *hand) over() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

// instead says what there was when nothing that fits had come.
func (h *hand) instead(channel string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, last := 0, received{}
	for _, r := range h.inbox {
		if r.channel == channel {
			n, last = n+1, r
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s came, the last: %s", amount.Many(n, "other message"), brief(last.payload, 400))
}
