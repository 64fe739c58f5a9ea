// Package control is the server's part of the control API: it stands in for the
// operator's console (keys, places, doors, memberships, reservations), plays
// callers, moves the clock, shows the history, and kills the process at a step.
// The composition (internal/testbed) mounts it on a listener of its own; a
// production server runs without it. The rules stay in server/auth,
// server/place, server/grant and server/entry.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/rule"
)

// Keys issues and revokes keys: server/auth.
type Keys interface {
	Create(placeID, name string, scopes []string, sim bool) (auth.Key, string, error)
	Revoke(keyID string) error
	List(placeID string) ([]auth.Key, error)
}

// Places changes places and doors: server/place.
type Places interface {
	PatchPlace(placeID string, p place.PlacePatch) (place.Place, error)
	PatchDoor(doorID string, p place.DoorPatch) (place.Door, error)
}

// Grants makes memberships and reservations: server/grant.
type Grants interface {
	CreateMembership(ctx context.Context, by grant.By, r grant.TermRequest) (grant.Term, error)
	CreateReservation(ctx context.Context, by grant.By, r grant.TermRequest) (grant.Term, error)
}

// Entry plays phone calls: server/entry.
type Entry interface {
	Call(ctx context.Context, to, from string) (entry.CallResult, error)
}

// Config of the routes.
type Config struct {
	Clock  clock.Clock
	Keys   Keys
	Places Places
	Grants Grants
	Entry  Entry
	// Ready lists the places as the ready line does.
	Ready func() any
	// Moved is told after a jump of virtual time; nil = nobody.
	Moved func(now time.Time)
	// WriteHistory writes events from a sequence number on as NDJSON.
	WriteHistory func(w io.Writer, since int64) error
	// Crash arms a crash point; nil = the process was not started with --crash-points.
	Crash func(step string) error
}

// Routes mounts the server's control routes; r is at /lab/v1.
func (c Config) Routes(r chi.Router) {
	controlapi.ClockRoutes(r, c.Clock, c.Moved)
	r.Get("/places", func(w http.ResponseWriter, _ *http.Request) { controlapi.Data(w, c.Ready()) })
	r.Patch("/places/{placeId}", c.patchPlace)
	r.Patch("/doors/{doorId}", c.patchDoor)
	r.Get("/keys", c.listKeys)
	r.Post("/keys", c.createKey)
	r.Delete("/keys/{keyId}", c.revokeKey)
	r.Post("/memberships", c.term(func(ctx context.Context, by grant.By, t grant.TermRequest) (string, string, error) {
		g, err := c.Grants.CreateMembership(ctx, by, t)
		return "membershipId", g.ID, err
	}))
	r.Post("/reservations", c.term(func(ctx context.Context, by grant.By, t grant.TermRequest) (string, string, error) {
		g, err := c.Grants.CreateReservation(ctx, by, t)
		return "reservationId", g.ID, err
	}))
	r.Post("/people/call", c.call)
	controlapi.HistoryRoute(r, c.WriteHistory)
	r.Post("/crash", c.crash)
}

// fail maps a broken rule to its status; the public edge has the full table,
// here everything that is not absent is the caller's mistake or a conflict.
func fail(w http.ResponseWriter, err error) {
	var e *rule.Error
	if !errors.As(err, &e) {
		controlapi.Fail(w, http.StatusServiceUnavailable, rule.StorageUnavailable, "the database does not take this now: "+err.Error(), nil)
		return
	}
	status := http.StatusBadRequest
	switch e.Code {
	case rule.NotFound, rule.PlaceNotFound, rule.DeviceNotFound, rule.PermitNotFound, rule.BoardNotFound:
		status = http.StatusNotFound
	case rule.RuleViolated:
		status = http.StatusConflict
	}
	controlapi.Fail(w, status, e.Code, e.Message, e.Details)
}

// nullable tells an absent field from null.
type nullable[T any] struct {
	Set   bool
	Value *T
}

func (n *nullable[T]) UnmarshalJSON(b []byte) error {
	n.Set = true
	if string(b) == "null" {
		return nil
	}
	n.Value = new(T)
	return json.Unmarshal(b, n.Value)
}

func (c Config) patchPlace(w http.ResponseWriter, r *http.Request) {
	var b struct {
		EntryPhone   nullable[string]           `json:"entryPhone"`
		PhoneEnabled *bool                      `json:"phoneEnabled"`
		Closures     nullable[[]access.Closure] `json:"closures"`
		Holidays     nullable[[]access.Holiday] `json:"holidays"`
		Timezone     *string                    `json:"timezone"`
	}
	if !controlapi.Body(w, r, &b, "entryPhone", "phoneEnabled", "closures", "holidays", "timezone") {
		return
	}
	p := place.PlacePatch{PhoneEnabled: b.PhoneEnabled, Timezone: b.Timezone}
	if b.EntryPhone.Set {
		p.EntryPhone = orZero(b.EntryPhone.Value)
	}
	if b.Closures.Set {
		p.Closures = orZero(b.Closures.Value)
	}
	if b.Holidays.Set {
		p.Holidays = orZero(b.Holidays.Value)
	}
	got, err := c.Places.PatchPlace(chi.URLParam(r, "placeId"), p)
	if err != nil {
		fail(w, err)
		return
	}
	var phone *string
	if got.EntryPhone != "" {
		phone = &got.EntryPhone
	}
	controlapi.Data(w, map[string]any{"placeId": got.ID, "name": got.Name, "entryPhone": phone, "phoneEnabled": got.PhoneEnabled,
		"timezone": got.Timezone, "closures": orEmpty(got.Closures), "holidays": orEmpty(got.Holidays)})
}

func orZero[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	return v
}

func orEmpty[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func (c Config) patchDoor(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Entry               *bool `json:"entry"`
		EntryPermitMaxHours *int  `json:"entryPermitMaxHours"`
	}
	if !controlapi.Body(w, r, &b, "entry", "entryPermitMaxHours") {
		return
	}
	d, err := c.Places.PatchDoor(chi.URLParam(r, "doorId"), place.DoorPatch{Entry: b.Entry, EntryPermitMaxHours: b.EntryPermitMaxHours})
	if err != nil {
		fail(w, err)
		return
	}
	controlapi.Data(w, map[string]any{"doorId": d.ID, "name": d.Name, "placeId": d.PlaceID, "entry": d.Entry, "entryPermitMaxHours": d.PermitMaxHours})
}

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

func (c Config) call(w http.ResponseWriter, r *http.Request) {
	var b struct {
		To   *string `json:"to"`
		From *string `json:"from"`
	}
	if !controlapi.Body(w, r, &b, "to", "from") {
		return
	}
	if b.To == nil || b.From == nil {
		field := "to"
		if b.To != nil {
			field = "from"
		}
		fail(w, rule.Missing(field))
		return
	}
	res, err := c.Entry.Call(r.Context(), *b.To, *b.From)
	if err != nil {
		fail(w, err)
		return
	}
	controlapi.Data(w, map[string]any{"answered": res.Answered, "result": orNull(res.Result), "reason": orNull(res.Reason), "doorId": orNull(res.DoorID)})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c Config) crash(w http.ResponseWriter, r *http.Request) {
	if c.Crash == nil {
		controlapi.Fail(w, http.StatusConflict, rule.RuleViolated, "crash points are off; start with --crash-points", nil)
		return
	}
	var b struct {
		At string `json:"at"`
	}
	if !controlapi.Body(w, r, &b, "at") {
		return
	}
	if err := c.Crash(b.At); err != nil {
		controlapi.FailField(w, "at", err.Error())
		return
	}
	controlapi.Data(w, map[string]string{"at": b.At})
}
