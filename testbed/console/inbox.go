package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/golive"
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/internal/world"
)

type inboxView struct {
	Place             string
	Places            []choice
	Status, Path, Key string
	Rows              []*request
	Count             int     // of the requests in Rows
	Capped            bool    // there may be more
	Checks            *checks // nil for a live place
}

// request is an entry of the control API's inbox.
type request struct {
	inbox.Entry
	Ignored  []string `json:"ignored"`
	Curl     string   `json:"curl"`
	Scenario string   `json:"scenario"`
	Moved    []struct {
		At      time.Time `json:"at"`
		Action  string    `json:"action"`
		PulseMs int64     `json:"pulseMs"`
	} `json:"moved"`

	Clock string `json:"-"` // its time in a list
	Times int    `json:"-"` // how often in a row the same came, this the latest
	First int64  `json:"-"` // Seq of the first of them
}

// alike reports whether two requests are equal and had the same result.
func (r *request) alike(q *request) bool {
	return r.Method == q.Method && r.Path == q.Path && r.Status == q.Status && r.Code == q.Code && r.IdempotencyKey == q.IdempotencyKey &&
		r.RequestMark == q.RequestMark && r.Customer == q.Customer && r.CommandID == q.CommandID && r.Replayed == q.Replayed
}

// folded makes one row of equal requests in a row: a client that tries 30 times in vain would hide all others.
func folded(rows []*request) (out []*request) {
	for _, r := range rows {
		if n := len(out); n > 0 && out[n-1].alike(r) {
			out[n-1].Times, out[n-1].First = out[n-1].Times+1, r.Seq
			continue
		}
		r.Times = 1
		out = append(out, r)
	}
	return out
}

// When is when it came, with the date.
func (r *request) When() string { return when(r.Came) }

// Took is its duration.
func (r *request) Took() string { return span(time.Duration(r.TookMs * float64(time.Millisecond))) }

// Class colours the status; the status stands beside it.
func (r *request) Class() string {
	if r.Status < 400 {
		return "ok"
	}
	return "bad"
}

// Moves says what the command did to the relay.
func (r *request) Moves() string {
	var out []string
	for _, m := range r.Moved {
		text := m.Action
		if m.PulseMs > 0 {
			text += " " + span(time.Duration(m.PulseMs)*time.Millisecond)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// Pretty is a body, indented where it is JSON.
func (r *request) Pretty(body string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(body), "", "  ") == nil {
		return b.String()
	}
	return body
}

// checks are the go-live checklist.
type checks struct {
	Ready    bool    `json:"ready"`
	Requests int64   `json:"requests"`
	Points   []point `json:"points"`
}

type point struct{ golive.Point }

// Class, Word and Title are how a point is shown.
func (p point) Class() string {
	return map[string]string{"proven": "ok", "broken": "bad"}[p.State]
}

// Word is the key of its state.
func (p point) Word() string { return "golive." + p.State }

// Asks is the key of what it asks for.
func (p point) Asks() string { return "golive.point." + p.ID }

// places are those of the world to choose from.
func (c *Console) places() []choice {
	return each.Of(c.cfg.World.Places, func(p world.Place) choice { return choice{p.ID, p.Name} })
}

// placeOf is the place that a page is about: the requested one, else the first.
func (c *Console) placeOf(r *http.Request) (id string, places []choice) {
	id, places = r.URL.Query().Get("place"), c.places()
	if id == "" && len(places) > 0 {
		id = places[0].ID
	}
	return id, places
}

// inboxRows is how many requests the page shows.
const inboxRows = 100

func (c *Console) inbox(r *http.Request) (any, error) {
	q := r.URL.Query()
	v := inboxView{Status: q.Get("status"), Path: q.Get("path"), Key: q.Get("key")}
	v.Place, v.Places = c.placeOf(r)
	ask := url.Values{"placeId": {v.Place}, "limit": {fmt.Sprint(inboxRows)}}
	for name, text := range map[string]string{"status": v.Status, "path": v.Path, "key": v.Key} {
		if text != "" {
			ask.Set(name, text)
		}
	}
	if err := c.lab(r.Context(), http.MethodGet, "/inbox?"+ask.Encode(), nil, &v.Rows); err != nil {
		return nil, err
	}
	v.Count = len(v.Rows)
	v.Capped = v.Count == inboxRows
	slices.SortStableFunc(v.Rows, func(a, b *request) int { return b.Came.Compare(a.Came) }) // they are numbered as they were answered
	layout := clockLayout(each.Of(v.Rows, func(r *request) time.Time { return r.Came }), c.cfg.Clock.Now())
	for _, r := range v.Rows {
		r.Clock = r.Came.UTC().Format(layout)
	}
	if v.Status == "" && v.Path == "" && v.Key == "" { // a filter shows each
		v.Rows = folded(v.Rows)
	}
	if p := c.names.places[v.Place]; p != nil && p.Kind == "test" {
		v.Checks = &checks{}
		if err := c.lab(r.Context(), http.MethodGet, "/go-live?placeId="+url.QueryEscape(v.Place), nil, v.Checks); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (c *Console) request(r *http.Request) (any, error) {
	var out request
	err := c.lab(r.Context(), http.MethodGet, "/inbox/"+url.PathEscape(chi.URLParam(r, "seq")), nil, &out)
	return &out, err
}

func (c *Console) clearInbox(r *http.Request) (Said, error) {
	place, _ := c.placeOf(r)
	return Said{Key: "inbox.cleared"}, c.lab(r.Context(), http.MethodDelete, "/inbox?placeId="+url.QueryEscape(place), nil, nil)
}
