// Package control is the server's part of the control API: it stands in for the
// operator's console (keys, places, doors, memberships, reservations), plays
// callers, moves the clock, shows the history, and kills the process at a step.
// The composition (internal/testbed) mounts it on a listener of its own; a
// production server runs without it. The rules stay in server/auth,
// server/place, server/grant and server/entry.
package control

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

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
	GateConfig(placeID string) (place.GateConfig, error)
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
