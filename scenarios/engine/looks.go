package engine

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// looked tells the judge at which places' boards, or their journals, the step looked.
func (x *frame) looked() {
	v := &x.step.Verbs
	places := map[string]bool{}
	switch {
	case v.Boards != nil:
		places = x.placesOf(v.Boards.Of)
	case v.Journal != nil:
		places = x.placesOf(v.Journal.Of)
	case v.Synced != nil:
		places = x.placesOf(v.Synced.Of)
	case v.Control != nil && !v.Control.refused():
		places = v.Control.places(x)
	}
	verb := x.step.verbName()
	if v.Control != nil && v.Control.readsJournal(x) {
		verb = "journal"
	}
	for _, p := range slices.Sorted(maps.Keys(places)) {
		x.run.emit(history.Event{Kind: history.Look, Text: verb, PlaceID: p})
	}
}

// placesOf are the places of some boards, "" if all are meant.
func (x *frame) placesOf(r Ref) map[string]bool {
	if !r.set() {
		return map[string]bool{"": true}
	}
	boards, _ := guarded(func() ([]*boardInfo, error) { return x.boards(r), nil })
	return each.Set(boards, func(b *boardInfo) string { return b.placeID })
}

// places are those whose boards' state the request reads. Nothing else in the control
// API says how far boards are, or what they did.
func (c *Control) places(x *frame) map[string]bool {
	text, _ := c.Path.str(x.scope)
	u, err := url.Parse(text)
	if err != nil || c.method() != http.MethodGet {
		return nil
	}
	switch id, of := strings.CutPrefix(strings.TrimSuffix(u.Path, journalOf), "/boards/"); {
	case u.Path == "/boards" && u.Query().Has("placeId"):
		return map[string]bool{u.Query().Get("placeId"): true}
	case u.Path == "/boards":
		return x.placesOf(c.Board) // of the listener with this board
	case of && x.run.dir.board(id) != nil:
		return map[string]bool{x.run.dir.board(id).placeID: true}
	}
	return nil
}

// journalOf ends the path of a board's journal.
const journalOf = "/journal"

// readsJournal reports whether the request reads what a board's relays did, not how far it is.
func (c *Control) readsJournal(x *frame) bool {
	text, _ := c.Path.str(x.scope)
	path, _, _ := strings.Cut(text, "?")
	return strings.HasSuffix(path, journalOf)
}

// method is the request's: GET without a body, POST with one, unless it is given.
func (c *Control) method() string {
	switch {
	case c.Method != "":
		return c.Method
	case c.Body != nil && c.Body.v != nil:
		return http.MethodPost
	}
	return http.MethodGet
}
