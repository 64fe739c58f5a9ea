package place

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/record"
)

// check converts the week of a request. Errors: invalid_field, with details.field naming the day.
func (w Week) check(field string) (access.Week, error) {
	out := access.Week{}
	for day, pairs := range w {
		at := field + "." + day
		if !access.IsWeekday(day) {
			return nil, fail.Invalid(at, "is not a day (mon..sun)")
		}
		if pairs == nil {
			return nil, fail.Invalid(at, "must be an array of [start, end] pairs")
		}
		ours := make([][2]string, 0, len(pairs))
		for _, p := range pairs {
			if len(p) != 2 {
				return nil, fail.Invalid(at, "must be an array of [start, end] pairs")
			}
			ours = append(ours, [2]string{p[0], p[1]})
		}
		if err := access.CheckDay(ours); err != nil {
			return nil, fail.Invalid(at, "is wrong: "+err.Error())
		}
		out[day] = ours
	}
	return out, nil
}

// SetHours replaces the given days of the week. Whatever depends on opening hours follows at once, see HRS-1. A nil
// week counts as absent. Errors (*fail.Error): place_not_found, missing_field, invalid_field; the store's.
func (s *Service) SetHours(by record.By, week Week) (Place, error) {
	if week == nil {
		return Place{}, fail.Missing("hours.week")
	}
	days, err := week.check("hours.week")
	if err != nil {
		return Place{}, err
	}
	var out Place
	err = s.change(by.PlaceID, func(tx Tx) error {
		old, err := found(tx.Place(by.PlaceID))
		if err != nil {
			return err
		}
		out = old
		out.Week = access.Week{}
		maps.Copy(out.Week, old.Week)
		maps.Copy(out.Week, days) // [HRS-1]
		if err := tx.SavePlace("hours", out, old); err != nil {
			return err
		}
		return audit(tx, by, "hours.changed", strings.Join(slices.Sorted(maps.Keys(days)), ", "))
	})
	return out, err
}

// audit writes a change to the audit log, in the transaction that makes it; what names nothing has changed nothing.
func audit(tx Tx, by record.By, action, detail string) error {
	if detail == "" {
		return nil
	}
	return tx.InsertAudit(record.Audit{PlaceID: by.PlaceID, KeyID: by.KeyID, RequestID: by.RequestID, Action: action, Detail: detail})
}

// found turns a missing place into place_not_found.
func found(p Place, err error) (Place, error) {
	if errors.Is(err, fail.ErrNotFound) {
		return Place{}, fail.New(fail.PlaceNotFound, "place not found")
	}
	return p, err
}

// Limits of a schedule, in days.
const (
	defaultDays = 7
	maxDays     = 60
)

// Schedule is what the place's next days look like, beginning with today in its time zone, see HRS-2. days is 1..60, 0
// = 7. Errors: place_not_found, invalid_query; the store's.
func (s *Service) Schedule(placeID string, days int) (Schedule, error) {
	p, err := found(s.cfg.Store.Place(placeID))
	if err != nil {
		return Schedule{}, err
	}
	days = cmp.Or(days, defaultDays)
	if days < 1 || days > maxDays {
		return Schedule{}, fail.New(fail.InvalidQuery, fmt.Sprintf("days must be 1 to %d", maxDays), "field", "days")
	}
	h := p.Hours()
	return Schedule{PlaceID: p.ID, Timezone: p.Timezone, Days: h.Schedule(h.Today(s.cfg.Clock.Now()), days)}, nil // [HRS-2]
}

// Show is a place with its doors, as an operator set them up. Errors: place_not_found; the store's.
func (s *Service) Show(placeID string) (Place, []Door, error) {
	p, err := found(s.cfg.Store.Place(placeID))
	if err != nil {
		return p, nil, err
	}
	doors, err := s.cfg.Store.Doors(placeID)
	return p, doors, err
}

// GateConfig is the access configuration of a place. Errors: place_not_found;
// the store's.
func (s *Service) GateConfig(placeID string) (GateConfig, error) {
	p, err := found(s.cfg.Store.Place(placeID))
	return GateConfig{PhoneEnabled: p.PhoneEnabled, EntryPermitMaxHours: p.PermitMaxHours, EntryPhone: p.EntryPhone}, err
}
