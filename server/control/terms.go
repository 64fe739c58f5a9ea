package control

import (
	"context"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/rule"
)

// term handles POST /memberships and /reservations.
func (c Config) term(create func(context.Context, grant.By, grant.TermRequest) (name, id string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b struct {
			PlaceID  *string  `json:"placeId"`
			Phone    *string  `json:"phone"`
			Name     *string  `json:"name"`
			StartsAt *string  `json:"startsAt"`
			EndsAt   *string  `json:"endsAt"`
			DoorIDs  []string `json:"doorIds"`
		}
		if !controlapi.Body(w, r, &b, "placeId", "phone", "name", "startsAt", "endsAt", "doorIds") {
			return
		}
		if b.PlaceID == nil {
			fail(w, rule.Missing("placeId"))
			return
		}
		if _, err := c.Places.GateConfig(*b.PlaceID); err != nil { // before the rules: an unknown place has no doors either
			fail(w, err)
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
			at, err := rule.ParseTime(f.name, *f.in)
			if err != nil {
				fail(w, err)
				return
			}
			*f.out = &at
		}
		name, id, err := create(r.Context(), grant.By{PlaceID: *b.PlaceID}, t)
		if err != nil {
			fail(w, err)
			return
		}
		controlapi.Data(w, map[string]string{name: id})
	}
}
