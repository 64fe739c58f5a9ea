package place

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/plain"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/record"
)

// PatchPlace is the operator's change of a place. Errors (*fail.Error):
// place_not_found, invalid_field, invalid_phone, rule_violated (the number is
// another place's, or there are too many days); the store's.
func (s *Service) PatchPlace(placeID string, p PlacePatch) (Place, error) {
	if err := p.check(); err != nil {
		return Place{}, err
	}
	var out Place
	err := s.change(placeID, func(tx Tx) error {
		old, err := found(tx.Place(placeID))
		if err != nil {
			return err
		}
		out = p.apply(old)
		if changed := p.Closures != nil || p.Holidays != nil; changed && encoded(out.Closures)+encoded(out.Holidays) > maxDates {
			return fail.New(fail.RuleViolated, fmt.Sprintf("the closures and holidays of a place can have at most %d KiB", maxDates>>10))
		}
		if p.EntryPhone != nil && out.EntryPhone != "" {
			if taken, err := tx.PhoneTaken(out.EntryPhone, placeID); err != nil {
				return err
			} else if taken {
				return fail.New(fail.RuleViolated, "entryPhone belongs to another place", "field", "entryPhone")
			}
		}
		if err := tx.SavePlace("place", out, old); err != nil {
			return err
		}
		return audit(tx, record.By{PlaceID: placeID}, "place.changed", p.names())
	})
	return out, err
}

// names are the fields of a patch, without their values: a phone number is one of them.
func (p PlacePatch) names() string {
	return named([]string{"entryPhone", "phoneEnabled", "closures", "holidays", "timezone"},
		p.EntryPhone != nil, p.PhoneEnabled != nil, p.Closures != nil, p.Holidays != nil, p.Timezone != nil)
}

// named are the names whose fields are given.
func named(names []string, given ...bool) string {
	var out []string
	for i, name := range names {
		if given[i] {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

func (p PlacePatch) apply(to Place) Place {
	if p.EntryPhone != nil {
		to.EntryPhone = *p.EntryPhone
	}
	if p.PhoneEnabled != nil {
		to.PhoneEnabled = *p.PhoneEnabled
	}
	if p.Closures != nil {
		to.Closures = *p.Closures
	}
	if p.Holidays != nil {
		to.Holidays = *p.Holidays
	}
	if p.Timezone != nil {
		to.Timezone = *p.Timezone
	}
	return to
}

func (p PlacePatch) check() error {
	if n := p.EntryPhone; n != nil && *n != "" && (len(*n) < 8 || len(*n) > 15 || strings.Trim(*n, "0123456789") != "") {
		return fail.New(fail.InvalidPhone, "entryPhone must be 8 to 15 digits and nothing else", "field", "entryPhone")
	}
	if z := p.Timezone; z != nil {
		if !access.IsTimezone(*z) {
			return fail.Invalid("timezone", "must be the name of a time zone, such as Asia/Seoul")
		}
	}
	if p.Closures != nil {
		if err := checkClosures(*p.Closures); err != nil {
			return err
		}
	}
	if p.Holidays != nil {
		return checkHolidays(*p.Holidays)
	}
	return nil
}

const maxName = 100

func checkClosures(cs []access.Closure) error {
	for i, c := range cs {
		if !access.IsDate(c.From) || !access.IsDate(c.To) || c.To < c.From {
			return fail.Invalid(fmt.Sprintf("closures[%d]", i), "must have dates from and to (YYYY-MM-DD), in order")
		}
		if err := checkName(fmt.Sprintf("closures[%d].name", i), c.Name); err != nil {
			return err
		}
	}
	return nil
}

func checkHolidays(hs []access.Holiday) error {
	seen := map[string]bool{}
	for i, h := range hs {
		at := fmt.Sprintf("holidays[%d]", i)
		if !access.IsDate(h.Date) || seen[h.Date] {
			return fail.Invalid(at+".date", "must be a date (YYYY-MM-DD) and appear only once")
		}
		seen[h.Date] = true
		if err := access.CheckDay(h.Intervals); err != nil {
			return fail.Invalid(at+".intervals", "is wrong: "+err.Error())
		}
		if err := checkName(at+".name", h.Name); err != nil {
			return err
		}
	}
	return nil
}

// checkName checks a name that the schedule shows to everyone.
func checkName(field, name string) error {
	if plain.Deceptive(name) {
		return fail.Invalid(field, plain.Reason)
	}
	if utf8.RuneCountInString(name) > maxName {
		return fail.Invalid(field, fmt.Sprintf("must have at most %d characters", maxName))
	}
	return nil
}

// PatchDoor is the operator's change of a door. Errors: device_not_found,
// invalid_field; the store's.
func (s *Service) PatchDoor(doorID string, p DoorPatch) (Door, error) {
	if h := p.EntryPermitMaxHours; h != nil && (*h < 1 || *h > MaxPermitHours) {
		return Door{}, fail.Invalid("entryPermitMaxHours", fmt.Sprintf("must be 1 to %d", MaxPermitHours))
	}
	out, err := s.cfg.Store.Door(doorID)
	if errors.Is(err, fail.ErrNotFound) {
		return Door{}, fail.New(fail.DeviceNotFound, "door not found")
	}
	if err != nil {
		return Door{}, err
	}
	err = s.change(out.PlaceID, func(tx Tx) (err error) {
		if out, err = tx.Door(doorID); err != nil {
			return err
		}
		if p.Entry != nil {
			out.Entry = *p.Entry
		}
		if p.EntryPermitMaxHours != nil {
			out.PermitMaxHours = *p.EntryPermitMaxHours
		}
		if err := tx.SaveDoor(out); err != nil {
			return err
		}
		detail := named([]string{"entry", "entryPermitMaxHours"}, p.Entry != nil, p.EntryPermitMaxHours != nil)
		if detail != "" {
			detail = doorID + ": " + detail
		}
		return audit(tx, record.By{PlaceID: out.PlaceID}, "door.changed", detail)
	})
	return out, err
}
