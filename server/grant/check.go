package grant

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/plain"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// Limits on fields.
const (
	maxRef    = 128
	maxName   = 100
	maxReason = 200
	maxSource = 64
	maxDoors  = 200
	maxItems  = 5000
)

// text checks that a string has 1..limit characters (0.. if it may be empty), none of them invisible: people must see
// what is stored.
func text(field, s string, least, limit int) error {
	if plain.Deceptive(s) {
		return fail.Invalid(field, plain.Reason)
	}
	switch n := utf8.RuneCountInString(s); {
	case n < least:
		return fail.Invalid(field, "must not be empty")
	case n > limit:
		return fail.Invalid(field, fmt.Sprintf("must have at most %d characters", limit))
	}
	return nil
}

// required checks a string that must be present.
func required(field string, s *string, limit int) error {
	if s == nil {
		return fail.Missing(field)
	}
	return text(field, *s, 1, limit)
}

// optional checks a string that may be absent.
func optional(field string, s *string, least, limit int) error {
	if s == nil {
		return nil
	}
	return text(field, *s, least, limit)
}

// phone checks 8..15 digits and nothing else.
func phone(s *string) error {
	if s == nil {
		return fail.Missing("phone")
	}
	if !access.IsPhone(*s) {
		return notAPhone()
	}
	return nil
}

func notAPhone() error {
	return fail.New(fail.InvalidPhone, "phone must be 8 to 15 digits and nothing else", "field", "phone")
}

// period checks [starts, ends).
func period(starts, ends time.Time) error {
	if !ends.After(starts) {
		return fail.New(fail.InvalidPeriod, "endsAt must be after startsAt", "field", "endsAt")
	}
	return nil
}

// named checks doorIds against the place's doors and returns them sorted, without duplicates, see PERM-6. nil stays
// nil.
func named(ids []string, doors []place.Door) ([]string, error) {
	if ids == nil {
		return nil, nil
	}
	if len(ids) == 0 {
		return nil, fail.New(fail.EmptyDoorIDs, "doorIds must not be empty; leave it out for the default scope", "field", "doorIds")
	}
	out := slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(out) > maxDoors {
		return nil, fail.New(fail.InvalidDoorIDs, fmt.Sprintf("doorIds must name at most %d doors", maxDoors), "field", "doorIds", "invalid", []string{})
	}
	invalid := []string{}
	for _, d := range out {
		if !slices.ContainsFunc(doors, func(x place.Door) bool { return x.ID == d }) {
			invalid = append(invalid, d)
		}
	}
	if len(invalid) > 0 { // [PERM-6]
		return nil, fail.New(fail.InvalidDoorIDs, "doorIds must be doors of this place"+which(invalid[0], doors), "field", "doorIds", "invalid", invalid)
	}
	return out, nil
}

// which names a door that isn't the place's, because a row of an import has no details, and the nearest that is.
func which(id string, doors []place.Door) string {
	if len(id) > maxShown {
		return ""
	}
	return fmt.Sprintf("; %q is not one of them%s", id, near.Hint(id, each.Of(doors, func(d place.Door) string { return d.ID })))
}

// maxShown is the longest id that a message repeats.
const maxShown = 64

// scope is the set of doors that a grant opens: the named ones, else the stored ones, else the entry doors as of now.
// Errors: as named, rule_violated.
func scope(ids, stored []string, doors []place.Door) ([]string, error) {
	out, err := named(ids, doors)
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = stored // [PERM-6]
	}
	if len(out) == 0 {
		out = place.EntryDoors(doors) // [PERM-6]
	}
	if len(out) == 0 {
		return nil, fail.New(fail.RuleViolated, "the place has no entry door; name doors in doorIds")
	}
	return out, nil
}

// notTooLong limits a permit's length to the smallest maximum among its doors and the place's, see PERM-5. Exactly the
// maximum is allowed.
func notTooLong(p place.Place, doors []place.Door, ids []string, starts, ends time.Time) error {
	most, door := min(p.PermitMaxHours, place.MaxPermitHours), ""
	for _, d := range doors {
		if slices.Contains(ids, d.ID) && (d.PermitMaxHours < most || d.PermitMaxHours == most && door == "") {
			most, door = d.PermitMaxHours, d.ID
		}
	}
	span := ends.Sub(starts)
	if span <= time.Duration(most)*time.Hour { // [PERM-5]
		return nil
	}
	var named any // null when it is the place's own maximum
	if door != "" {
		named = door
	}
	return fail.New(fail.PermitPeriodTooLong, fmt.Sprintf("a permit for these doors lasts at most %d hours", most),
		"maxHours", most, "requestedHours", hours(starts, ends), "doorId", named)
}

// hours is the length of a period, to the thousandth of an hour.
func hours(starts, ends time.Time) float64 {
	ms := ends.UnixMilli() - starts.UnixMilli()
	const hour = int64(time.Hour / time.Millisecond)
	return float64((ms*1000+hour-1)/hour) / 1000 // rounded up: never shows the maximum itself
}
