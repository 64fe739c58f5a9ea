package planted

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// entryStore decorates what decisions about people are based on.
type entryStore struct {
	entry.Store
	name string
	clk  clock.Clock
	last *atomic.Pointer[string] // the phone that was asked about before

	doors    *sync.Map // of places, as they were first read
	together together
}

func (s entryStore) Place(id string) (place.Place, error) {
	p, err := s.Store.Place(id)
	switch s.name {
	case "number-stays-with-its-place":
		if number, known := s.doors.Load("number of " + id); known {
			p.EntryPhone = number.(string)
		}
	case "phone-off-answers":
		p.PhoneEnabled = true
	case "phone-off-rings-where-free":
		p = s.freely(p)
	}
	return placeBug(s.name, p), err
}

// placeBug is a place with a bug of its hours.
func placeBug(name string, p place.Place) place.Place {
	switch name {
	case "closures-ignored":
		p.Closures = nil
	case "closures-end-a-day-early":
		p.Closures = edited(p.Closures, func(c *access.Closure) {
			if c.To > c.From {
				day, _ := time.Parse(time.DateOnly, c.To)
				c.To = day.AddDate(0, 0, -1).Format(time.DateOnly)
			}
		})
	case "holidays-ignored":
		p.Holidays = nil
	case "holiday-hours-ignored":
		p.Holidays = edited(p.Holidays, func(h *access.Holiday) { h.Intervals = nil })
	case "summer-time-ignored":
		if zone, err := time.LoadLocation(p.Timezone); err == nil {
			_, sec := time.Date(2026, 1, 15, 0, 0, 0, 0, zone).Zone()
			if h := -sec / 3600; h >= 0 { // POSIX counts the other way round
				p.Timezone = "Etc/GMT+" + strconv.Itoa(h)
			} else {
				p.Timezone = "Etc/GMT" + strconv.Itoa(h)
			}
		}
	}
	return p
}

func (s entryStore) PlaceByPhone(number string) (place.Place, error) {
	p, err := s.Store.PlaceByPhone(number)
	if s.name == "number-stays-with-its-place" {
		return s.numbered(number, p, err)
	}
	return p, err
}

func (s entryStore) Policies(placeID, doorID string) ([]access.Window, error) {
	ps, err := s.Store.Policies(placeID, doorID)
	drop := func(mode, ref string) {
		ps = slices.DeleteFunc(slices.Clone(ps), func(p access.Window) bool { return p.Mode == mode || p.Ref == ref })
	}
	switch s.name {
	case "free-window-ignored":
		drop(access.ModeFree, "")
	case "closed-window-ignored":
		drop(access.ModeClosed, "")
	case "custom-window-ignored":
		drop("", access.RefCustom)
	case "week-ignored-beside-a-period":
		ps = edited(ps, func(p *access.Window) {
			if p.StartsAt != 0 {
				p.Week = nil
			}
		})
	case "after-hours-ignored":
		drop("", access.RefAfter)
	case "newer-always-beats-hours":
		ps = narrowed(ps)
	case "oldest-window-wins":
		ps = edited(ps, func(p *access.Window) { p.CreatedAt = -p.CreatedAt })
	}
	return ps, err
}

func (s entryStore) GrantByLink(hash string) (grant.Grant, error) {
	g, err := s.Store.GrantByLink(hash)
	switch s.name {
	case "revoked-link-opens":
		g.RevokedAt = time.Time{}
	case "link-works-after-a-minute":
		if s.clk.Now().Sub(g.CreatedAt) < time.Minute {
			return grant.Grant{}, fail.ErrNotFound
		}
	case "link-page-a-millisecond-late": // only the page looks at it
		g.EndsAt = g.EndsAt.Add(time.Millisecond)
	}
	return g, err
}

func (s entryStore) GrantsOf(placeID, phone string) ([]grant.Grant, error) {
	if s.name == "stranger-is-the-caller-before" {
		if before := s.last.Swap(&phone); before != nil {
			if gs, err := s.Store.GrantsOf(placeID, phone); len(gs) > 0 || err != nil {
				return gs, err
			}
			phone = *before
		}
	}
	gs, err := s.Store.GrantsOf(placeID, phone)
	now := s.clk.Now()
	drop := func(f func(grant.Grant) bool) { gs = slices.DeleteFunc(slices.Clone(gs), f) }
	is := func(kind, state string) func(grant.Grant) bool { // "" = any
		return func(g grant.Grant) bool {
			return (kind == "" || g.Kind == kind) && (state == "" || g.State(now) == state)
		}
	}
	beside := func(one, other func(grant.Grant) bool) { // drops the others of a person who has such a one
		if slices.ContainsFunc(gs, one) {
			drop(other)
		}
	}
	switch s.name {
	case "revoked-link-opens":
		gs = edited(gs, func(g *grant.Grant) { g.RevokedAt = time.Time{} })
	case "phone-works-after-a-minute":
		drop(func(g grant.Grant) bool { return now.Sub(g.CreatedAt) < time.Minute })
	case "revoked-permit-beats-membership":
		beside(func(g grant.Grant) bool { return !g.RevokedAt.IsZero() }, is(access.KindMembership, ""))
	case "reservation-never-opens":
		drop(is(access.KindReservation, ""))
	case "membership-never-opens":
		drop(is(access.KindMembership, ""))
	case "membership-credited-before-reservation":
		beside(is(access.KindMembership, grant.Active), is(access.KindReservation, ""))
	case "ended-membership-blocks-reservation":
		beside(is(access.KindMembership, grant.Expired), is(access.KindReservation, ""))
	case "membership-credited-before-permit":
		beside(is(access.KindMembership, grant.Active), is(access.KindPermit, ""))
	case "revoked-said-before-expired":
		beside(is("", grant.Revoked), is("", grant.Expired))
	case "expired-said-before-not-started":
		beside(is("", grant.Expired), is("", grant.Pending))
	case "period-end-included":
		gs = edited(gs, func(g *grant.Grant) {
			if !g.EndsAt.IsZero() {
				g.EndsAt = g.EndsAt.Add(time.Millisecond)
			}
		})
	case "period-start-excluded":
		gs = edited(gs, func(g *grant.Grant) { g.StartsAt = g.StartsAt.Add(time.Millisecond) })
	case "every-door-in-scope":
		ds, _ := s.Store.Doors(placeID)
		gs = edited(gs, func(g *grant.Grant) { g.Doors = each.Of(ds, doorID) })
	case "latest-end-credited":
		gs = edited(gs, func(g *grant.Grant) {
			if is(access.KindPermit, grant.Active)(*g) {
				g.EndsAt = now.Add(10000*time.Hour - g.EndsAt.Sub(now))
			}
		})
	}
	return gs, err
}

// edited is a copy of a list, each element as do leaves it.
func edited[T any](list []T, do func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		do(&list[i])
	}
	return list
}

func doorID(d place.Door) string { return d.ID }

func (s entryStore) Doors(placeID string) ([]place.Door, error) {
	ds, err := s.Store.Doors(placeID)
	switch s.name {
	case "calls-open-any-door":
		ds = edited(ds, func(d *place.Door) { d.Entry = true })
	case "calls-open-the-last-door":
		ds = slices.Clone(ds)
		slices.Reverse(ds)
	case "calls-go-by-the-first-doors":
		if first, known := s.doors.LoadOrStore(placeID, ds); known {
			ds = first.([]place.Door)
		}
	}
	return ds, err
}

func (s entryStore) KeepRecords(fn func(tx record.Tx, now time.Time) error) error {
	return s.Store.KeepRecords(func(tx record.Tx, now time.Time) error {
		return fn(countedTx{recordTx{tx, s.name}, s.together, now}, now)
	})
}

func (s entryStore) AddAudit(a record.Audit) error {
	switch s.name {
	case "reads-not-audited":
		return nil
	case "audit-by-nobody":
		a.KeyID = ""
	case "audit-without-count":
		a.Count = 0
	}
	return s.Store.AddAudit(a)
}

// recordTx decorates the keeping of records.
type recordTx struct {
	record.Tx
	name string
}

var again atomic.Int64

func (t recordTx) InsertRecord(r record.Record) (bool, error) {
	switch t.name {
	case "denials-not-recorded":
		if r.Result == vocab.Denied {
			return true, nil
		}
	case "denials-recorded-twice":
		if r.Result == vocab.Denied {
			twin := r
			twin.ID, twin.Dedupe = r.ID+"x", ""
			if _, err := t.Tx.InsertRecord(twin); err != nil {
				return false, err
			}
		}
	case "record-names-the-next-holder":
		if c, err := t.Tx.Credited(r.GrantID, r.PlaceID); r.Source == record.FromBoard && err == nil && c.Phone != "" {
			r.Actor, r.ActorLabel = access.MaskPhone(c.Phone)
		}
	case "policies-not-recorded":
		if r.Result == vocab.Changed {
			return false, nil
		}
	case "record-dedupe-gone":
		r.Dedupe += strconv.FormatInt(again.Add(1), 10)
	case "buffered-records-dated-now":
		r.OccurredAt, r.RequestedAt = r.RecordedAt, r.RecordedAt
	case "board-record-of-nobody":
		r.Actor, r.ActorLabel = "guest:*----", "----"
	}
	return t.Tx.InsertRecord(r)
}

func (t recordTx) CountUse(permitID string, at time.Time) error {
	switch t.name {
	case "onsite-use-not-counted":
		return nil
	case "onsite-use-counted-twice":
		if err := t.Tx.CountUse(permitID, at); err != nil {
			return err
		}
	}
	return t.Tx.CountUse(permitID, at)
}

func (t recordTx) InsertEvent(e record.Event) error {
	if t.name == "denied-events-missing" && e.Kind == record.EntryDenied {
		return nil
	}
	return t.Tx.InsertEvent(e)
}

// recordStore decorates where boards' records go.
type recordStore struct {
	record.Store
	name string
}

func (s recordStore) KeepRecords(fn func(tx record.Tx, now time.Time) error) error {
	err := s.Store.KeepRecords(func(tx record.Tx, now time.Time) error { return fn(recordTx{tx, s.name}, now) })
	if s.name == "unstored-records-acknowledged" {
		return nil
	}
	return err
}

// uploads loses boards' records.
type uploads struct{ gateway.Records }

func (u uploads) Upload(b board.State, list []wire.Record) (record.Uploaded, error) {
	if len(list) > 1 {
		list = list[1:]
	}
	return u.Records.Upload(b, list)
}

// doorman decorates links at the edge.
type doorman struct {
	api.Entry
	name string
}

func (d doorman) Link(token string) (entry.LinkView, error) {
	v, err := d.Entry.Link(token)
	if d.name == "page-opens-the-door" && err == nil && len(v.Doors) > 0 {
		_, _ = d.Entry.Open(context.Background(), token, v.Doors[0].ID)
	}
	if d.name == "link-page-tells-the-start-in-utc" {
		v.StartsAt = v.StartsAt.UTC()
	}
	if d.name == "link-page-shows-no-door" {
		v.Doors = nil
	}
	return v, err
}
