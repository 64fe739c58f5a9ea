package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/record"
)

// maxCustom is how many custom policies a door may have.
const maxCustom = 20

// A board gets all policies of its place in one message, and all closures and holidays. It must be able to take it, or it
// would never be synchronized again: bytes as JSON.
const (
	maxPolicies = 512 << 10
	maxDates    = 128 << 10
)

// encoded is the length of v in that message.
func encoded(v any) int {
	raw, _ := json.Marshal(v) // our own types always encode
	return len(raw)
}

var (
	refs  = []string{access.RefAlways, access.RefBusiness, access.RefAfter, access.RefCustom}
	modes = []string{access.ModeFree, access.ModeAuth, access.ModeClosed}
)

// Policies lists the window policies of a door of the place, newest first.
// Errors (*fail.Error): device_not_found; the store's.
func (s *Service) Policies(placeID, doorID string) ([]PolicyView, error) {
	if err := belongs(placeID)(s.cfg.Store.Door(doorID)); err != nil {
		return nil, err
	}
	p, err := s.cfg.Store.Place(placeID)
	if err != nil {
		return nil, err
	}
	ps, err := s.cfg.Store.Policies(placeID, doorID)
	if err != nil {
		return nil, err
	}
	out := views(ps, p.Hours(), doorID, s.cfg.Clock.Now())
	slices.Reverse(out)
	return out, nil
}

// views marks the policy that is in force at a door now, at most one.
func views(ws []access.Window, hours access.Hours, doorID string, now time.Time) []PolicyView {
	best := access.InForce(ws, hours, doorID, now)
	return each.Of(ws, func(w access.Window) PolicyView { return PolicyView{w, best != nil && best.ID == w.ID} })
}

// SetPolicy stores a window policy: one per ref, up to 20 custom ones. A repeat replaces; an equal one changes nothing,
// see CMD-8. Errors: device_not_found, missing_field, invalid_field, invalid_period, rule_violated (the 21st custom
// one, or too many in all); the store's.
func (s *Service) SetPolicy(by record.By, doorID string, r PolicyRequest) (PolicyView, error) {
	placeID := by.PlaceID
	if err := belongs(placeID)(s.cfg.Store.Door(doorID)); err != nil {
		return PolicyView{}, err
	}
	w, err := r.window()
	if err != nil {
		return PolicyView{}, err
	}
	w.DoorID = doorID
	var out PolicyView
	err = s.change(placeID, func(tx Tx) error {
		p, err := tx.Place(placeID)
		if err != nil {
			return err
		}
		stored, err := setWindow(tx, placeID, w)
		if err != nil {
			return err
		}
		ps, err := tx.Policies(placeID, doorID)
		for _, v := range views(ps, p.Hours(), doorID, tx.Now()) {
			if v.ID == stored.ID {
				out = v
			}
		}
		if err != nil {
			return err
		}
		return record.KeepChange(tx, record.Change{By: by, DoorID: doorID, Note: "policy " + stored.Ref + " " + stored.Mode}, tx.Now())
	})
	return out, err
}

// setWindow replaces the policy for the same window as w, or adds it.
func setWindow(tx Tx, placeID string, w access.Window) (access.Window, error) {
	have, err := tx.Policies(placeID, w.DoorID)
	if err != nil {
		return w, err
	}
	now := tx.Now()
	w.CreatedAt = now.UnixMilli()
	custom, drop := 0, []access.Window(nil)
	for _, x := range have {
		if x.Ref == access.RefCustom {
			custom++
		}
		if !repeats(w, x) {
			w.CreatedAt = max(w.CreatedAt, x.CreatedAt+1) // [ENT-2] the newest wins, on a frozen clock too
			continue
		}
		if x.Mode == w.Mode { // [CMD-8]
			return x, nil
		}
		w.ID, drop = x.ID, []access.Window{x}
	}
	if w.Ref == access.RefCustom && w.ID == "" && custom >= maxCustom {
		return w, fail.New(fail.RuleViolated, fmt.Sprintf("a door has at most %d custom policies", maxCustom))
	}
	if w.ID == "" {
		w.ID = id.New(id.Policy, now)
	}
	if err := fits(tx, placeID, w); err != nil {
		return w, err
	}
	return w, tx.SavePolicies("policy", placeID, []access.Window{w}, drop)
}

// fits checks that the place's policies with w among them still fit into a message to its boards. Error: rule_violated.
func fits(tx Tx, placeID string, w access.Window) error {
	all, err := tx.Policies(placeID, "")
	if err != nil {
		return err
	}
	size := encoded(w)
	for _, x := range all {
		if x.ID != w.ID {
			size += encoded(x)
		}
	}
	if size > maxPolicies {
		return fail.New(fail.RuleViolated, fmt.Sprintf("the policies of all doors of a place can have at most %d KiB; use fewer, or fewer intervals", maxPolicies>>10))
	}
	return nil
}

// repeats reports whether two policies concern the same window.
func repeats(a, b access.Window) bool {
	return a.Ref == b.Ref && a.StartsAt == b.StartsAt && a.EndsAt == b.EndsAt && maps.EqualFunc(a.Week, b.Week, slices.Equal)
}

// DeletePolicies deletes policies and returns their number. Errors: device_not_found, invalid_query (ref); the store's.
func (s *Service) DeletePolicies(by record.By, doorID string, q PolicyQuery) (deleted int, err error) {
	placeID := by.PlaceID
	if err := belongs(placeID)(s.cfg.Store.Door(doorID)); err != nil {
		return 0, err
	}
	if q.Ref != "" && !slices.Contains(refs, q.Ref) {
		return 0, fail.New(fail.InvalidQuery, "ref must be always, business_hours, after_hours or custom", "field", "ref")
	}
	err = s.change(placeID, func(tx Tx) error {
		have, err := tx.Policies(placeID, doorID)
		if err != nil {
			return err
		}
		drop := each.If(have, func(x access.Window) bool {
			return (q.Ref == "" || q.Ref == x.Ref) && (q.PolicyID == "" || q.PolicyID == x.ID)
		})
		if deleted = len(drop); deleted > 0 {
			if err := tx.SavePolicies("policy", placeID, nil, drop); err != nil {
				return err
			}
		}
		return record.KeepChange(tx, record.Change{By: by, DoorID: doorID, Note: deletedNote(deleted)}, tx.Now())
	})
	return deleted, err
}

// window checks the request. Errors: missing_field, invalid_field, invalid_period.
func (r PolicyRequest) window() (access.Window, error) {
	if r.Ref == nil {
		return access.Window{}, fail.Missing("window.ref")
	}
	if !slices.Contains(refs, *r.Ref) {
		return access.Window{}, fail.Invalid("window.ref", "must be always, business_hours, after_hours or custom")
	}
	if r.Mode == nil {
		return access.Window{}, fail.Missing("mode")
	}
	if !slices.Contains(modes, *r.Mode) {
		return access.Window{}, fail.Invalid("mode", "must be free, auth or closed")
	}
	w := access.Window{Ref: *r.Ref, Mode: *r.Mode}
	if w.Ref != access.RefCustom {
		return w, nil
	}
	return r.custom(w)
}

func (r PolicyRequest) custom(w access.Window) (access.Window, error) {
	const needs = "a custom window needs week, or startsAt and endsAt"
	switch {
	case r.Week == nil && r.StartsAt == nil && r.EndsAt == nil:
		return w, fail.New(fail.MissingField, needs, "field", "window.week")
	case r.StartsAt == nil && r.EndsAt != nil: // without a start, it would always be in force
		return w, fail.New(fail.MissingField, needs, "field", "window.startsAt")
	case r.StartsAt != nil && r.EndsAt == nil:
		return w, fail.New(fail.MissingField, needs, "field", "window.endsAt")
	}
	if r.Week != nil {
		week, err := r.Week.check("window.week")
		if err != nil {
			return w, err
		}
		if !anyHours(week) {
			return w, fail.Invalid("window.week", "must have an interval")
		}
		w.Week = week
	}
	w.StartsAt, w.EndsAt = millis(r.StartsAt), millis(r.EndsAt)
	if r.StartsAt != nil && r.EndsAt != nil && r.EndsAt.UnixMilli() <= r.StartsAt.UnixMilli() {
		return w, fail.New(fail.InvalidPeriod, "window.endsAt must be after window.startsAt", "field", "window.endsAt")
	}
	return w, nil
}

func anyHours(w access.Week) bool {
	for _, pairs := range w {
		if len(pairs) > 0 {
			return true
		}
	}
	return false
}

func millis(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	if ms := t.UnixMilli(); ms != 0 {
		return ms
	}
	return access.UnixZero
}

// belongs makes an error of a door that isn't the place's.
func belongs(placeID string) func(Door, error) error {
	return func(d Door, err error) error {
		if errors.Is(err, fail.ErrNotFound) || err == nil && d.PlaceID != placeID {
			return fail.New(fail.DeviceNotFound, "door not found")
		}
		return err
	}
}

func deletedNote(n int) string {
	if n == 1 {
		return "1 policy deleted"
	}
	return fmt.Sprintf("%d policies deleted", n)
}
