package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// patchPlace changes what the operator's console could. null unassigns the entry phone and empties closures and
// holidays.
func (c Config) patchPlace(w http.ResponseWriter, r *http.Request) {
	var b struct {
		EntryPhone   json.RawMessage `json:"entryPhone"`
		PhoneEnabled json.RawMessage `json:"phoneEnabled"`
		Closures     json.RawMessage `json:"closures"`
		Holidays     json.RawMessage `json:"holidays"`
		Timezone     json.RawMessage `json:"timezone"`
	}
	if !control.Body(w, r, &b) {
		return
	}
	var p place.PlacePatch
	err := errors.Join(
		patched("entryPhone", b.EntryPhone, "a string of 8 to 15 digits or null", true, &p.EntryPhone),
		patched("phoneEnabled", b.PhoneEnabled, "true or false", false, &p.PhoneEnabled),
		patched("closures", b.Closures, `a list like [{"from":"2026-12-24","to":"2026-12-25","name":"Refit"}]`, true, &p.Closures),
		patched("holidays", b.Holidays, `a list like [{"date":"2026-10-09","name":"Hangul Day"}]`, true, &p.Holidays),
		patched("timezone", b.Timezone, "a string", false, &p.Timezone))
	if err != nil {
		refuse(w, err)
		return
	}
	if p.EntryPhone != nil && *p.EntryPhone == "" && string(b.EntryPhone) != "null" {
		refuse(w, fail.New(fail.InvalidPhone, "entryPhone must be 8 to 15 digits, or null for none", "field", "entryPhone"))
		return
	}
	id := chi.URLParam(r, "placeId")
	got, err := c.Places.PatchPlace(id, p)
	answer(w, viewPlace(got), c.noPlace(id, err))
}

// showPlace shows an operator's settings of a place and its doors, in the form in which the two PATCHes and the public
// PATCH of hours accept them.
func (c Config) showPlace(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "placeId")
	p, doors, err := c.Places.Show(id)
	views := each.Of(doors, viewDoor)
	out := viewPlace(p)
	out["hours"], out["doors"] = map[string]any{"week": p.Week}, views
	answer(w, out, c.noPlace(id, err))
}

func viewPlace(p place.Place) map[string]any {
	return map[string]any{"placeId": p.ID, "name": p.Name, "entryPhone": control.OrNull(p.EntryPhone), "phoneEnabled": p.PhoneEnabled,
		"timezone": p.Timezone, "closures": orEmpty(p.Closures), "holidays": orEmpty(p.Holidays)}
}

func viewDoor(d place.Door) map[string]any {
	return map[string]any{"doorId": d.ID, "name": d.Name, "placeId": d.PlaceID, "entry": d.Entry, "entryPermitMaxHours": d.PermitMaxHours}
}

// patched decodes a field that is present into *out; null means the zero value where allowed. Error: invalid_field.
func patched[T any](field string, raw json.RawMessage, must string, null bool, out **T) error {
	if raw == nil {
		return nil
	}
	*out = new(T)
	if name, hint := control.Misnamed(field, raw, *out); name != "" {
		return fail.Invalid(name, "is not a known field"+hint)
	}
	err := json.Unmarshal(raw, *out)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(wrong.Value, "number ") {
		return fail.Invalid(field, control.Mistyped(wrong))
	}
	if string(raw) == "null" && !null || err != nil {
		return fail.Invalid(field, "must be "+must)
	}
	return nil
}

func orEmpty[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func (c Config) patchDoor(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Entry               json.RawMessage `json:"entry"`
		EntryPermitMaxHours json.RawMessage `json:"entryPermitMaxHours"`
	}
	if !control.Body(w, r, &b) {
		return
	}
	var p place.DoorPatch
	err := errors.Join(
		patched("entry", b.Entry, "true or false", false, &p.Entry),
		patched("entryPermitMaxHours", b.EntryPermitMaxHours, "a whole number", false, &p.EntryPermitMaxHours))
	if err != nil {
		refuse(w, err)
		return
	}
	id := chi.URLParam(r, "doorId")
	d, err := c.Places.PatchDoor(id, p)
	answer(w, viewDoor(d), c.noDoor(id, "", "here", err))
}
