// Package golive is a partner's checklist before going live, computed from the partner's own requests to the test place
// (internal/inbox). Each point is proven or broken by specific requests, or not yet seen; nothing is green without
// evidence. It is pure; server/console shows it.
package golive

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/inbox"
)

// States of a point.
const (
	Proven = "proven"
	Broken = "broken"
	Unseen = "unseen" // not yet seen
)

// Point is one line of the checklist.
type Point struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	State string `json:"state"`
	Says  string `json:"says"` // what was seen; for an unseen point, what was seen so far and how to show it
	// Finding is what was seen, by name, and Figures its numbers; "" for an unseen point about which nothing was.
	Finding string  `json:"finding"`
	Figures Figures `json:"figures"`
	Seqs    []int64 `json:"seqs"` // the requests that prove or break it, in the inbox's numbers
	// Requests are their X-Request-Ids.
	Requests []string `json:"requests"`
}

// List is the checklist of a place.
type List struct {
	Ready    bool    `json:"ready"` // every point is proven
	Requests int     `json:"requests"`
	Points   []Point `json:"points"`
}

// finding is what a rule saw, with the requests that show it.
type finding struct {
	state   string
	name    string
	figures Figures
	by      []*inbox.Entry
}

func broken(name string, by ...*inbox.Entry) finding { return finding{Broken, name, Figures{}, by} }

func proven(name string, by ...*inbox.Entry) finding { return finding{Proven, name, Figures{}, by} }

func (f finding) with(figures Figures) finding {
	f.figures = figures
	return f
}

// rule examines a place's requests, oldest first.
type rule struct {
	id, title string
	look      func([]*inbox.Entry) finding
}

var rules = []rule{
	{"token_reuse", "An access token is reused until it expires", tokenReuse},
	{"unique_keys", "Every door command has an Idempotency-Key of its own", uniqueKeys},
	{"same_key_after_504", "After a 504 the same request is repeated with the same idempotency key", sameKeyAfter504},
	{"new_key_after_409", "After 409 device_offline the next try has a new idempotency key", newKeyAfter409},
	{"back_off", "After 429 the client waits as long as Retry-After says", backOff},
	{"door_ids", "doorIds is never an empty array", doorIDs},
	{"methods", "GET is never used for calls that change something", methods},
	{"errors", "Requests that can't succeed are not repeated", errorsHandled},
}

// Check computes the checklist from a place's requests, oldest first. Requests by the place's customers don't count:
// they say nothing about the partner's client.
func Check(entries []*inbox.Entry) List {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e *inbox.Entry) bool { return e.Customer })
	l := List{Ready: true, Requests: len(entries)}
	for _, r := range rules {
		f := r.look(entries)
		if f.state == "" {
			f = soFar(r.id, entries)
		}
		p := Point{ID: r.id, Title: r.title, State: f.state, Finding: f.name, Figures: f.figures, Seqs: []int64{}, Requests: []string{}}
		p.State = cmp.Or(p.State, Unseen)
		for _, e := range f.by {
			p.Seqs, p.Requests = append(p.Seqs, e.Seq), append(p.Requests, e.RequestID)
		}
		p.Says = p.english()
		l.Ready = l.Ready && p.State == Proven
		l.Points = append(l.Points, p)
	}
	return l
}

const (
	exchangeRoute = "/core/v1/auth/apikey/token"
	permitsRoute  = "/space/v1/partner/entry-permits"
	tokenLife     = 900 * time.Second
	lastMinute    = time.Minute
)

// isCommand reports whether a request moves a door, by the current or the legacy path.
func isCommand(e *inbox.Entry) bool {
	switch e.Route {
	case "/device/v1/devices/{id}/commands", "/device/v1/doors/{id}/open", "/device/v1/doors/{id}/close", "/device/v1/doors/{id}/hold":
		return e.Method == "POST"
	}
	return false
}

// commands are the door commands among the requests.
func commands(entries []*inbox.Entry) (out []*inbox.Entry) {
	return each.If(entries, isCommand)
}

// same reports whether two requests mean the same, so that one repeats the other.
func same(a, b *inbox.Entry) bool {
	return a.Method == b.Method && a.Path == b.Path && a.RequestMark == b.RequestMark
}

// span writes seconds for a sentence: whole ones, or milliseconds below a second.
func span(sec float64) string {
	if sec < 1 {
		return amount.Duration(math.Round(sec*1000) / 1000)
	}
	return amount.Duration(math.Round(sec))
}
