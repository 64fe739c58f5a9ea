// Package stamp is the API's timestamp format; for server/api and its generated
// types only.
package stamp

import (
	"encoding/json"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

// Time is written as RFC 3339 in UTC with exactly three decimals, and read from any RFC 3339 time with a zone; zero is
// null.
type Time time.Time

// IsZero reports whether there is no time; a field with omitzero is then absent.
func (t Time) IsZero() bool { return time.Time(t).IsZero() }

// JSON is the layout of a time that isn't zero, quotes included.
const JSON = `"2006-01-02T15:04:05.000Z"`

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return time.Time(t).UTC().AppendFormat(nil, JSON), nil
}

// UnmarshalJSON implements json.Unmarshaler. Errors: invalid_timestamp.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return err
	}
	at, err := fail.ParseTime("time", *s)
	*t = Time(at)
	return err
}

// Ptr is nil for no time.
func (t Time) Ptr() *time.Time {
	if t.IsZero() {
		return nil
	}
	at := time.Time(t)
	return &at
}
