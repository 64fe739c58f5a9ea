package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/why"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// Visitor is a person as recordings know them: hashes, and what may be shown.
type Visitor struct {
	PhoneHash, TokenHash string     // one of them
	Actor, Label         string     // masked
	Left                 []why.Left // the grants that have left the boards' content
}

// Explain is what explanations need.
type Explain struct {
	Door  func(doorID string) (place.Door, error)
	Place func(placeID string) (place.Place, error)
	// Places and Doors list what exists, for refusals that say what was probably meant.
	Places func() ([]place.Place, error)
	Doors  func(placeID string) ([]place.Door, error)
	// Visitor is the person who has what is given. fail.ErrNotFound for an unknown grant.
	Visitor func(placeID string, by Person) (Visitor, error)
	// OnSite lists the openings on site that boards uploaded.
	OnSite func(placeID string) ([]why.Entered, error)
	// Timeline is the recording of a place, up to a line of a board's journal; nil = all of it. If there is none, one is
	// started.
	Timeline func(placeID string, until *why.Line) (*why.Timeline, error)
}

// exactlyOne says how to name a person.
const exactlyOne = "exactly one of phone, link, grantId and journalSeq is needed, as in ?phone=01012345678"

// Person is somebody by what is known of them; exactly one field is set.
type Person struct {
	Phone, Token, GrantID string
	PhoneHash, TokenHash  string // as a board's reader knows them
}

// asked is whom a question is about: a person, or whoever led to a line of the board's journal.
type asked struct {
	Person
	line int64
}

// whoAsked parses phone, link, grantId or journalSeq. ok is false after it has answered 400.
func whoAsked(w http.ResponseWriter, q url.Values) (p asked, ok bool) {
	phone, token := q.Get("phone"), q.Get("link")
	n := 0
	for _, name := range []string{"phone", "link", "grantId", "journalSeq"} {
		if q.Get(name) != "" {
			n++
		}
	}
	switch {
	case n == 0:
		control.Fail(w, http.StatusBadRequest, fail.MissingField, exactlyOne, map[string]any{"field": "phone"})
		return p, false
	case n > 1:
		control.FailText(w, "phone", exactlyOne)
		return p, false
	case q.Get("grantId") != "":
		return asked{Person: Person{GrantID: q.Get("grantId")}}, true
	case q.Get("journalSeq") != "":
		line, err := strconv.ParseInt(q.Get("journalSeq"), 10, 64)
		if err != nil || line < 1 {
			control.FailText(w, "journalSeq", "journalSeq must be the number of a line of the board's journal, 1 or more")
			return p, false
		}
		if q.Has("at") {
			control.FailText(w, "at", "leave out at: journalSeq says which moment is meant")
			return p, false
		}
		return asked{line: line}, true
	}
	if token != "" { // the whole link, as the person received it
		if u, err := url.Parse(token); err == nil && u.Query().Get("t") != "" {
			token = u.Query().Get("t")
		}
		return asked{Person: Person{Token: token}}, true
	}
	digits := strings.Trim(strings.NewReplacer("-", "", " ", "", "+", "").Replace(phone), "0123456789") == ""
	if !digits || len(phone) < 8 || len(phone) > 24 {
		control.Fail(w, http.StatusBadRequest, "invalid_phone", "phone must be 8 to 15 digits", map[string]any{"field": "phone"})
		return p, false
	}
	return asked{Person: Person{Phone: phone}}, true
}

// why explains what would open a door for a person at a time, or what would not.
func (c Config) why(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	about, ok := whoAsked(w, q)
	if !ok {
		return
	}
	doorID := q.Get("doorId")
	if doorID == "" {
		refuse(w, fail.Missing("doorId"))
		return
	}
	at := c.Clock.Now()
	if q.Has("at") {
		var err error
		if at, err = fail.ParseTime("at", q.Get("at")); err != nil {
			refuse(w, err)
			return
		}
	}
	door, err := c.Explain.Door(doorID)
	placeID, where := q.Get("placeId"), "here"
	if placeID != "" {
		p, err := c.Explain.Place(placeID)
		if err != nil {
			refuse(w, c.noPlace(placeID, err))
			return
		}
		where = "at " + p.Name
	}
	if err == nil && placeID != "" && door.PlaceID != placeID {
		err = fail.ErrNotFound
	}
	var out why.Explanation
	if err = c.noDoor(doorID, placeID, where, err); err == nil {
		out, err = c.explain(door, about, at)
	}
	answer(w, out, err)
}

func (c Config) explain(door place.Door, about asked, at time.Time) (out why.Explanation, err error) {
	p, err := c.Explain.Place(door.PlaceID)
	if err != nil {
		return out, err
	}
	t, at, err := c.recorded(door, &about, at)
	if err != nil {
		return out, err
	}
	who, err := c.Explain.Visitor(door.PlaceID, about.Person)
	if errors.Is(err, fail.ErrNotFound) {
		err = fail.New(fail.NotFound, "grant not found at this place")
	}
	if err != nil {
		return out, err
	}
	exposed, err := c.exposed(t, door.PlaceID)
	if err != nil {
		return out, err
	}
	out = why.Explanation{PlaceID: p.ID, PlaceName: p.Name, DoorName: door.Name, Person: who.Label, By: "phone", PhoneEntry: phoneEntry(p),
		KnownSince: time.UnixMilli(t.Since()).UTC().Format(control.TimeFormat), Exposure: []why.Exposed{},
		Answer: t.Ask(why.Question{DoorID: door.ID, BoardID: door.BoardID, At: at, PhoneHash: who.PhoneHash, TokenHash: who.TokenHash, Actor: who.Actor, Label: who.Label, Left: who.Left})}
	if about.Token != "" || about.TokenHash != "" {
		out.By = "link"
	}
	for _, x := range exposed {
		if x.BoardID == door.BoardID && x.At <= out.At {
			out.Exposure = append(out.Exposure, x)
		}
	}
	out.Says = out.Sentence()
	return out, nil
}

// recorded is the recording that answers a question, and the time asked about. Where the question names a line of the
// journal, the recording says who it was, and when.
func (c Config) recorded(door place.Door, about *asked, at time.Time) (*why.Timeline, time.Time, error) {
	if about.line == 0 {
		t, err := c.Explain.Timeline(door.PlaceID, nil)
		return t, at, err
	}
	t, err := c.Explain.Timeline(door.PlaceID, &why.Line{BoardID: door.BoardID, Seq: about.line})
	if err != nil {
		return nil, at, err
	}
	e := t.Presentation()
	if e == nil || e.DoorID != door.ID {
		return nil, at, fail.New(fail.NotFound, fmt.Sprintf("line %d of the board's journal isn't a visit to the reader of door %s: visits have the cause onsite or free, "+
			"and the recording has those since %s", about.line, door.ID, time.UnixMilli(t.Since()).UTC().Format(control.TimeFormat)))
	}
	about.PhoneHash, about.TokenHash = e.PhoneHash, e.TokenHash
	return t, time.UnixMilli(e.At), nil
}

func phoneEntry(p place.Place) string {
	switch {
	case p.EntryPhone == "":
		return "unassigned"
	case !p.PhoneEnabled:
		return "off"
	}
	return "on"
}

func (c Config) exposed(t *why.Timeline, placeID string) ([]why.Exposed, error) {
	onsite, err := c.Explain.OnSite(placeID)
	if err != nil {
		return nil, err
	}
	list := t.Exposure(onsite)
	for i := range list { // not uploaded by the board yet: find the person by the grant
		if x := &list[i]; x.Actor == "" && x.GrantID != nil {
			v, err := c.Explain.Visitor(placeID, Person{GrantID: *x.GrantID})
			if err == nil && (x.PhoneHash == "" || x.PhoneHash == v.PhoneHash) { // the grant may be somebody else's by now
				x.Actor = v.Label
			}
		}
	}
	return list, nil
}

// exposure lists who entered a place on site although the server would have denied it.
func (c Config) exposure(w http.ResponseWriter, r *http.Request) {
	placeID := r.URL.Query().Get("placeId")
	if placeID == "" {
		refuse(w, fail.Missing("placeId"))
		return
	}
	_, err := c.Explain.Place(placeID)
	err = c.noPlace(placeID, err)
	var list []why.Exposed
	if err == nil {
		var t *why.Timeline
		if t, err = c.Explain.Timeline(placeID, nil); err == nil {
			list, err = c.exposed(t, placeID)
		}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	control.List(w, list, len(list))
}
