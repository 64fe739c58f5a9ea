package planted

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// placeStore decorates what hours and windows are kept in.
type placeStore struct {
	place.Store
	name string
}

func (s placeStore) Place(id string) (place.Place, error) {
	p, err := s.Store.Place(id)
	return placeBug(s.name, p), err
}

func (s placeStore) ChangePlace(fn func(tx place.Tx) error) error {
	return s.Store.ChangePlace(func(tx place.Tx) error { return fn(placeTx{tx, s.name}) })
}

type placeTx struct {
	place.Tx
	name string
}

func (t placeTx) InsertRecord(r record.Record) (bool, error) {
	return recordTx{t.Tx, t.name}.InsertRecord(r)
}

func (t placeTx) SavePlace(op string, p, old place.Place) error {
	switch t.name {
	case "hours-not-kept":
		p.Week = old.Week
	case "sunday-not-kept":
		if p.Week != nil {
			w := access.Week{}
			maps.Copy(w, p.Week)
			w["sun"] = old.Week["sun"]
			p.Week = w
		}
	}
	return t.Tx.SavePlace(op, p, old)
}

func (t placeTx) SavePolicies(op, placeID string, put, drop []access.Window) error {
	switch t.name {
	case "windows-never-removed":
		drop = nil
	case "closed-window-kept-as-auth":
		put = edited(put, func(p *access.Window) {
			if p.Mode == access.ModeClosed {
				p.Mode = access.ModeAuth
			}
		})
	case "windows-of-one-start-are-one":
		have, _ := t.Policies(placeID, "")
		drop = slices.Concat(drop, each.If(have, func(p access.Window) bool {
			return len(put) > 0 && p.DoorID == put[0].DoorID && p.Ref == access.RefCustom && p.StartsAt == put[0].StartsAt && p.StartsAt != 0
		}))
	case "window-of-a-door-on-the-next":
		all, _ := t.Policies(placeID, "")
		drop = slices.Concat(drop, each.If(all, func(p access.Window) bool { return len(put) > 0 && p.DoorID != put[0].DoorID }))
	}
	return t.Tx.SavePolicies(op, placeID, put, drop)
}

// content decorates what boards are sent.
type content struct {
	boardsync.Content
	name string
}

func (c content) SyncContent(placeID string, from int64) (wire.Sync, error) {
	y, err := c.Content.SyncContent(placeID, from)
	y.Upsert = slices.Clone(y.Upsert)
	drop := func(f func(access.Grant) bool) { y.Upsert = slices.DeleteFunc(y.Upsert, f) }
	switch c.name {
	case "registrations-lost":
		if !y.Snapshot {
			drop(func(g access.Grant) bool { return !g.Revoked })
		}
	case "memberships-not-synchronized":
		drop(func(g access.Grant) bool { return g.Kind == access.KindMembership })
	case "reservations-not-synchronized":
		drop(func(g access.Grant) bool { return g.Kind == access.KindReservation })
	case "links-not-synchronized":
		y.Upsert = edited(y.Upsert, func(g *access.Grant) { g.TokenHash = "" })
	case "new-link-not-synchronized":
		for i, g := range y.Upsert {
			if first, known := tokens.LoadOrStore(g.ID, g.TokenHash); known && g.TokenHash != "" {
				y.Upsert[i].TokenHash = first.(string)
			}
		}
	case "scope-not-synchronized":
		if y.Doors != nil {
			all.Store(placeID, slices.Sorted(slices.Values(each.Of(*y.Doors, func(d wire.DoorConfig) string { return d.DoorID }))))
		}
		if ds, ok := all.Load(placeID); ok {
			y.Upsert = edited(y.Upsert, func(g *access.Grant) { g.Doors = ds.([]string) })
		}
	case "end-synchronized-an-hour-late":
		y.Upsert = edited(y.Upsert, func(g *access.Grant) {
			if g.EndsAt > 0 {
				g.EndsAt += 3_600_000
			}
		})
	case "windows-not-synchronized":
		if !y.Snapshot {
			y.Windows = nil
		}
	case "hours-not-synchronized":
		if !y.Snapshot {
			y.Hours = nil
		}
	case "closures-not-synchronized":
		if y.Hours != nil {
			h := *y.Hours
			h.Closures, h.Holidays = nil, nil
			y.Hours = &h
		}
	}
	return y, err
}

var (
	all    sync.Map // place -> all its doors
	tokens sync.Map // permit -> the hash of its first link
)

// loses reports whether the bug withholds something from boards: then digests must not repair it.
func loses(name string) bool {
	return name == "registrations-lost" || strings.HasSuffix(name, "-not-synchronized") || name == "end-synchronized-an-hour-late"
}

// reports loses every third report while more than 64 arrive within a second.
type reports struct {
	gateway.Reports
	mu   sync.Mutex
	came []time.Duration
}

func (r *reports) Report(boardID string, rep wire.Report, ack func(bool)) bool {
	r.mu.Lock()
	now := clock.Mono()
	r.came = append(slices.DeleteFunc(r.came, func(t time.Duration) bool { return now-t > time.Second }), now)
	n := len(r.came)
	r.mu.Unlock()
	if n > 64 && n%3 == 0 {
		return false
	}
	return r.Reports.Report(boardID, rep, ack)
}

// misnumbered makes the standing of a report that was overtaken look like the newer one.
type misnumbered struct {
	gateway.Reports
	last sync.Map // board and channel -> the greatest number seen
}

func (o *misnumbered) Report(boardID string, rep wire.Report, ack func(bool)) bool {
	if s := rep.Standing; s != nil {
		door := [2]string{boardID, strconv.Itoa(s.Channel)}
		if last, ok := o.last.Load(door); ok && last.(int64) > s.Seq {
			s.Seq = last.(int64) + 1
		}
		o.last.Store(door, s.Seq)
	}
	return o.Reports.Report(boardID, rep, ack)
}
