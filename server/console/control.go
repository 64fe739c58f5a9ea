// Package console is the server's part of the control API. It stands in for the operator's console (keys, places,
// doors, memberships, reservations), plays callers, moves the clock, shows the history, plays a bad disk, and kills the
// process at a given step. The composition (testbed) mounts it on a listener of its own; a production server runs without it. The
// rules stay in server/auth, server/place, server/grant and server/entry.
package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/disk"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/sip"
)

// Entry plays phone calls: server/entry.
type Entry interface {
	Call(ctx context.Context, to, from string) (entry.CallResult, error)
}

// Config of the routes.
type Config struct {
	Clock  clock.Clock
	Keys   *auth.Service
	Places *place.Service
	Grants *grant.Service
	Entry  Entry
	// Audits lists the audit log of a place ("" = all), newest first: the store.
	Audits func(placeID string, limit, offset int) (list []record.Audit, total int, err error)
	// Ready lists the places as the ready line does.
	Ready func() ([]any, error)
	// Rotate gives a board a new password and cuts its old connection.
	Rotate func(boardID string) (password string, err error)
	// Moved is called after a jump of virtual time; nil = not called.
	Moved func(now time.Time)
	// WriteHistory writes events from a sequence number on as NDJSON.
	WriteHistory func(w io.Writer, since int64) error
	// Record starts or stops a recording of the history.
	Record func(on bool) (history.Position, error)
	// Crash arms a crash point; nil = the process was not started with --crash-points.
	Crash func(step string) error
	// Disk is how the storage's disk behaves.
	Disk *disk.Disk
	// SIP takes calls; nil = phone entry over SIP is off.
	SIP *sip.Server
	// Explain answers why a person got in or didn't.
	Explain Explain
	// Inbox shows the latest requests of each place.
	Inbox Inbox
}

// Routes mounts the server's control routes; r is at /lab/v1.
func (c Config) Routes(r chi.Router) {
	control.ClockRoutes(r, c.Clock, c.Moved)
	r.Get("/places", func(w http.ResponseWriter, _ *http.Request) {
		list, err := c.Ready()
		if err != nil {
			refuse(w, err)
			return
		}
		control.List(w, list, len(list))
	})
	r.Get("/places/{placeId}", c.showPlace)
	r.Patch("/places/{placeId}", c.patchPlace)
	r.Patch("/doors/{doorId}", c.patchDoor)
	c.KeyRoutes(r)
	r.Post("/memberships", c.term(grant.Membership, "membershipId"))
	r.Post("/reservations", c.term(grant.Reservation, "reservationId"))
	r.Delete("/memberships/{id}", c.endTerm(grant.Membership))
	r.Delete("/reservations/{id}", c.endTerm(grant.Reservation))
	r.Post("/people/call", c.call)
	r.Get("/sip", c.showSIP)
	r.Get("/audit", c.audit)
	r.Get("/grants", c.grants)
	r.Get("/why", c.why)
	r.Get("/exposure", c.exposure)
	r.Get("/inbox", c.inboxList)
	r.Delete("/inbox", c.inboxClear)
	r.Get("/inbox/{seq}", c.inboxEntry)
	r.Get("/go-live", c.goLive)
	control.HistoryRoute(r, c.WriteHistory, c.Record)
	r.Post("/crash", c.crash)
	r.Get("/disk", c.showDisk)
	r.Post("/disk", c.setDisk)
	r.Delete("/disk", c.repairDisk)
}

// KeyRoutes mounts the routes that need only Keys and Rotate.
func (c Config) KeyRoutes(r chi.Router) {
	r.Get("/keys", c.listKeys)
	r.Post("/keys", c.createKey)
	r.Delete("/keys/{keyId}", c.revokeKey)
	r.Post("/boards/{id}/rotate", c.rotate)
}

// refuse writes the failure, using the public API's status table. An error that isn't a *fail.Error is the storage's.
func refuse(w http.ResponseWriter, err error) {
	var e *fail.Error
	if !errors.As(err, &e) {
		e = fail.New(fail.StorageUnavailable, "the database can't do this now: "+err.Error())
	}
	control.Fail(w, e.Status(), e.Code, e.Message, e.Details)
}

// answer writes data, or refuses because of err.
func answer(w http.ResponseWriter, data any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	control.Data(w, data)
}
