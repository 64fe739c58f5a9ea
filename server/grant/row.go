package grant

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

// fields are one row of an import: an object whose fields are read one by one, so that each mistake fails its row with
// its own code.
type fields struct {
	raw map[string]json.RawMessage
	ref *string // externalRef; nil = none
}

// parseRow reads a row. Errors: invalid_field.
func parseRow(raw json.RawMessage) (fields, error) {
	var f fields
	if err := json.Unmarshal(raw, &f.raw); err != nil || f.raw == nil {
		return fields{}, fail.New(fail.InvalidField, "the row must be an object")
	}
	ref, err := f.text("externalRef")
	if err != nil {
		return fields{}, err
	}
	if err := optional("externalRef", ref, 1, maxRef); err != nil {
		return fields{}, err
	}
	f.ref = ref
	return f, nil
}

// contradictions are the customer rows that take a reference away from a phone which earlier rows of the same file give it
// and also name alone. They would move the customer whom the row without a reference means, and the same file again would
// create that customer again, see IMP-1.
func contradictions(items []json.RawMessage) map[int]bool {
	out := map[int]bool{}
	alone := map[string]bool{}  // phones without a reference
	of := map[string][]string{} // references' phones
	for i, raw := range items {
		row, err := parseRow(raw)
		if err != nil {
			continue
		}
		number, _, err := row.person()
		if err != nil {
			continue
		}
		if row.ref == nil {
			alone[number] = true
			continue
		}
		out[i] = slices.ContainsFunc(of[*row.ref], func(p string) bool { return p != number && alone[p] })
		of[*row.ref] = append(of[*row.ref], number)
	}
	return out
}

// text reads a string; absent and null are nil.
func (f fields) text(name string) (*string, error) {
	var s *string
	if raw, ok := f.raw[name]; ok && json.Unmarshal(raw, &s) != nil {
		return nil, fail.Invalid(name, "must be a string")
	}
	return s, nil
}

// time reads a time; absent and null are nil.
func (f fields) time(name string) (*time.Time, error) {
	var s *string
	if raw, ok := f.raw[name]; ok && json.Unmarshal(raw, &s) != nil {
		return nil, fail.New(fail.InvalidTimestamp, name+" must be an RFC 3339 time with a zone, such as 2026-12-01T09:00:00Z", "field", name)
	}
	if s == nil {
		return nil, nil
	}
	t, err := fail.ParseTime(name, *s)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// doors reads doorIds; absent and null are nil.
func (f fields) doors() ([]string, error) {
	var ids []string
	raw, ok := f.raw["doorIds"]
	if !ok {
		return nil, nil
	}
	var items []*string // a null among them isn't a string
	err := json.Unmarshal(raw, &items)
	for _, d := range items {
		if d == nil {
			err = fail.ErrNotFound
			break
		}
		ids = append(ids, *d)
	}
	if err != nil {
		return nil, fail.New(fail.InvalidDoorIDs, "doorIds must be an array of strings", "field", "doorIds", "invalid", []string{})
	}
	if items != nil && ids == nil {
		return []string{}, nil
	}
	return ids, nil
}

// person reads and checks phone and name.
func (f fields) person() (number, name string, err error) {
	p, err := f.text("phone")
	if err != nil {
		return "", "", fail.New(fail.InvalidPhone, "phone must be a string of digits, in quotes", "field", "phone") // a number has lost its zero
	}
	if err := phone(p); err != nil {
		return "", "", err
	}
	n, err := f.text("name")
	if err != nil {
		return "", "", err
	}
	return *p, value(n), optional("name", n, 0, maxName)
}

// term reads and checks a membership.
func (f fields) term() (TermRequest, error) {
	number, name, err := f.person()
	if err != nil {
		return TermRequest{}, err
	}
	r := TermRequest{ExternalRef: f.ref, Phone: &number, Name: &name}
	if r.StartsAt, err = f.time("startsAt"); err != nil {
		return r, err
	}
	if r.EndsAt, err = f.time("endsAt"); err != nil {
		return r, err
	}
	if r.DoorIDs, err = f.doors(); err != nil {
		return r, err
	}
	return r, r.check()
}
