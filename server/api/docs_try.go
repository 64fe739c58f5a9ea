package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/doorlab/doorlab/server/grant"
)

// tryOut is what a request of the reference pages needs to succeed as it stands. The zero value is for readers who don't
// get it.
type tryOut struct {
	Key, Door, Link string            // what stands for them in the documents' examples is replaced by them
	Since           time.Time         // moment of the place at which the examples' first hour begins
	Known           map[string]string // by a parameter's name
}

// What the documents' examples have in place of a key, a door, an entry token and a time; docs.js knows them, too.
const (
	exampleKey  = "sact_exampleexampleexampleexample000000"
	exampleDoor = "dor_front"
	exampleLink = "3q2-7wAA"
)

var (
	exampleHour = time.Date(2026, 10, 5, 1, 0, 0, 0, time.UTC)
	exampleTime = regexp.MustCompile(`2026-10-05T[0-9:.]+Z`)
)

// tryOut is what readers on this machine can try: everything of the test place, with its newest active permit and
// reservation. What it doesn't have is left to the reader.
func (a *api) tryOut(e Example) tryOut {
	if e.Key == "" {
		return tryOut{}
	}
	t := tryOut{Key: e.Key, Door: e.DoorID, Since: e.Now.Truncate(time.Hour).UTC(),
		Known: map[string]string{"placeId": e.PlaceID, "id": e.DoorID, "boardId": e.BoardID}}
	permits, _, err := a.cfg.Grants.List(e.PlaceID, grant.ListQuery{})
	for _, p := range permits {
		if err == nil && p.State == grant.Active {
			t.Link, t.Known["permitId"], t.Known["t"] = p.Token, p.ID, p.Token
			break
		}
	}
	reservations, _, err := a.cfg.Grants.ListTerms(e.PlaceID, grant.Reservation, grant.ListQuery{})
	for _, r := range reservations {
		if err == nil && r.State != grant.Cancelled {
			t.Known["reservationId"] = r.ID
			break
		}
	}
	return t
}

// filled is an example with what stands for something replaced.
func (t tryOut) filled(text string) string {
	if t.Key == "" {
		return text
	}
	text = strings.NewReplacer(exampleKey, t.Key, exampleDoor, t.Door).Replace(text)
	if t.Link != "" {
		text = strings.ReplaceAll(text, exampleLink, t.Link)
	}
	return exampleTime.ReplaceAllStringFunc(text, func(old string) string {
		at, err := time.Parse(time.RFC3339, old)
		if err != nil {
			return old
		}
		return t.Since.Add(at.Sub(exampleHour)).Format(time.RFC3339)
	})
}

// KnownJSON is Known for the page's script.
func (t tryOut) KnownJSON() string {
	b, _ := json.Marshal(t.Known)
	return string(b)
}
