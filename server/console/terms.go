package console

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

// term handles POST /memberships and /reservations; the answer is {name: id}.
func (c Config) term(kind, name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b struct {
			PlaceID  *string  `json:"placeId"`
			Phone    *string  `json:"phone"`
			Name     *string  `json:"name"`
			StartsAt *string  `json:"startsAt"`
			EndsAt   *string  `json:"endsAt"`
			DoorIDs  []string `json:"doorIds"`
		}
		if !control.Body(w, r, &b) {
			return
		}
		if b.PlaceID == nil {
			refuse(w, fail.Missing("placeId"))
			return
		}
		if _, err := c.Places.GateConfig(*b.PlaceID); err != nil { // first: the rules would only complain that the place has no doors
			refuse(w, c.noPlace(*b.PlaceID, err))
			return
		}
		t := grant.TermRequest{Phone: b.Phone, Name: b.Name, DoorIDs: b.DoorIDs}
		for _, f := range []struct {
			name string
			in   *string
			out  **time.Time
		}{{"startsAt", b.StartsAt, &t.StartsAt}, {"endsAt", b.EndsAt, &t.EndsAt}} {
			if f.in == nil {
				continue
			}
			at, err := fail.ParseTime(f.name, *f.in)
			if err != nil {
				refuse(w, err)
				return
			}
			*f.out = &at
		}
		g, err := c.Grants.CreateTerm(record.By{PlaceID: *b.PlaceID}, kind, t)
		answer(w, map[string]string{name: g.ID}, err)
	}
}

// endTerm handles DELETE /memberships/{id} and /reservations/{id}, both with
// ?placeId=.
func (c Config) endTerm(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		placeID := r.URL.Query().Get("placeId")
		if placeID == "" {
			refuse(w, fail.Missing("placeId"))
			return
		}
		if _, err := c.Places.GateConfig(placeID); err != nil {
			refuse(w, c.noPlace(placeID, err))
			return
		}
		g, err := c.Grants.CancelTerm(record.By{PlaceID: placeID}, kind, chi.URLParam(r, "id"))
		answer(w, map[string]any{"id": g.ID, "ended": true}, err)
	}
}
