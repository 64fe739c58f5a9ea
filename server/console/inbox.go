package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/golive"
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/server/fail"
)

// Inbox is what the routes of the inbox need.
type Inbox struct {
	Recorder *inbox.Recorder
	Base     func() string                                   // address of the public API
	Site     func(placeID string) (site inbox.Site, ok bool) // false: no such place
	Moved    func(doorID, commandID string) any              // what a command did to the relay; nil = unknown here
	Ignored  func(method, path string, body []byte) []string // fields and parameters that the operation doesn't know; nil = nobody looks
}

// received is an entry of the list.
type received struct {
	*inbox.Entry
	Moved   any      `json:"moved"` // null = no command, or not known here; [] = nothing, as for a replay
	Ignored []string `json:"ignored,omitempty"`
	// Lists leave out the texts.
	Request *string `json:"request,omitempty"`
	Answer  *string `json:"answer,omitempty"`
}

// opened is one entry with everything that can be copied; "" where the request is longer than what is kept.
type opened struct {
	*inbox.Entry
	Moved    any      `json:"moved"`
	Ignored  []string `json:"ignored,omitempty"`
	Curl     string   `json:"curl"`
	Step     string   `json:"step"`
	Scenario string   `json:"scenario"`
}

// at finds the place of ?placeId=. ok is false after it has answered.
func (c Config) at(w http.ResponseWriter, r *http.Request) (placeID string, ok bool) {
	placeID = r.URL.Query().Get("placeId")
	if placeID == "" {
		refuse(w, fail.Missing("placeId"))
		return "", false
	}
	if _, ok := c.Inbox.Site(placeID); !ok {
		refuse(w, c.noPlace(placeID, fail.ErrNotFound))
		return "", false
	}
	return placeID, true
}

// inboxList lists a place's latest requests, newest first.
func (c Config) inboxList(w http.ResponseWriter, r *http.Request) {
	placeID, ok := c.at(w, r)
	if !ok {
		return
	}
	limit, offset, ok := control.Page(w, r, 500)
	if !ok {
		return
	}
	f, ok := filter(w, r.URL.Query())
	if !ok {
		return
	}
	list, kept := c.Inbox.Recorder.List(placeID, f)
	slices.Reverse(list)
	total := len(list)
	list = list[min(offset, total):min(offset+limit, total)]
	views := each.Of(list, func(e *inbox.Entry) received { return received{Entry: e, Moved: c.moved(e), Ignored: c.ignored(e)} })
	w.Header().Set("X-Inbox-Evicted", strconv.FormatInt(kept.Evicted, 10))
	w.Header().Set("X-Inbox-Skipped", strconv.FormatInt(kept.Skipped, 10))
	control.List(w, views, total)
}

// filter parses status (409, 4xx, comma-separated), path and key. ok is false after it has answered 400.
func filter(w http.ResponseWriter, q url.Values) (f inbox.Filter, ok bool) {
	f = inbox.Filter{Path: q.Get("path"), Key: q.Get("key")}
	if !q.Has("status") {
		return f, true
	}
	wanted := strings.Split(q.Get("status"), ",")
	for _, s := range wanted {
		n, err := strconv.Atoi(strings.TrimSuffix(s, "xx"))
		if low := strings.HasSuffix(s, "xx"); err != nil || low && (n < 1 || n > 5) || !low && (n < 100 || n > 599) {
			control.Fail(w, http.StatusBadRequest, "invalid_query", "status must be a list of statuses such as 409 or 5xx", map[string]any{"field": "status"})
			return f, false
		}
	}
	f.Status = func(status int) bool {
		text := strconv.Itoa(status)
		return slices.Contains(wanted, text) || slices.Contains(wanted, text[:1]+"xx")
	}
	return f, true
}

// moved is what a request did to the relay.
func (c Config) moved(e *inbox.Entry) any {
	if e.CommandID == "" || e.DoorID == "" {
		return nil
	}
	if e.Replayed { // the first one did
		return []any{}
	}
	return c.Inbox.Moved(e.DoorID, e.CommandID)
}

// ignored is what a partner's request says and the service doesn't know. A body that wasn't kept whole is left out.
func (c Config) ignored(e *inbox.Entry) []string {
	if c.Inbox.Ignored == nil || e.Customer {
		return nil
	}
	body := []byte(e.Request)
	if e.Cut() {
		body = nil
	}
	return c.Inbox.Ignored(e.Method, e.Path, body)
}

func (c Config) inboxEntry(w http.ResponseWriter, r *http.Request) {
	asked := chi.URLParam(r, "seq")
	seq, err := strconv.ParseInt(asked, 10, 64)
	var e *inbox.Entry
	if err == nil {
		e = c.Inbox.Recorder.Get(seq)
	}
	if e == nil {
		refuse(w, fail.New(fail.NotFound, fmt.Sprintf("no request %q in the inbox; pass a number from 'doorlab inbox list'", asked)))
		return
	}
	site, _ := c.Inbox.Site(e.PlaceID)
	control.Data(w, opened{Entry: e, Moved: c.moved(e), Ignored: c.ignored(e), Curl: e.Curl(c.Inbox.Base()), Step: e.Step(site), Scenario: e.File(site)})
}

func (c Config) inboxClear(w http.ResponseWriter, r *http.Request) {
	if placeID, ok := c.at(w, r); ok {
		control.Data(w, map[string]int{"removed": c.Inbox.Recorder.Clear(placeID)})
	}
}

// goLive answers with the checklist, computed from the inbox of a test place.
func (c Config) goLive(w http.ResponseWriter, r *http.Request) {
	placeID, ok := c.at(w, r)
	if !ok {
		return
	}
	if site, _ := c.Inbox.Site(placeID); site.Kind != "test" {
		refuse(w, fail.New(fail.RuleViolated, "the checklist is computed from the requests to a test place; this is a live place ('doorlab place list' shows which is which)"))
		return
	}
	list, kept := c.Inbox.Recorder.List(placeID, inbox.Filter{})
	control.Data(w, struct {
		PlaceID string `json:"placeId"`
		golive.List
		inbox.Kept
	}{placeID, golive.Check(list), kept})
}
